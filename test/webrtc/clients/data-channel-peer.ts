/**
 * A peer of a call by plain JSON that may use relays only, with the ICE servers of its welcome. It calls the peer that is in the room before it; who is
 * called sends back what it hears.
 */
import nodeDataChannel, { type DataChannel } from "node-datachannel";
import { type RTCDataChannel, RTCPeerConnection, type RTCSessionDescription } from "werift";
import type { IceServer } from "../../../contract/services/webrtc.ts";

export type PeerReport =
  | { readonly step: "joined" }
  | {
      readonly step: "heard";
      readonly text: string;
      /** Types of the candidates in use. */
      readonly local: string;
      readonly remote: string;
    };

interface Description {
  readonly type: string;
  readonly sdp: string;
}

interface Candidate {
  readonly candidate: string;
  readonly sdpMid?: string | null | undefined;
}

/** What the library tells. */
interface Listener {
  described(description: Description): void;
  found(candidate: Candidate): void;
  opened(send: (text: string) => void): void;
  heard(text: string, send: (text: string) => void): void;
}

interface Peer {
  call(): void | Promise<void>;
  /** Answers it where it is an offer. */
  take(description: Description): void | Promise<void>;
  add(candidate: Candidate): void | Promise<void>;
  /** Of the candidates in use. */
  types(): { readonly local: string; readonly remote: string };
}

const [library, url = "", room = "", ...texts] = process.argv.slice(2);
const typeOf = (candidate: string) => / typ (\w+)/.exec(candidate)?.[1] ?? "";

function weriftPeer(iceServers: readonly IceServer[], listener: Listener): Peer {
  /** Relays of the other side. */
  const relays = new Set<number>();
  const connection = new RTCPeerConnection({
    iceServers: iceServers.map((server) => ({ ...server, urls: [...server.urls] })),
    iceTransportPolicy: "relay",
    // libdatachannel checks from its own address too, whatever its policy says.
    iceFilterStunResponse: (_message, [, port]) => relays.has(port),
  });
  connection.onIceCandidate.subscribe((candidate) => candidate && listener.found(candidate.toJSON()));
  connection.onDataChannel.subscribe(listen);
  function listen(channel: RTCDataChannel): void {
    const send = (text: string) => channel.send(text);
    channel.onMessage.subscribe((text) => listener.heard(text.toString(), send));
    channel.stateChanged.subscribe((state) => state === "open" && listener.opened(send));
  }
  async function describe(description: RTCSessionDescription): Promise<void> {
    await connection.setLocalDescription(description);
    listener.described(description);
  }
  return {
    async call() {
      listen(connection.createDataChannel("test"));
      await describe(await connection.createOffer());
    },
    async take({ type, sdp }) {
      await connection.setRemoteDescription({ type: type as "offer" | "answer", sdp });
      if (type === "offer") await describe(await connection.createAnswer());
    },
    async add({ candidate, sdpMid }) {
      relays.add(Number(candidate.split(" ")[5]));
      await connection.addIceCandidate({ candidate, sdpMid: sdpMid ?? "0" });
    },
    types() {
      const pair = connection.iceTransports[0]?.getSelectedCandidatePair();
      return { local: typeOf(pair?.local.candidate ?? ""), remote: typeOf(pair?.remote.candidate ?? "") };
    },
  };
}

function nodeDataChannelPeer(iceServers: readonly IceServer[], listener: Listener): Peer {
  const relays = iceServers.flatMap(({ urls, username = "", credential = "" }) =>
    urls.flatMap((one) => {
      const [, hostname, port] = /^turn:(.+):(\d+)\?transport=udp$/.exec(one) ?? [];
      return hostname === undefined
        ? []
        : [{ hostname, port: Number(port), username, password: credential, relayType: "TurnUdp" as const }];
    }),
  );
  const connection = new nodeDataChannel.PeerConnection("peer", { iceServers: relays, iceTransportPolicy: "relay" });
  connection.onLocalDescription((sdp, type) => listener.described({ type, sdp }));
  connection.onLocalCandidate((candidate, sdpMid) => listener.found({ candidate, sdpMid }));
  connection.onDataChannel(listen);
  function listen(channel: DataChannel): void {
    const send = (text: string) => void channel.sendMessage(text);
    channel.onMessage((text) => listener.heard(text.toString(), send));
    channel.onOpen(() => listener.opened(send));
  }
  return {
    call: () => listen(connection.createDataChannel("test")),
    take: ({ type, sdp }) => connection.setRemoteDescription(sdp, type as "offer" | "answer"),
    add: ({ candidate, sdpMid }) => connection.addRemoteCandidate(candidate, sdpMid ?? "0"),
    types() {
      const pair = connection.getSelectedCandidatePair();
      return { local: pair?.local.type ?? "", remote: pair?.remote.type ?? "" };
    },
  };
}

const report = (line: PeerReport) => console.log(JSON.stringify(line));
const socket = new WebSocket(url);
const send = (message: object) => socket.send(JSON.stringify(message));
const described = Promise.withResolvers<void>();
let calls = false;
let other = "";
let peer: Peer | undefined;

const listener: Listener = {
  described(description) {
    send({ type: description.type, to: other, sdp: description });
    described.resolve();
  },
  // Behind the description, which the other side needs first.
  found: (candidate) => void described.promise.then(() => send({ type: "candidate", to: other, candidate })),
  opened(sendText) {
    if (calls) for (const text of texts) sendText(text);
  },
  heard(text, sendText) {
    if (peer) report({ step: "heard", text, ...peer.types() });
    if (!calls) sendText(text);
  },
};

/** Of the service; each type has some of them. */
interface Message {
  readonly type: string;
  readonly iceServers: readonly IceServer[];
  readonly peers: readonly { readonly id: string }[];
  readonly from: string;
  readonly sdp: Description;
  readonly candidate: Candidate;
}

async function receive({ type, iceServers, peers, from, sdp, candidate }: Message): Promise<void> {
  if (type === "welcome") {
    peer = library === "werift" ? weriftPeer(iceServers, listener) : nodeDataChannelPeer(iceServers, listener);
    send({ type: "join", room, name: library });
  } else if (type === "joined") {
    const [first] = peers;
    report({ step: "joined" });
    if (!first) return;
    [calls, other] = [true, first.id];
    await peer?.call();
  } else if (type === "offer" || type === "answer") {
    other = from;
    await peer?.take(sdp);
  } else if (type === "candidate") await peer?.add(candidate);
}

let received = Promise.resolve();
socket.onmessage = ({ data }) => {
  received = received.then(() => receive(JSON.parse(data) as Message));
};

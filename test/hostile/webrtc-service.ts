import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { WebSocket } from "ws";
import type { IceServer } from "../../contract/services/webrtc.ts";
import { stunAttributes, stunMethods } from "../../servers/webrtc/stun/stun-attributes.ts";
import { uint32, type WrittenAttribute } from "../../servers/webrtc/stun/write-stun.ts";
import { MediaPeer } from "../webrtc/media-peer.ts";
import { dtlsAttacks } from "./dtls-attacks.ts";
import {
  type Addresses,
  type Bystander,
  type HostileService,
  httpAttacks,
  httpRequest,
  randomBytes,
  repeated,
  type Target,
  throwAt,
} from "./hostile-service.ts";
import { mediaAttacks, strayDatagram } from "./media-attacks.ts";
import { mediaServerOf } from "./media-players.ts";
import { list, signallingAttacks } from "./signalling-attacks.ts";
import { credentialsOf, openTurnRelay, stunRequest, type TurnCredentials } from "./turn-relay.ts";

const offer = [
  ...["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0"],
  ...["m=video 9 UDP/TLS/RTP/SAVPF 96", "c=IN IP4 0.0.0.0", "a=mid:0", "a=recvonly", "a=rtcp-mux"],
  ...["a=ice-ufrag:aaaa", `a=ice-pwd:${"b".repeat(24)}`, `a=fingerprint:sha-256 ${list(32, () => "AB").join(":")}`, "a=setup:actpass"],
  ...["a=rtpmap:96 H264/90000", "a=fmtp:96 packetization-mode=1", ""],
].join("\r\n");

/** The text with some of its characters replaced, left out or repeated. */
const broken = ({ random }: Target, text: string): string =>
  [...text]
    .map((character) => (random.chance(0.98) ? character : random.chance(0.5) ? "" : String.fromCharCode(random.below(256)).repeat(5)))
    .join("");

/** Sends datagrams from one socket, and drops the answers. */
async function sendDatagrams(port: number, datagrams: readonly Buffer[]): Promise<void> {
  const socket = await openUdp();
  socket.on("message", () => {});
  for (const [index, datagram] of datagrams.entries()) {
    socket.send(datagram, port, "127.0.0.1");
    if (index % 100 === 99) await delay(1);
  }
  await closeUdp(socket);
}

async function openUdp(): Promise<UdpSocket> {
  const socket = createSocket("udp4");
  socket.on("error", () => {});
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return socket;
}

const closeUdp = (socket: UdpSocket): Promise<void> => new Promise((resolve) => socket.close(() => resolve()));

/** A message whose lengths or integrity are wrong somewhere. */
function damaged({ random }: Target, bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  if (random.chance(0.3)) return copy.subarray(0, random.below(copy.length));
  const at = random.chance(0.5) ? 2 + random.below(2) : random.below(copy.length);
  copy[at] = random.below(256);
  return random.chance(0.2) ? Buffer.concat([copy, Buffer.alloc(random.below(9))]) : copy;
}

const channelData = (channel: number, data: Buffer): Buffer => {
  const head = Buffer.alloc(4);
  head.writeUInt16BE(channel);
  head.writeUInt16BE(data.length, 2);
  return Buffer.concat([head, data]);
};

const peerAddress: WrittenAttribute = [stunAttributes.xorPeerAddress, Buffer.from([0, 1, 0x21, 0x13, 0x5e, 0x12, 0xa4, 0x43])];
const requestedTransport: WrittenAttribute = [stunAttributes.requestedTransport, Buffer.from([17, 0, 0, 0])];

/** Requests that are right but for the nonce, which costs the server an integrity check each. */
const signedRequests = (credentials: TurnCredentials): readonly Buffer[] =>
  [
    [stunMethods.allocate, [requestedTransport]],
    [stunMethods.refresh, [[stunAttributes.lifetime, uint32(600)]]],
    [stunMethods.createPermission, [peerAddress]],
    [stunMethods.channelBind, [[stunAttributes.channelNumber, Buffer.from([0x40, 1, 0, 0])], peerAddress]],
  ].map(([method, attributes]) => stunRequest(method as number, attributes as readonly WrittenAttribute[], credentials, "old"));

async function iceServers({ port }: Pick<Target, "port">): Promise<readonly IceServer[]> {
  const response = await fetch(`http://127.0.0.1:${port}/ice-servers`, { signal: AbortSignal.timeout(30_000) });
  return (await response.json()) as IceServer[];
}

/** One JSON client asks another one, data pass a relay and come back, and a check of a player is answered: all are an answer. */
async function openBystander({ port }: Addresses): Promise<Bystander> {
  const [asking, answering] = [await openJsonClient(port), await openJsonClient(port)];
  answering.onText = ({ from, text }) => answering.send({ type: "chat", to: from, text });
  const relay = await openTurnRelay(credentialsOf(await iceServers({ port })));
  const { server, release } = mediaServerOf({ port });
  const player = await MediaPeer.play(server, "stream");
  const waiting = new Map<string, () => void>();
  asking.onText = ({ text }) => {
    waiting.get(text)?.();
    waiting.delete(text);
  };
  let asked = 0;
  return {
    async ask() {
      const text = String(++asked);
      const answered = new Promise<void>((resolve) => waiting.set(text, resolve));
      asking.send({ type: "chat", to: answering.id, text });
      await Promise.all([answered, relay.echo(Buffer.from(text)), player.ask()]);
    },
    async close() {
      await Promise.all([asking.close(), answering.close(), relay.close(), release()]);
    },
  };
}

interface ChatText {
  readonly from: string;
  readonly text: string;
}

async function openJsonClient(port: number) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`);
  const [welcome] = (await once(socket, "message")) as [Buffer];
  const opened = {
    id: (JSON.parse(welcome.toString()) as { id: string }).id,
    onText: (_message: ChatText) => {},
    send: (message: object) => socket.send(JSON.stringify(message)),
    async close() {
      socket.terminate();
      await once(socket, "close");
    },
  };
  socket.on("message", (data: Buffer) => opened.onText(JSON.parse(data.toString()) as ChatText));
  return opened;
}

export const webrtcService: HostileService = {
  flags: [
    ...["--webrtc-turn-port", "0", "--webrtc-turns-port", "0", "--webrtc-media-port", "0", "--webrtc-relay-port", "0"],
    // Else all credentials of this computer are refused after the first wrong ones.
    ...["--webrtc-login-failures", "100000"],
  ],
  config: { turnPort: 0, turnsPort: 0, mediaPort: 0, relayPort: 0, loginFailures: 100_000 },
  beside: ["rtsp"],
  openBystander,
  attacks: {
    ...httpAttacks("/ice-servers", "/ws"),
    ...signallingAttacks,
    ...dtlsAttacks,
    ...mediaAttacks,
    "WHEP offers with broken SDP": async (target) => {
      const headers = "Content-Type: application/sdp\r\n";
      const post = () => httpRequest("POST", "/whep/test", { headers, body: Buffer.from(broken(target, offer)) });
      await throwAt(target, 10, Buffer.concat(list(50, post)), "all");
    },
    "WHEP and WHIP offers of many payload types and attributes": async (target) => {
      const types = `m=video 9 UDP/TLS/RTP/SAVPF${list(128, (type) => ` ${type}`).join("")}`;
      const lines = list(1_900, (index) => `a=rtcp-fb:${index % 128} nack pli${"x".repeat(30)}`).join("\r\n");
      const body = Buffer.from(`${offer.replace("m=video 9 UDP/TLS/RTP/SAVPF 96", types)}${lines}\r\n`);
      const post = (path: string) => httpRequest("POST", path, { headers: "Content-Type: application/sdp\r\n", body });
      await throwAt(target, 10, Buffer.concat(list(20, (index) => post(index % 2 === 0 ? "/whep/x" : "/whip/x"))), "all");
    },
    "half-open TLS": async (target) => {
      const clientHello = Buffer.from("160301020001000001fc0303", "hex");
      const { tlsPort } = credentialsOf(await iceServers(target));
      await Promise.all([throwAt(target, 100, clientHello, "all"), throwAt({ ...target, port: tlsPort }, 100, clientHello, "all")]);
    },
    "STUN with wrong lengths and integrity": async (target) => {
      const credentials = credentialsOf(await iceServers(target));
      const right = [stunRequest(stunMethods.binding, []), ...signedRequests(credentials)];
      await sendDatagrams(
        credentials.port,
        list(2_000, () => damaged(target, right[target.random.below(right.length)] as Buffer)),
      );
    },
    "requests with an old nonce": async (target) => {
      const credentials = credentialsOf(await iceServers(target));
      const requests = signedRequests(credentials);
      await sendDatagrams(
        credentials.port,
        list(2_000, (index) => requests[index % requests.length] as Buffer),
      );
    },
    "ChannelData without a binding": async (target) => {
      const { port } = credentialsOf(await iceServers(target));
      const data = list(2_000, () => channelData(0x4000 + target.random.below(0x4000), randomBytes(target, target.random.below(40))));
      await Promise.all([sendDatagrams(port, data), throwAt({ ...target, port }, 10, Buffer.concat(data), "all")]);
    },
    "200 allocations at once": async (target) => {
      const opening = list(200, async () => openTurnRelay(credentialsOf(await iceServers(target))).catch(() => undefined));
      for (const relay of await Promise.all(opening)) await relay?.close();
    },
    "allocations over TCP that are left": async (target) => {
      const { port } = credentialsOf(await iceServers(target));
      await throwAt({ ...target, port }, 100, repeated(stunRequest(stunMethods.allocate, [requestedTransport]), 50), "nothing");
    },
    "50,000 requests over TCP": async (target) => {
      const { port } = credentialsOf(await iceServers(target));
      await throwAt({ ...target, port }, 2, repeated(stunRequest(stunMethods.allocate, [requestedTransport]), 50_000), "all");
    },
    "TCP cut anywhere": async (target) => {
      const credentials = credentialsOf(await iceServers(target));
      const bytes = repeated(Buffer.concat([stunRequest(stunMethods.binding, []), ...signedRequests(credentials)]), 20);
      await Promise.all(list(20, () => sendInPieces(target, credentials.port, bytes)));
    },
    "bytes of DTLS and RTP, and ChannelData, to TURN": async (target) => {
      const { port } = credentialsOf(await iceServers(target));
      const stray = list(2_000, () => strayDatagram(target));
      await Promise.all([sendDatagrams(port, stray), throwAt({ ...target, port }, 10, Buffer.concat(stray), "all")]);
    },
    "random bytes to TURN": async (target) => {
      const { port, tlsPort } = credentialsOf(await iceServers(target));
      await Promise.all([
        throwAt({ ...target, port }, 20, randomBytes(target, 2_000), "all"),
        throwAt({ ...target, port: tlsPort }, 20, randomBytes(target, 2_000), "all"),
        sendDatagrams(
          port,
          list(1_000, () => randomBytes(target, target.random.below(60))),
        ),
      ]);
    },
  },
};

async function sendInPieces({ random }: Target, port: number, bytes: Buffer): Promise<void> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  socket.on("error", () => {});
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.resume();
  for (let at = 0; at < bytes.length && !socket.destroyed; ) {
    const end = at + 1 + random.below(300);
    socket.write(bytes.subarray(at, end));
    at = end;
    if (random.chance(0.2)) await delay(1);
  }
  socket.destroy();
  await closed;
}

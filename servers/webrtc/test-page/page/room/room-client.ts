import { type CallState, PeerCall } from "./peer-call.ts";
import { configurationFor, type RelayChoice } from "./relay-choice.ts";
import { type ChatMessage, type ClientMessage, type OtherPeer, parseServerMessage, type ServerMessage } from "./signalling-messages.ts";

export interface ChatLine extends ChatMessage {
  readonly key: number;
  readonly isOwn: boolean;
  /** To whom, or from whom, of a private message. */
  readonly isPrivate: boolean;
  readonly to?: string;
}

export interface ShownPeer extends OtherPeer {
  /** Undefined before one of both has called. */
  readonly call: CallState | undefined;
}

export interface RoomProblem {
  readonly code: string;
  readonly text: string;
}

export interface RoomState {
  readonly signalling: "connecting" | "open" | "closed";
  /** The own one. */
  readonly id: string | undefined;
  readonly iceServers: readonly RTCIceServer[];
  readonly room: string | undefined;
  readonly isJoining: boolean;
  readonly peers: readonly ShownPeer[];
  readonly chat: readonly ChatLine[];
  readonly problem: RoomProblem | undefined;
}

const mostChatLines = 500;
const reconnectMs = 2_000;
const connectionLost = "CONNECTION_LOST";

/** The connection to the signalling, the room that was joined, and a call with each of the others in it. A store for React. */
export class RoomClient {
  state: RoomState = {
    ...{ signalling: "connecting", id: undefined, iceServers: [], room: undefined, isJoining: false },
    ...{ peers: [], chat: [], problem: undefined },
  };
  readonly #url: string;
  readonly #listeners = new Set<() => void>();
  readonly #peers = new Map<string, OtherPeer>();
  readonly #calls = new Map<string, PeerCall>();
  #socket: WebSocket | undefined;
  #media: MediaStream | undefined;
  #relay: RelayChoice = "any";
  #name = "";
  /** Sent again when the connection to the server is there again. */
  #joining: Extract<ClientMessage, { readonly type: "join" }> | undefined;
  #nextKey = 1;

  constructor(url: string) {
    this.#url = url;
    this.#connect();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  readonly getState = (): RoomState => this.state;

  get media(): MediaStream | undefined {
    return this.#media;
  }

  /** What is sent to all from now on. */
  async setMedia(media: MediaStream): Promise<void> {
    this.#media = media;
    for (const call of this.#calls.values()) await call.send(media);
  }

  setRelay(relay: RelayChoice): void {
    this.#relay = relay;
    for (const call of this.#calls.values()) call.restart(this.#configuration());
  }

  join(room: string, name: string, password: string): void {
    this.#name = name;
    this.#joining = { type: "join", room, ...(name !== "" && { name }), ...(password !== "" && { password }) };
    this.#set({ isJoining: true, problem: undefined });
    this.#send(this.#joining);
  }

  leave(): void {
    this.#joining = undefined;
    if (this.state.room !== undefined) this.#send({ type: "leave", room: this.state.room });
    this.#left();
  }

  /** Calls a peer, again if there was a call. */
  call(id: string): void {
    if (this.#peers.has(id)) this.#newCall(id).begin();
  }

  /** To all in the room, or to one of them. */
  say(text: string, to?: string): void {
    const { id = "", room } = this.state;
    if (room === undefined) return;
    this.#send({ type: "chat", text, ...(to === undefined ? { room } : { to }) });
    this.#addLine({ from: id, name: this.#name, text, at: Date.now() }, { isOwn: true, ...(to !== undefined && { to }) });
  }

  dismissProblem(): void {
    this.#set({ problem: undefined });
  }

  #connect(): void {
    const socket = new WebSocket(this.#url);
    this.#socket = socket;
    socket.onmessage = ({ data }) => {
      const message = parseServerMessage(data);
      if (message) this.#receive(message);
    };
    socket.onclose = ({ reason }) => {
      const was = this.state.room;
      this.#left();
      this.#set({ signalling: "closed", id: undefined });
      if (was !== undefined)
        this.#report(
          connectionLost,
          `The connection to the server was lost${reason === "" ? "" : `: ${reason}`}. This page joins the room again when it is back.`,
        );
      setTimeout(() => this.#connect(), reconnectMs);
    };
  }

  #receive(message: ServerMessage): void {
    switch (message.type) {
      case "welcome":
        this.#set({ signalling: "open", id: message.id, iceServers: message.iceServers });
        if (this.#joining) {
          this.#set({ isJoining: true });
          this.#send(this.#joining);
        }
        return;
      case "joined":
        if (this.state.problem?.code === connectionLost) this.dismissProblem();
        for (const { id, name } of message.peers) this.#peers.set(id, { id, name });
        this.#set({ room: message.room, isJoining: false, chat: [] });
        // Who comes calls those that are there; these only answer.
        for (const { id } of message.peers) this.call(id);
        return;
      case "peer-joined":
        this.#peers.set(message.id, { id: message.id, name: message.name });
        this.#showPeers();
        return;
      case "peer-left":
        this.#endCall(message.id);
        this.#peers.delete(message.id);
        this.#showPeers();
        return;
      case "offer":
      case "answer":
        void this.#callFor(message)?.receive({ type: message.type, sdp: sdpOf(message) });
        return;
      case "candidate": {
        const { candidate } = message;
        const init = typeof candidate === "string" ? { candidate } : candidate;
        // Null, and an empty one, end the candidates.
        if (init?.candidate) void this.#callFor(message)?.receive({ type: "candidate", candidate: init });
        return;
      }
      case "chat":
        this.#addLine(message, { isPrivate: message.room === undefined });
        return;
      case "error":
        if (this.state.isJoining) this.#joining = undefined;
        this.#set({ isJoining: false });
        this.#report(message.code, message.message);
        return;
      default:
        // A newer server may send more.
        message satisfies never;
    }
  }

  /** The call that a message is for; an offer or a candidate of a peer without one begins it. */
  #callFor(message: Extract<ServerMessage, { readonly type: "offer" | "answer" | "candidate" }>): PeerCall | undefined {
    const { type, from } = message;
    const known = this.#calls.get(from);
    if (type === "answer" || !this.#peers.has(from)) return known;
    return known && !(type === "offer" && known.isWithAnother(sdpOf(message))) ? known : this.#newCall(from);
  }

  #newCall(id: string): PeerCall {
    this.#calls.get(id)?.close();
    const call = new PeerCall({
      configuration: this.#configuration(),
      isPolite: (this.state.id ?? "") < id,
      tracks: this.#media,
      send: (message) => this.#send({ ...message, to: id }),
      onChange: () => this.#showPeers(),
    });
    this.#calls.set(id, call);
    this.#showPeers();
    return call;
  }

  #endCall(id: string): void {
    this.#calls.get(id)?.close();
    this.#calls.delete(id);
  }

  #left(): void {
    for (const id of [...this.#calls.keys()]) this.#endCall(id);
    this.#peers.clear();
    this.#set({ room: undefined, isJoining: false, peers: [], chat: [] });
  }

  #addLine(message: ChatMessage, how: Partial<Pick<ChatLine, "isOwn" | "isPrivate" | "to">>): void {
    const line: ChatLine = {
      ...{ key: this.#nextKey++, from: message.from, text: message.text, at: message.at },
      name: message.name ?? this.#peers.get(message.from)?.name ?? message.from,
      ...{ isOwn: false, isPrivate: how.to !== undefined, ...how },
    };
    this.#set({ chat: [...this.state.chat, line].slice(-mostChatLines) });
  }

  #report(code: string, text: string): void {
    this.#set({ problem: { code, text } });
  }

  #configuration(): RTCConfiguration {
    return configurationFor(this.state.iceServers, this.#relay);
  }

  #send(message: ClientMessage): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #showPeers(): void {
    this.#set({ peers: [...this.#peers.values()].map((peer) => ({ ...peer, call: this.#calls.get(peer.id)?.state })) });
  }

  #set(change: Partial<RoomState>): void {
    this.state = { ...this.state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

/** Some clients send a description with its type. */
const sdpOf = ({ sdp }: { readonly sdp: string | { readonly sdp: string } }): string => (typeof sdp === "string" ? sdp : sdp.sdp);

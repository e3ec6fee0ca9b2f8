import { createFrameStore, pacedFrame, type ReadableStore } from "../../../../../renderer/src/control/frame-store.ts";
import { type ChatEntry, ChatLog } from "./chat-log.ts";
import type { CallMessage } from "./peer-call.ts";
import { PeerCalls, type PeersView } from "./peer-calls.ts";
import { configurationFor, type RelayChoice } from "./relay-choice.ts";
import { type ClientMessage, candidateOf, parseServerMessage, type ServerMessage, sdpOf } from "./signalling-messages.ts";

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
  readonly problem: RoomProblem | undefined;
}

const reconnectMs = 2_000;
const connectionLost = "CONNECTION_LOST";

/** The connection to the signalling, the room that was joined, and a call with each of the others in it. With stores for React. */
export class RoomClient {
  readonly #state = createFrameStore<RoomState>(
    {
      ...{ signalling: "connecting", id: undefined, iceServers: [], room: undefined },
      ...{ isJoining: false, problem: undefined },
    },
    pacedFrame,
  );
  readonly #chat = new ChatLog(pacedFrame);
  readonly #calls: PeerCalls;
  readonly #url: string;
  #socket: WebSocket | undefined;
  #relay: RelayChoice = "any";
  #name = "";
  /** Sent again when the connection to the server is there again. */
  #joining: Extract<ClientMessage, { readonly type: "join" }> | undefined;

  /** `limit` is how many calls are opened without the user. */
  constructor(url: string, limit: number) {
    this.#url = url;
    this.#calls = new PeerCalls({
      limit,
      configuration: () => configurationFor(this.#now.iceServers, this.#relay),
      isPolite: (id) => (this.#now.id ?? "") < id,
      send: (to, message) => this.#send({ ...message, to }),
      nextFrame: pacedFrame,
    });
    this.#connect();
  }

  get state(): ReadableStore<RoomState> {
    return this.#state;
  }

  get chat(): ReadableStore<readonly ChatEntry[]> {
    return this.#chat.shown;
  }

  get peers(): ReadableStore<PeersView> {
    return this.#calls.shown;
  }

  get callLimit(): number {
    return this.#calls.limit;
  }

  /** What is sent to all from now on. */
  async setMedia(media: MediaStream): Promise<void> {
    await this.#calls.setMedia(media);
  }

  setRelay(relay: RelayChoice): void {
    this.#relay = relay;
    this.#calls.restart();
  }

  join(room: string, name: string, password: string): void {
    this.#name = name;
    this.#joining = { type: "join", room, ...(name !== "" && { name }), ...(password !== "" && { password }) };
    this.#set({ isJoining: true, problem: undefined });
    this.#send(this.#joining);
  }

  leave(): void {
    this.#joining = undefined;
    const { room } = this.#now;
    if (room !== undefined) this.#send({ type: "leave", room });
    this.#left();
  }

  /** Calls a peer, again if there was a call, or answers it. */
  call(id: string): void {
    this.#calls.call(id);
  }

  /** To all in the room, or to one of them. */
  say(text: string, to?: string): void {
    const { room } = this.#now;
    if (room === undefined) return;
    this.#send({ type: "chat", text, ...(to === undefined ? { room } : { to }) });
    this.#chat.add({
      ...{ name: this.#name, text, at: Date.now(), isOwn: true, isPrivate: to !== undefined },
      ...(to !== undefined && { to: this.#calls.nameOf(to) || to }),
    });
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
      const was = this.#now.room;
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
        if (this.#now.problem?.code === connectionLost) this.dismissProblem();
        for (const peer of message.peers) this.#calls.add(peer);
        this.#chat.clear();
        this.#set({ room: message.room, isJoining: false });
        // Who comes calls those that are there; these only answer.
        this.#calls.callAll();
        return;
      case "peer-joined":
        this.#calls.add(message);
        return;
      case "peer-left":
        this.#calls.remove(message.id);
        return;
      case "offer":
      case "answer":
      case "candidate": {
        const signal = signalOf(message);
        if (signal) this.#calls.receive(message.from, signal);
        return;
      }
      case "chat":
        this.#chat.add({
          ...{ name: message.name ?? (this.#calls.nameOf(message.from) || message.from), text: message.text, at: message.at },
          ...{ isOwn: false, isPrivate: message.room === undefined, isHistory: message.history === true },
        });
        return;
      case "error":
        if (this.#now.isJoining) this.#joining = undefined;
        this.#set({ isJoining: false });
        this.#report(message.code, message.message);
        return;
      default:
        // A newer server may send more.
        message satisfies never;
    }
  }

  #left(): void {
    this.#calls.clear();
    this.#chat.clear();
    this.#set({ room: undefined, isJoining: false });
  }

  #report(code: string, text: string): void {
    this.#set({ problem: { code, text } });
  }

  #send(message: ClientMessage): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  /** Shown or not. */
  get #now(): RoomState {
    return this.#state.latest();
  }

  #set(change: Partial<RoomState>): void {
    this.#state.set({ ...this.#now, ...change });
  }
}

function signalOf(message: Extract<ServerMessage, { readonly type: "offer" | "answer" | "candidate" }>): CallMessage | undefined {
  if (message.type === "candidate") {
    const candidate = candidateOf(message.candidate);
    return candidate && { type: "candidate", candidate };
  }
  const sdp = sdpOf(message.sdp);
  return sdp === undefined ? undefined : { type: message.type, sdp };
}

import type { Socket } from "node:net";
import type { WebSocket } from "ws";
import type { BudgetShare, SharedBudget } from "../../limits/shared-budget.ts";
import type { WorkConnection } from "../../turns/work-connection.ts";
import { readFramesInTurns } from "./frames-in-turns.ts";

/** What is used of ws without a public name. */
interface MessageReceiver {
  /** Read, and not parsed: a frame is parsed when all of it is there. */
  readonly _bufferedBytes: number;
  /** Of the frames before, of the same message. */
  readonly _messageLength: number;
  _buffers: Buffer[];
  _fragments: Buffer[];
  /** Written to it, and not taken. */
  readonly writableLength: number;
}

/** The object of a Buffer, which may hold one byte. */
const fragmentBytes = 100;
/** RFC 6455 §7.4.1, and the registry of IANA. */
const tryAgainLater = { code: 1_013, reason: "too many bytes of all clients" } as const;
type ClosedWith = typeof tryAgainLater;
/** For the client to answer the close frame. */
const lingerMs = 1_000;

const receiverOf = (webSocket: WebSocket) => (webSocket as WebSocket & { readonly _receiver: MessageReceiver })._receiver;

/** Memory of the message that arrives, and of what was read behind it. */
export function arrivingBytes(webSocket: WebSocket): number {
  const { _bufferedBytes, _messageLength, _fragments, _buffers, writableLength } = receiverOf(webSocket);
  const { _socket: socket } = webSocket as WebSocket & { readonly _socket: Socket | null };
  const read = _bufferedBytes + writableLength + (socket?.readableLength ?? 0);
  return read + _messageLength + fragmentBytes * (_fragments.length + _buffers.length);
}

/** What one WebSocket has in memory: of the message that arrives, and what its client leaves unread. Its frames are read in turns. */
export class HeldWebSocket {
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;
  readonly #share: BudgetShare;
  readonly #onClosing: (closed: ClosedWith) => void;
  readonly #dropFrames: () => void;
  #bytes = 0;
  #isOver = false;
  /** Of messages that arrived and wait for their turn. */
  waitingBytes = 0;

  /** To be made when it has just been opened. `onClosing` is called where it has to be closed because all have too much and this one has most. */
  constructor(
    webSocket: WebSocket,
    socket: Socket,
    held: SharedBudget,
    work: WorkConnection,
    onClosing: (closed: ClosedWith) => void = () => {},
  ) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#share = held.open(socket.remoteAddress ?? "", () => this.#giveWay());
    this.#onClosing = onClosing;
    this.#dropFrames = readFramesInTurns(webSocket, work, () => this.count());
    // After the listener of ws, which has counted the bytes.
    socket.on("data", () => this.count());
    webSocket.once("close", () => {
      this.#release();
      this.#share.close();
    });
  }

  get #receiver(): MessageReceiver {
    return receiverOf(this.#webSocket);
  }

  /** To be called when a message was taken or sent, or another one waits. */
  count(): void {
    if (this.#isOver) return;
    const bytes = arrivingBytes(this.#webSocket) + this.waitingBytes + this.#webSocket.bufferedAmount;
    const added = bytes - this.#bytes;
    this.#bytes = bytes;
    this.#share.add(added);
  }

  #release(): void {
    this.#isOver = true;
    this.#share.add(-this.#bytes);
    this.#bytes = 0;
  }

  #giveWay(): void {
    this.#release();
    this.#onClosing(tryAgainLater);
    this.#webSocket.close(tryAgainLater.code, tryAgainLater.reason);
    // What still comes is discarded: closing with unread bytes would reset the connection, and the close frame be lost with it.
    this.#socket.removeAllListeners("data");
    this.#socket.resume();
    this.#dropFrames();
    const receiver = this.#receiver;
    receiver._buffers = [];
    receiver._fragments = [];
    const timer = setTimeout(() => this.#webSocket.terminate(), this.#webSocket.bufferedAmount > fragmentBytes ? 0 : lingerMs);
    this.#webSocket.once("close", () => clearTimeout(timer));
  }
}

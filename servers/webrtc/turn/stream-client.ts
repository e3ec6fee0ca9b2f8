import type { Socket } from "node:net";
import type { BudgetShare, SharedBudget } from "../../core/limits/shared-budget.ts";
import { plainAddress } from "../../core/net/client-socket.ts";
import type { WorkShare } from "../../core/turns/work-connection.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import { paddedLength } from "../stun/write-stun.ts";
import type { Allocation, TurnClient } from "./allocation.ts";
import { channelHeaderBytes, StreamFraming } from "./stream-framing.ts";

export interface StreamClientOptions {
  readonly transport: "tcp" | "tls";
  readonly socket: Socket;
  /** What waits for the client; more is lost, as it would be over UDP. */
  readonly unsentBytes: number;
  /** The same of all clients: beyond it those are disconnected for whom most waits. */
  readonly unsent: SharedBudget;
  /** Of all clients over TCP and TLS. */
  readonly turns: WorkTurns;
  /** Steady, in milliseconds. */
  readonly now: () => number;
  readonly onMessage: (client: StreamClient, bytes: Buffer, start: number, end: number) => void;
  /** Once, with the reason if it is ours. */
  readonly onClosed: (client: StreamClient, why: string | undefined) => void;
}

/** What a message that waits takes beside its bytes: one of ChannelData may have none. */
const messageOverheadBytes = 128;

/** A client over TCP or TLS. */
export class StreamClient implements TurnClient {
  readonly transport: "tcp" | "tls";
  readonly address: string;
  readonly port: number;
  readonly localAddress: string | undefined;
  allocation: Allocation | undefined;
  isAllocating = false;
  isGone = false;
  readonly #options: StreamClientOptions;
  readonly #socket: Socket;
  readonly #framing = new StreamFraming();
  readonly #share: WorkShare;
  /** What is worked off in another turn; meanwhile nothing is read. */
  #unread: Buffer | undefined;
  /** What is still to be written. */
  #output: Buffer[] = [];
  #outputBytes = 0;
  readonly #unsent: BudgetShare;
  #isWriting = false;
  #lastMessageAt: number;
  #why: string | undefined;

  constructor(options: StreamClientOptions) {
    const { socket, transport } = options;
    this.#options = options;
    this.#socket = socket;
    this.transport = transport;
    this.address = socket.remoteAddress ?? "127.0.0.1";
    this.port = socket.remotePort ?? 0;
    this.localAddress = socket.localAddress;
    this.#lastMessageAt = options.now();
    this.#share = options.turns.join(plainAddress(this.address), this.#work);
    this.#unsent = options.unsent.open(this.address, () => {
      this.#unsent.leave();
      this.end("what waited for it was most, and WEBRTC_ALL_UNSENT_BYTES is exceeded");
    });
    socket.setNoDelay(true);
    socket.on("data", (chunk) => {
      this.#unread = chunk;
      this.#work();
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      this.isGone = true;
      this.#output = [];
      this.#unsent.set(0);
      this.#unsent.close();
      options.onClosed(this, this.#why);
    });
  }

  readonly #work = (): void => {
    const unread = this.#unread;
    this.#unread = undefined;
    if (!unread || this.isGone) return;
    const share = this.#share;
    const rest = this.#framing.push(unread, this.#receive, () => this.isGone || share.isOver);
    if (!rest) this.end("bytes that are neither STUN nor ChannelData");
    else if (rest.length > 0) {
      this.#unread = rest;
      this.#socket.pause();
      share.later();
    } else if (this.#socket.isPaused()) this.#socket.resume();
  };

  readonly #receive = (bytes: Buffer, start: number, end: number): void => {
    this.#lastMessageAt = this.#options.now();
    this.#options.onMessage(this, bytes, start, end);
  };

  send(message: Buffer): boolean {
    return this.#write(message);
  }

  sendChannelData(channel: number, data: Buffer): boolean {
    const end = channelHeaderBytes + data.length;
    const message = Buffer.allocUnsafe(paddedLength(end));
    message.writeUInt16BE(channel);
    message.writeUInt16BE(data.length, 2);
    data.copy(message, channelHeaderBytes);
    message.fill(0, end);
    return this.#write(message);
  }

  #write(message: Buffer): boolean {
    if (this.isGone || this.#waiting + message.length + messageOverheadBytes > this.#options.unsentBytes) return false;
    this.#output.push(message);
    this.#outputBytes += message.length;
    this.#count();
    // It may have been the one for whom most waited.
    if (this.isGone) return false;
    if (this.#isWriting) return true;
    this.#isWriting = true;
    if (this.transport === "tls") this.#writeRecord();
    else setImmediate(this.#writeAll);
    return true;
  }

  /** Of memory. */
  get #waiting(): number {
    return this.#socket.writableLength + this.#outputBytes + messageOverheadBytes * this.#output.length;
  }

  readonly #count = (): void => {
    if (!this.isGone) this.#unsent.set(this.#waiting);
  };

  /** One write for all that relays receive in a turn. */
  readonly #writeAll = (): void => {
    const messages = this.#output;
    const bytes = messages.length === 1 ? (messages[0] as Buffer) : Buffer.concat(messages, this.#outputBytes);
    this.#output = [];
    this.#outputBytes = 0;
    this.#isWriting = false;
    if (!this.isGone) this.#socket.write(bytes, this.#count);
  };

  /** One record for each message: coturn's client reads no second message from a record. What waits in the socket would be joined. */
  readonly #writeRecord = (): void => {
    this.#count();
    const message = this.#output.shift();
    this.#isWriting = message !== undefined && !this.isGone;
    if (!message || this.isGone) return;
    this.#outputBytes -= message.length;
    this.#socket.write(message, this.#writeRecord);
    this.#count();
  };

  /** Ends a connection that has had no allocation and no message for `idleMs`. */
  tick(now: number, idleMs: number): void {
    if (this.allocation || this.isAllocating) this.#lastMessageAt = now;
    else if (now - this.#lastMessageAt > idleMs) this.end("idle without an allocation");
  }

  end(why?: string): void {
    this.#why ??= why;
    this.isGone = true;
    this.#socket.destroy();
  }
}

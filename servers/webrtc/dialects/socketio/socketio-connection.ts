import type { Socket } from "socket.io";
import type { ConnectionHead } from "../../../../contract/traffic/connection.ts";
import type { FaultLog } from "../../../core/net/fault-log.ts";

type EngineConnection = Socket["conn"];

/** What is used of an Engine.IO transport over WebSocket. */
interface WebSocketTransport {
  readonly name: string;
  readonly socket?: { pause(): void; resume(): void };
}

/** A CONNECT of Socket.IO to another namespace than "/", which is the only one. */
const connectsElsewhere = /^0\/[^,]/;

/** A connection of Engine.IO: how fast it is read, and what its client leaves unread. Closed where a client floods it. */
export class SocketIoConnection {
  readonly head: ConnectionHead;
  sentBytes = 0;
  readonly #connection: EngineConnection;
  readonly #packetsPerSecond: number;
  readonly #faults: FaultLog;
  /** Packets since the last tick: a body of long polling may hold tens of thousands. */
  #recent = 0;
  #isRefused = false;
  #waitingBytes = 0;
  #writtenBytes = 0;
  #held: WebSocketTransport["socket"];

  constructor(connection: EngineConnection, head: ConnectionHead, packetsPerSecond: number, faults: FaultLog) {
    this.#connection = connection;
    this.head = head;
    this.#packetsPerSecond = packetsPerSecond;
    this.#faults = faults;
    connection.on("packet", ({ data }: { data?: unknown }) => this.#received(data));
    connection.on("packetCreate", ({ data }: { data?: unknown }) => {
      const bytes = typeof data === "string" ? data.length : 0;
      this.sentBytes += bytes;
      this.#waitingBytes += bytes;
    });
    connection.on("flush", () => {
      this.#writtenBytes += this.#waitingBytes;
      this.#waitingBytes = 0;
    });
    connection.on("drain", () => {
      this.#writtenBytes = 0;
    });
  }

  get unsentBytes(): number {
    return this.#waitingBytes + this.#writtenBytes;
  }

  #received(data: unknown): void {
    if (typeof data === "string" && connectsElsewhere.test(data)) this.#refuse();
    if (++this.#recent <= this.#packetsPerSecond || this.#held) return;
    const what = this.#hold() ? "it is read no faster" : "it is disconnected";
    this.#faults.write(`The client at ${this.head.remote} sends more than ${this.#packetsPerSecond} messages a second: ${what}.`);
  }

  /** The first refusal is still sent. */
  #refuse(): void {
    if (this.#isRefused) {
      this.#connection.close(true);
      return;
    }
    this.#isRefused = true;
    this.#faults.closed(this.head, "it asked for a namespace of Socket.IO other than /");
    setImmediate(() => this.#connection.close());
  }

  /** False where it cannot be read more slowly: it is closed then. */
  #hold(): boolean {
    const transport = this.#connection.transport as unknown as WebSocketTransport;
    if (transport.name === "websocket") this.#held = transport.socket;
    this.#held?.pause();
    if (!this.#held) this.#connection.close(true);
    return this.#held !== undefined;
  }

  release(): void {
    this.#held?.resume();
    this.#held = undefined;
  }

  tick(): void {
    this.#recent = 0;
    this.release();
  }
}

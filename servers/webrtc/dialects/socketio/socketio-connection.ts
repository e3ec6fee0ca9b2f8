import type { Socket } from "socket.io";
import type { ConnectionHead } from "../../../../contract/traffic/connection.ts";
import type { FaultLog } from "../../../core/net/fault-log.ts";
import type { WorkConnection } from "../../../core/turns/work-connection.ts";
import { ClientInput } from "../client-input.ts";

type EngineConnection = Socket["conn"];

/** What is used of an Engine.IO transport over WebSocket. */
interface WebSocketTransport {
  readonly name: string;
  readonly socket?: { pause(): void; resume(): void };
}

/** A CONNECT of Socket.IO to another namespace than "/", which is the only one. */
const connectsElsewhere = /^0\/[^,]/;

/** BINARY_EVENT or BINARY_ACK in the namespace "/", up to the name of the event. */
const binaryStart = /^([56]\d{1,2}-(?:\/,)?\d{0,15}\[)("(?:[^"\\]|\\.){0,200}"|\d{1,15})[,\]]/s;
const noBytes = Buffer.alloc(0);

interface EnginePacket {
  data?: unknown;
}

/**
 * Events with bytes are refused. Socket.IO would keep what it has of one until the last of its bytes come: it gets their number and the name of the
 * event alone. An event that cannot be told is made none, which ends the connection.
 */
function withoutBytes(data: unknown): unknown {
  if (typeof data !== "string") return data === undefined ? data : noBytes;
  if (data[0] !== "5" && data[0] !== "6") return data;
  const [, head, name] = binaryStart.exec(data) ?? [];
  return head === undefined ? data[0] : `${head}${name},{"_placeholder":true,"num":0}]`;
}

export interface SocketIoLimits {
  readonly messageBytes: number;
  readonly messagesPerSecond: number;
}

/** Memory of a packet that waits, beside its text. */
const packetBytes = 128;
/** Messages of the greatest length that may wait for one that is being delivered: long polling cannot be held. */
const waitingMessages = 4;

/** A connection of Engine.IO: how fast it is read, and how much its client leaves unread. Closed where a client floods it. */
export class SocketIoConnection {
  readonly head: ConnectionHead;
  sentBytes = 0;
  readonly #connection: EngineConnection;
  readonly #limits: SocketIoLimits;
  readonly #faults: FaultLog;
  /** Packets since the last tick: a body of long polling may hold tens of thousands. */
  #recent = 0;
  #isRefused = false;
  #waitingBytes = 0;
  #writtenBytes = 0;
  /** It sends too fast. */
  #isFast = false;
  /** Behind a message that is being delivered. */
  #waitingInput = 0;
  #held: WebSocketTransport["socket"];
  /** What its client asks for, each as what there is to do. */
  readonly input: ClientInput<() => void>;

  constructor(connection: EngineConnection, work: WorkConnection, head: ConnectionHead, limits: SocketIoLimits, faults: FaultLog) {
    this.#connection = connection;
    this.head = head;
    this.#limits = limits;
    this.#faults = faults;
    this.input = new ClientInput(
      work,
      (act) => act(),
      (isReading) => this.#setReading(isReading),
    );
    // Before Socket.IO has it.
    connection.on("packet", (packet: EnginePacket) => {
      const { data } = packet;
      packet.data = withoutBytes(data);
      this.#received(data);
    });
    connection.on("packetCreate", ({ data }: { data?: unknown }) => {
      const bytes = typeof data === "string" ? data.length : 0;
      this.sentBytes += bytes;
      this.#waitingBytes += bytes + packetBytes;
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
    if (this.input.isHeld && typeof data === "string") this.#waitingInput += data.length;
    const { messagesPerSecond, messageBytes } = this.#limits;
    if (this.#waitingInput > waitingMessages * messageBytes) this.#connection.close(true);
    if (++this.#recent <= messagesPerSecond || this.#isFast) return;
    this.#isFast = true;
    this.input.hold();
    // It cannot be read more slowly.
    if (!this.#held) this.floods();
    else this.#tooFast("it is read no faster");
  }

  /** It sends more than the limit, and cannot be read more slowly. */
  floods(): void {
    this.#connection.close(true);
    this.#tooFast("it is disconnected");
  }

  #tooFast(consequence: string): void {
    const { messagesPerSecond } = this.#limits;
    this.#faults.write(`The client at ${this.head.remote} sends more than ${messagesPerSecond} messages a second: ${consequence}.`);
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

  #setReading(isReading: boolean): void {
    const transport = this.#connection.transport as unknown as WebSocketTransport;
    if (isReading) {
      this.#waitingInput = 0;
      const held = this.#held;
      this.#held = undefined;
      held?.resume();
    } else if (transport.name === "websocket") {
      this.#held = transport.socket;
      this.#held?.pause();
    }
  }

  tick(): void {
    this.#recent = 0;
    if (!this.#isFast) return;
    this.#isFast = false;
    this.input.release();
  }

  /** We are about to close it: what waits is not carried out, and its socket is read to its end. */
  end(): void {
    this.input.clear();
    this.#setReading(true);
  }
}

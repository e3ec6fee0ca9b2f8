import type { EngineLimits } from "../engine-limits.ts";
import type { Message } from "../routing/message.ts";
import type { Delivery } from "./delivery.ts";

/** What all sessions hold of messages, waiting or sent and not acknowledged. */
export interface MessageLoad {
  /** Deliveries that wait in queues. */
  waiting: number;
  /** A message counts once, however many sessions hold it. */
  bytes: number;
  /** Sessions that hold any. */
  holders: number;
  /** Deliveries in flight whose payloads may keep the chunks in memory with which they were received. */
  inChunks: number;
}

/** Memory of a delivery in addition to its message and its identifiers. */
const deliveryBytes = 200;
/** Of a message in addition to its bytes, however short it is: its objects and those of its buffers (570 measured, and what Node's buffers have outside of the heap). */
const messageBytes = 700;

const bytesOf = (message: Message): number => messageBytes + message.bytes;

/** What one session holds. */
export class HeldMessages {
  bytes = 0;
  private count = 0;
  readonly all: MessageLoad;

  constructor(all: MessageLoad) {
    this.all = all;
  }

  /**
   * If what all sessions hold is full, those above their share get no more until they acknowledge, and drop messages; a client that is only
   * slightly behind keeps its queue.
   */
  isAboveShare({ allQueueBytes }: Pick<EngineLimits, "allQueueBytes">): boolean {
    const { bytes, holders } = this.all;
    return bytes >= allQueueBytes && this.bytes >= allQueueBytes / Math.max(1, holders);
  }

  add(delivery: Delivery): void {
    const { all } = this;
    const { message } = delivery;
    const ownBytes = deliveryBytes + delivery.identifierBytes;
    if (this.count++ === 0) all.holders++;
    this.bytes += bytesOf(message) + ownBytes;
    all.bytes += (message.holds++ === 0 ? bytesOf(message) : 0) + ownBytes;
  }

  remove(delivery: Delivery): void {
    const { all } = this;
    const { message } = delivery;
    const ownBytes = deliveryBytes + delivery.identifierBytes;
    if (--this.count === 0) all.holders--;
    this.bytes -= bytesOf(message) + ownBytes;
    all.bytes -= (--message.holds === 0 ? bytesOf(message) : 0) + ownBytes;
  }
}

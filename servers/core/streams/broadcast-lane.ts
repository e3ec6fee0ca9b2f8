import type { WorkConnection, WorkShare } from "../service/work-turns.ts";

/** Where more waits in the lanes of a service, as much is delivered at once: not all senders can be held. */
const mostWaitingBytes = 64 << 20;

/** The memory of what waits in the lanes of a service. */
export class BroadcastMemory {
  #bytes = 0;

  add(bytes: number): void {
    this.#bytes += bytes;
  }

  get isFull(): boolean {
    return this.#bytes > mostWaitingBytes;
  }
}

export interface BroadcastOptions<Receiver, Message> {
  readonly memory: BroadcastMemory;
  /** Called when a message is first delivered: it is for those of that moment. */
  readonly receivers: (message: Message) => Iterable<Receiver>;
  /** `number` counts the messages of the lane from 0. */
  readonly deliver: (receiver: Receiver, message: Message, number: number) => void;
  /** Memory that a message takes while it waits. */
  readonly bytesOf: (message: Message) => number;
}

interface WaitingMessage<Message> {
  readonly message: Message;
  readonly share: WorkShare;
  readonly number: number;
  bytes: number;
  whenOver: (() => void) | undefined;
}

/** Messages for many, in the same order for all of them. Each is delivered in the turns of its sender, so that nobody else waits for it. */
export class BroadcastLane<Receiver, Message> {
  /** How many messages were sent so far: the number of the next one. */
  sent = 0;
  readonly #options: BroadcastOptions<Receiver, Message>;
  /** The oldest first. */
  readonly #waiting: WaitingMessage<Message>[] = [];
  /** Of the first one: those that are still to get it. */
  #receivers: Iterator<Receiver> | undefined;

  constructor(options: BroadcastOptions<Receiver, Message>) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Undefined if all have it now; otherwise it resolves when they do, and its sender should be held meanwhile. */
  send(message: Message, sender: WorkConnection): Promise<void> | undefined {
    const share = sender.join(this.#deliver);
    const waiting: WaitingMessage<Message> = { message, share, number: this.sent++, bytes: 0, whenOver: undefined };
    this.#waiting.push(waiting);
    if (this.#waiting.length === 1) this.#deliver();
    if (this.isEmpty) return undefined;
    const { memory, bytesOf } = this.#options;
    const over = new Promise<void>((resolve) => {
      waiting.whenOver = resolve;
    });
    waiting.bytes = bytesOf(message);
    memory.add(waiting.bytes);
    while (memory.isFull && !this.isEmpty) this.#step();
    return over;
  }

  readonly #deliver = (): void => {
    for (let first = this.#waiting[0]; first; first = this.#waiting[0]) {
      if (first.share.isOver) {
        first.share.later();
        return;
      }
      this.#step();
    }
  };

  /** Delivers the oldest message to the next of its receivers. Without one it is over. */
  #step(): void {
    const { deliver, receivers, memory } = this.#options;
    const { message, number, bytes, whenOver } = this.#waiting[0] as WaitingMessage<Message>;
    this.#receivers ??= receivers(message)[Symbol.iterator]();
    const { done, value: receiver } = this.#receivers.next();
    if (!done) {
      deliver(receiver, message, number);
      return;
    }
    this.#receivers = undefined;
    this.#waiting.shift();
    memory.add(-bytes);
    whenOver?.();
  }
}

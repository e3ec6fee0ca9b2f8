import type { DeliveryLane, DeliveryTurns } from "./delivery-turns.ts";

export interface BroadcastOptions<Receiver, Message> {
  readonly turns: DeliveryTurns;
  /** Those of the moment at which a message is first delivered. */
  readonly receivers: () => Iterable<Receiver>;
  readonly deliver: (receiver: Receiver, message: Message) => void;
  /** Memory that a message takes while it waits. */
  readonly bytesOf: (message: Message) => number;
}

interface WaitingMessage<Message> {
  readonly message: Message;
  readonly number: number;
  bytes: number;
  over: (() => void) | undefined;
}

/** The same messages in the same order for all receivers; each gets what is sent after it came. */
export class BroadcastLane<Receiver extends { readonly since: number }, Message> implements DeliveryLane {
  /** How many messages were sent so far: what `since` is for a receiver that comes now. */
  sent = 0;
  readonly #options: BroadcastOptions<Receiver, Message>;
  /** The oldest first. */
  readonly #waiting: WaitingMessage<Message>[] = [];
  /** Of the first one: those that are still to get it. */
  #receivers: Iterator<Receiver> | undefined;

  constructor(options: BroadcastOptions<Receiver, Message>) {
    this.#options = options;
  }

  /** Undefined if all have it now; otherwise it resolves when they do, and its sender should be held meanwhile. */
  send(message: Message): Promise<void> | undefined {
    const { turns, bytesOf } = this.#options;
    const waiting: WaitingMessage<Message> = { message, number: this.sent++, bytes: 0, over: undefined };
    this.#waiting.push(waiting);
    if (!turns.run(this)) return undefined;
    return new Promise((resolve) => {
      waiting.over = resolve;
      waiting.bytes = bytesOf(message);
      turns.wait(this, waiting.bytes);
    });
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  step(): boolean {
    const waiting = this.#waiting[0] as WaitingMessage<Message>;
    this.#receivers ??= this.#options.receivers()[Symbol.iterator]();
    const { done, value: receiver } = this.#receivers.next();
    if (done) {
      this.#receivers = undefined;
      this.#waiting.shift();
      this.#options.turns.waitNoMore(waiting.bytes);
      waiting.over?.();
      return false;
    }
    if (receiver.since <= waiting.number) this.#options.deliver(receiver, waiting.message);
    return true;
  }
}

import { type BudgetShare, SharedBudget } from "../limits/shared-budget.ts";
import { FairOrder } from "../turns/fair-order.ts";
import type { WorkConnection, WorkShare } from "../turns/work-connection.ts";

/** In the lanes of a service: senders are held, but they may have left. */
const mostWaitingBytes = 64 << 20;

interface HeldMessage {
  readonly sender: WorkConnection;
  readonly bytes: number;
  lose(): void;
}

interface Sender {
  readonly share: BudgetShare;
  readonly held: Set<HeldMessage>;
}

/** The memory of what waits in the lanes of a service. Beyond its bound the sender that has most loses messages, the newest first. */
export class BroadcastMemory {
  readonly #budget = new SharedBudget(mostWaitingBytes);
  readonly #senders = new Map<WorkConnection, Sender>();

  add(message: HeldMessage): void {
    const { sender, bytes } = message;
    const known = this.#senders.get(sender);
    const held = known?.held ?? new Set();
    const share = known?.share ?? this.#budget.open(sender.key, (excess) => this.#lose(held, excess));
    if (!known) this.#senders.set(sender, { share, held });
    held.add(message);
    share.add(bytes);
  }

  remove(message: HeldMessage): void {
    const { sender, bytes } = message;
    const of = this.#senders.get(sender);
    if (!of?.held.delete(message)) return;
    of.share.add(-bytes);
    if (of.held.size > 0) return;
    of.share.close();
    this.#senders.delete(sender);
  }

  #lose(held: ReadonlySet<HeldMessage>, excess: number): void {
    let left = excess;
    for (const message of [...held].reverse()) {
      if (left <= 0) return;
      left -= message.bytes;
      this.remove(message);
      message.lose();
    }
  }
}

export interface BroadcastOptions<Receiver, Message> {
  readonly memory: BroadcastMemory;
  /** Called when a message is first delivered: it is for those of that moment. */
  readonly receivers: (message: Message) => Iterable<Receiver>;
  /** `number` counts the messages of the lane from 0, in the order in which they were sent. */
  readonly deliver: (receiver: Receiver, message: Message, number: number) => void;
  /** Memory that a message takes while it waits. */
  readonly bytesOf: (message: Message) => number;
  /** Not all receivers get the message: too much waits. Its sender, which has most of it, is to be ended. Called in the turns of the sender. */
  readonly lost?: (message: Message) => void;
}

interface WaitingMessage<Message> extends HeldMessage {
  /** None once it is lost. */
  message: Message | undefined;
  readonly share: WorkShare;
  readonly number: number;
  bytes: number;
  whenOver: (() => void) | undefined;
  isOver: boolean;
}

const once = (act: () => void): Iterator<void, void> => ({ next: () => ({ done: true, value: act() }) });

/** What one sender has sent, the oldest first. */
interface SentMessages<Message> {
  readonly key: string;
  readonly waiting: WaitingMessage<Message>[];
}

/**
 * Messages for many, in the same order for all of them: those of one sender as they were sent, and senders take turns, by address and then by
 * connection. Each is delivered in the turns of its sender, so that nobody else waits for it.
 */
export class BroadcastLane<Receiver, Message> {
  /** How many messages were sent so far: the number of the next one. */
  sent = 0;
  readonly #options: BroadcastOptions<Receiver, Message>;
  /** It is being delivered: nothing comes before it any more. */
  #first: WaitingMessage<Message> | undefined;
  /** Of the first one: those that are still to get it. */
  #receivers: Iterator<Receiver> | undefined;
  readonly #order = new FairOrder<SentMessages<Message>>();
  readonly #ofSenders = new Map<WorkConnection, SentMessages<Message>>();

  constructor(options: BroadcastOptions<Receiver, Message>) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#first === undefined;
  }

  /** Undefined if all have it now; otherwise it resolves when they do, and its sender should be held meanwhile. */
  send(message: Message, sender: WorkConnection): Promise<void> | undefined {
    const waiting: WaitingMessage<Message> = {
      message,
      sender,
      share: sender.join(this.#deliver),
      number: this.sent++,
      bytes: 0,
      whenOver: undefined,
      isOver: false,
      lose: () => {
        waiting.message = undefined;
        queueMicrotask(() => void sender.run(once(() => this.#options.lost?.(message))));
      },
    };
    if (this.#first) this.#add(waiting);
    else {
      this.#first = waiting;
      this.#deliver();
    }
    if (waiting.isOver) return undefined;
    const { memory, bytesOf } = this.#options;
    const over = new Promise<void>((resolve) => {
      waiting.whenOver = resolve;
    });
    waiting.bytes = bytesOf(message);
    memory.add(waiting);
    return over;
  }

  #add(waiting: WaitingMessage<Message>): void {
    const { sender } = waiting;
    const known = this.#ofSenders.get(sender);
    if (known) {
      known.waiting.push(waiting);
      return;
    }
    const ofSender = { key: sender.key, waiting: [waiting] };
    this.#ofSenders.set(sender, ofSender);
    this.#order.add(ofSender);
  }

  #next(): WaitingMessage<Message> | undefined {
    const ofSender = this.#order.take();
    const next = ofSender?.waiting.shift();
    if (!ofSender || !next) return undefined;
    if (ofSender.waiting.length > 0) this.#order.add(ofSender);
    else this.#ofSenders.delete(next.sender);
    return next;
  }

  readonly #deliver = (): void => {
    for (let first = this.#first; first; first = this.#first) {
      if (first.share.isOver) {
        first.share.later();
        return;
      }
      this.#step(first);
    }
  };

  /** Delivers the first message to the next of its receivers. Without one it is over. */
  #step(first: WaitingMessage<Message>): void {
    const { deliver, receivers, memory } = this.#options;
    const { message, number } = first;
    if (message !== undefined) {
      this.#receivers ??= receivers(message)[Symbol.iterator]();
      const { done, value: receiver } = this.#receivers.next();
      if (!done) {
        deliver(receiver, message, number);
        return;
      }
    }
    this.#receivers = undefined;
    first.isOver = true;
    this.#first = this.#next();
    memory.remove(first);
    first.whenOver?.();
  }
}

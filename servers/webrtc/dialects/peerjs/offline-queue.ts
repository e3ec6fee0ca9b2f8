import { type BudgetShare, SharedBudget } from "../../../core/limits/shared-budget.ts";

export interface WaitingMessage {
  readonly src: string;
  /** As the client wrote it. */
  readonly text: Buffer;
}

export interface ExpiredMessage extends WaitingMessage {
  readonly dst: string;
  /** The last one of this sender for this client. */
  readonly isLast: boolean;
}

export interface OfflineQueueOptions {
  /** How long messages wait for a client that is not connected. */
  readonly holdMs: number;
  /** Of all clients. */
  readonly messages: number;
  /** Of memory: their texts and identifiers, and what waiting costs. */
  readonly bytes: number;
  /** Nobody has come, or more waits than may and its sender has most of it. */
  readonly onExpired: (expired: ExpiredMessage) => void;
}

interface Held extends WaitingMessage {
  readonly dst: string;
  readonly sender: Sender;
  readonly bytes: number;
  /** Of the budget. */
  readonly cost: number;
}

/** Of one that has messages waiting. */
interface Sender {
  readonly share: BudgetShare;
  /** Those that are not told of yet, the oldest first. */
  readonly held: Set<Held>;
  /** With those that have expired. */
  count: number;
}

interface Waiting {
  readonly messages: Set<Held>;
  readonly timer: NodeJS.Timeout;
}

/** Messages that are worked on in one turn of the event loop: tens of thousands may be due at once. */
const messagesPerTurn = 50;
/** What a message takes beside its text and its identifiers: its buffer, its places in the lists, and the timer of a client that nothing else waits for. */
const overheadBytes = 1_300;

/** Messages for clients that are about to connect. Where too many wait, those senders lose some that have most: by address, and then by client. */
export class OfflineQueue {
  readonly #options: OfflineQueueOptions;
  readonly #waiting = new Map<string, Waiting>();
  readonly #senders = new Map<string, Sender>();
  /** Of both limits: a message takes the part of the one of which it takes more. */
  readonly #budget: SharedBudget;
  /** They are told of in steps, and each is forgotten then. */
  #expired: ({ readonly message: Held; readonly isLast: boolean } | undefined)[] = [];
  #step: NodeJS.Immediate | undefined;
  #cost = 0;
  #bytes = 0;

  constructor(options: OfflineQueueOptions) {
    this.#options = options;
    this.#budget = new SharedBudget(options.messages * options.bytes, 0);
  }

  /** Of memory, at most. */
  get heldBytes(): number {
    return this.#bytes;
  }

  /** `address` is that of its sender. */
  add(dst: string, src: string, text: Buffer, address: string): void {
    const { holdMs, messages, bytes: mostBytes } = this.#options;
    const bytes = bytesOf(dst, { src, text });
    const sender = this.#senderOf(src, address);
    // As it came it is a part of what was read from the socket at once, all of which would be kept.
    const own = Buffer.allocUnsafeSlow(text.length);
    text.copy(own);
    const message: Held = { dst, src, text: own, sender, bytes, cost: Math.max(1, mostBytes, bytes * messages) };
    let waiting = this.#waiting.get(dst);
    if (!waiting) {
      waiting = { messages: new Set(), timer: setTimeout(() => this.#expire(dst), holdMs) };
      this.#waiting.set(dst, waiting);
    }
    waiting.messages.add(message);
    sender.held.add(message);
    sender.count++;
    this.#bytes += bytes;
    this.#cost += message.cost;
    sender.share.add(message.cost);
    // All that waits may be what is still to be told of.
    if (this.#cost > messages * mostBytes && sender.held.has(message)) this.#lose(message);
  }

  #senderOf(src: string, address: string): Sender {
    const known = this.#senders.get(src);
    if (known) return known;
    const held = new Set<Held>();
    const share = this.#budget.open(address, (excess) => {
      let left = excess;
      for (const message of [...held].reverse()) {
        if (left <= 0) return;
        left -= message.cost;
        this.#lose(message);
      }
    });
    const sender = { share, held, count: 0 };
    this.#senders.set(src, sender);
    return sender;
  }

  #lose(message: Held): void {
    const { dst, src, text } = message;
    const waiting = this.#waiting.get(dst);
    waiting?.messages.delete(message);
    if (waiting?.messages.size === 0) this.#forget(dst, waiting);
    this.#released(message);
    this.#options.onExpired({ dst, src, text, isLast: true });
  }

  /** Whether messages wait for it. Until there are none, those that follow have to wait too. */
  has(dst: string): boolean {
    return this.#waiting.has(dst);
  }

  /** The client is there: the next one, in the order in which they came. */
  take(dst: string): WaitingMessage | undefined {
    const waiting = this.#waiting.get(dst);
    const [message] = waiting?.messages ?? [];
    if (!waiting || !message) return undefined;
    waiting.messages.delete(message);
    if (waiting.messages.size > 0) waiting.timer.refresh();
    else this.#forget(dst, waiting);
    this.#released(message);
    return { src: message.src, text: message.text };
  }

  #forget(dst: string, { timer }: Waiting): void {
    clearTimeout(timer);
    this.#waiting.delete(dst);
  }

  #released(message: Held): void {
    const { src, sender, bytes, cost } = message;
    this.#bytes -= bytes;
    this.#cost -= cost;
    sender.held.delete(message);
    sender.share.add(-cost);
    if (--sender.count > 0) return;
    sender.share.close();
    this.#senders.delete(src);
  }

  /** They count until they are told of. */
  #expire(dst: string): void {
    const waiting = this.#waiting.get(dst);
    if (!waiting) return;
    this.#forget(dst, waiting);
    for (const messages of Map.groupBy(waiting.messages, ({ src }) => src).values())
      for (const [index, message] of messages.entries()) {
        message.sender.held.delete(message);
        this.#expired.push({ message, isLast: index === messages.length - 1 });
      }
    this.#step ??= setImmediate(() => this.#tellExpired(0));
  }

  #tellExpired(from: number): void {
    const end = from + messagesPerTurn;
    for (const [index, expired] of this.#expired.slice(from, end).entries()) {
      if (!expired) continue;
      this.#expired[from + index] = undefined;
      const { message, isLast } = expired;
      const { dst, src, text } = message;
      this.#released(message);
      this.#options.onExpired({ dst, src, text, isLast });
    }
    if (end < this.#expired.length) {
      this.#step = setImmediate(() => this.#tellExpired(end));
      return;
    }
    this.#expired = [];
    this.#step = undefined;
  }

  close(): void {
    clearImmediate(this.#step);
    for (const [dst, waiting] of this.#waiting) this.#forget(dst, waiting);
  }
}

const bytesOf = (dst: string, { src, text }: WaitingMessage): number => overheadBytes + text.length + 2 * (dst.length + src.length);

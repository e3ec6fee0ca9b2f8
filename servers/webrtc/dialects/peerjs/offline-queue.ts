export interface ExpiredMessage<Message> {
  readonly dst: string;
  readonly src: string;
  readonly message: Message;
  /** The last one of this sender for this client. */
  readonly isLast: boolean;
}

export interface OfflineQueueOptions<Message> {
  /** How long messages wait for a client that is not connected. */
  readonly holdMs: number;
  /** Of all clients. */
  readonly messages: number;
  readonly bytes: number;
  /** Nobody has come. */
  readonly onExpired: (expired: ExpiredMessage<Message>) => void;
}

interface Waiting<Message> {
  readonly messages: { readonly src: string; readonly message: Message; readonly bytes: number }[];
  readonly timer: NodeJS.Timeout;
}

/** Messages that are worked on in one turn of the event loop: tens of thousands may be due at once. */
const messagesPerTurn = 50;

/** Messages for clients that are about to connect. */
export class OfflineQueue<Message> {
  readonly #options: OfflineQueueOptions<Message>;
  readonly #waiting = new Map<string, Waiting<Message>>();
  /** They are told of in steps. */
  #expired: ExpiredMessage<Message>[] = [];
  #step: NodeJS.Immediate | undefined;
  #messages = 0;
  #bytes = 0;

  constructor(options: OfflineQueueOptions<Message>) {
    this.#options = options;
  }

  /** Without room for it, it expires at once. */
  add(dst: string, src: string, message: Message, bytes: number): void {
    const { holdMs, onExpired } = this.#options;
    if (this.#messages >= this.#options.messages || this.#bytes + bytes > this.#options.bytes) {
      onExpired({ dst, src, message, isLast: true });
      return;
    }
    let waiting = this.#waiting.get(dst);
    if (!waiting) {
      waiting = { messages: [], timer: setTimeout(() => this.#expire(dst), holdMs) };
      this.#waiting.set(dst, waiting);
    }
    waiting.messages.push({ src, message, bytes });
    this.#messages++;
    this.#bytes += bytes;
  }

  /** Whether messages wait for it. Until there are none, those that follow have to wait too. */
  has(dst: string): boolean {
    return this.#waiting.has(dst);
  }

  /** The client is there: as many as one turn allows, in the order in which they came. */
  take(dst: string): readonly { readonly src: string; readonly message: Message }[] {
    return this.#take(dst, messagesPerTurn);
  }

  #take(dst: string, most: number) {
    const waiting = this.#waiting.get(dst);
    if (!waiting) return [];
    const taken = waiting.messages.splice(0, most);
    if (waiting.messages.length > 0) waiting.timer.refresh();
    else {
      clearTimeout(waiting.timer);
      this.#waiting.delete(dst);
    }
    this.#messages -= taken.length;
    for (const { bytes } of taken) this.#bytes -= bytes;
    return taken;
  }

  #expire(dst: string): void {
    for (const [src, messages] of Map.groupBy(this.#take(dst, Number.POSITIVE_INFINITY), (waiting) => waiting.src))
      for (const [index, { message }] of messages.entries())
        this.#expired.push({ dst, src, message, isLast: index === messages.length - 1 });
    this.#step ??= setImmediate(() => this.#tellExpired(0));
  }

  #tellExpired(from: number): void {
    const end = from + messagesPerTurn;
    for (const expired of this.#expired.slice(from, end)) this.#options.onExpired(expired);
    if (end < this.#expired.length) {
      this.#step = setImmediate(() => this.#tellExpired(end));
      return;
    }
    this.#expired = [];
    this.#step = undefined;
  }

  close(): void {
    clearImmediate(this.#step);
    for (const dst of [...this.#waiting.keys()]) this.#take(dst, Number.POSITIVE_INFINITY);
  }
}

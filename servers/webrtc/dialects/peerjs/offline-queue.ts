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
  /** Nobody has come. */
  readonly onExpired: (expired: ExpiredMessage) => void;
}

interface Waiting {
  readonly messages: WaitingMessage[];
  readonly timer: NodeJS.Timeout;
}

/** Messages that are worked on in one turn of the event loop: tens of thousands may be due at once. */
const messagesPerTurn = 50;
/** What a message takes beside its text and its identifiers: its buffer, its places in the lists, and the timer of a client that nothing else waits for. */
const overheadBytes = 1_300;

/** Messages for clients that are about to connect. */
export class OfflineQueue {
  readonly #options: OfflineQueueOptions;
  readonly #waiting = new Map<string, Waiting>();
  /** They are told of in steps, and each is forgotten then. */
  #expired: (ExpiredMessage | undefined)[] = [];
  #step: NodeJS.Immediate | undefined;
  #messages = 0;
  #bytes = 0;

  constructor(options: OfflineQueueOptions) {
    this.#options = options;
  }

  /** Of memory, at most. */
  get heldBytes(): number {
    return this.#bytes;
  }

  /** Without room for it, it expires at once. */
  add(dst: string, src: string, text: Buffer): void {
    const { holdMs, onExpired } = this.#options;
    const bytes = bytesOf(dst, { src, text });
    if (this.#messages >= this.#options.messages || this.#bytes + bytes > this.#options.bytes) {
      onExpired({ dst, src, text, isLast: true });
      return;
    }
    let waiting = this.#waiting.get(dst);
    if (!waiting) {
      waiting = { messages: [], timer: setTimeout(() => this.#expire(dst), holdMs) };
      this.#waiting.set(dst, waiting);
    }
    // As it came it is a part of what was read from the socket at once, all of which would be kept.
    const own = Buffer.allocUnsafeSlow(text.length);
    text.copy(own);
    waiting.messages.push({ src, text: own });
    this.#messages++;
    this.#bytes += bytes;
  }

  /** Whether messages wait for it. Until there are none, those that follow have to wait too. */
  has(dst: string): boolean {
    return this.#waiting.has(dst);
  }

  /** The client is there: the next one, in the order in which they came. */
  take(dst: string): WaitingMessage | undefined {
    const waiting = this.#waiting.get(dst);
    const message = waiting?.messages.shift();
    if (!waiting || !message) return undefined;
    if (waiting.messages.length > 0) waiting.timer.refresh();
    else this.#forget(dst, waiting);
    this.#released(dst, message);
    return message;
  }

  #forget(dst: string, { timer }: Waiting): void {
    clearTimeout(timer);
    this.#waiting.delete(dst);
  }

  #released(dst: string, message: WaitingMessage): void {
    this.#messages--;
    this.#bytes -= bytesOf(dst, message);
  }

  /** They count until they are told of. */
  #expire(dst: string): void {
    const waiting = this.#waiting.get(dst);
    if (!waiting) return;
    this.#forget(dst, waiting);
    for (const messages of Map.groupBy(waiting.messages, ({ src }) => src).values())
      for (const [index, { src, text }] of messages.entries())
        this.#expired.push({ dst, src, text, isLast: index === messages.length - 1 });
    this.#step ??= setImmediate(() => this.#tellExpired(0));
  }

  #tellExpired(from: number): void {
    const end = from + messagesPerTurn;
    for (const [index, expired] of this.#expired.slice(from, end).entries()) {
      if (!expired) continue;
      this.#expired[from + index] = undefined;
      this.#released(expired.dst, expired);
      this.#options.onExpired(expired);
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

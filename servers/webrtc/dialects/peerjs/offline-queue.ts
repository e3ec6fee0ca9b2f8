export interface OfflineQueueOptions<Message> {
  /** How long messages wait for a client that is not connected. */
  readonly holdMs: number;
  /** Of all clients. */
  readonly messages: number;
  readonly bytes: number;
  /** Nobody has come: once for each sender. */
  readonly onExpired: (dst: string, src: string, messages: readonly Message[]) => void;
}

interface Waiting<Message> {
  readonly messages: { readonly src: string; readonly message: Message; readonly bytes: number }[];
  readonly timer: NodeJS.Timeout;
}

/** Messages for clients that are about to connect. */
export class OfflineQueue<Message> {
  readonly #options: OfflineQueueOptions<Message>;
  readonly #waiting = new Map<string, Waiting<Message>>();
  #messages = 0;
  #bytes = 0;

  constructor(options: OfflineQueueOptions<Message>) {
    this.#options = options;
  }

  /** Without room for it, it expires at once. */
  add(dst: string, src: string, message: Message, bytes: number): void {
    const { holdMs, onExpired } = this.#options;
    if (this.#messages >= this.#options.messages || this.#bytes + bytes > this.#options.bytes) {
      onExpired(dst, src, [message]);
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

  /** The client is there. In the order in which they came. */
  take(dst: string): readonly { readonly src: string; readonly message: Message }[] {
    const waiting = this.#waiting.get(dst);
    if (!waiting) return [];
    clearTimeout(waiting.timer);
    this.#waiting.delete(dst);
    this.#messages -= waiting.messages.length;
    for (const { bytes } of waiting.messages) this.#bytes -= bytes;
    return waiting.messages;
  }

  #expire(dst: string): void {
    for (const [src, expired] of Map.groupBy(this.take(dst), (waiting) => waiting.src))
      this.#options.onExpired(
        dst,
        src,
        expired.map(({ message }) => message),
      );
  }

  close(): void {
    for (const dst of [...this.#waiting.keys()]) this.take(dst);
  }
}

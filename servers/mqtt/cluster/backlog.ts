import { isLater, type Received } from "./journal.ts";

/**
 * Bytes that all brokers together may have on the way. Redis disconnects a reader that is 8 MB behind for a minute, or 32 MB at all
 * (`client-output-buffer-limit pubsub`).
 */
const allBytes = 6 << 20;
/** Of one broker, however many there are. */
const leastBytes = 1 << 20;
const pollMs = 20;
/** A broker that neither reads nor dies is not waited for longer. */
const patienceMs = 10_000;

export interface BacklogOptions {
  /** Bytes that are queued here, or were sent and not received back; and of sessions, those that Redis has not taken. */
  readonly sentBytes: () => number;
  readonly brokers: () => number;
  readonly isConnected: () => boolean;
  /** Positions in the journal of all living brokers. Rejects without Redis. */
  readonly positions: () => Promise<readonly string[]>;
}

/** Frames of this broker that other brokers have not read. Publishers wait while there are too many bytes of them. */
export class Backlog {
  private frames: { readonly id: string; readonly bytes: number }[] = [];
  private bytes = 0;
  /** Of frames that are not in the journal: read when the next one is. */
  private unnumbered = 0;
  private waiting: (() => void)[] = [];
  private timer: NodeJS.Timeout | undefined = undefined;
  private progressAt = 0;
  private readonly options: BacklogOptions;

  constructor(options: BacklogOptions) {
    this.options = options;
  }

  private get limit(): number {
    return Math.max(leastBytes, allBytes / this.options.brokers());
  }

  get isAbove(): boolean {
    return this.options.isConnected() && this.bytes + this.options.sentBytes() > this.limit;
  }

  /** A frame of this broker came back. */
  received({ id }: Pick<Received, "id">, bytes: number): void {
    this.progressAt = performance.now();
    this.unnumbered += bytes;
    if (id !== "") {
      this.frames.push({ id, bytes: this.unnumbered });
      this.bytes += this.unnumbered;
      this.unnumbered = 0;
    }
    this.settle();
  }

  /** Redis has taken some of what was sent. */
  taken(): void {
    this.settle();
  }

  /** `resume` is called when there is room, or Redis is lost. */
  whenBelow(resume: () => void): void {
    if (this.waiting.length === 0) this.progressAt = performance.now();
    this.waiting.push(resume);
    this.settle();
  }

  /** Redis is lost, or this broker has a new name. */
  clear(): void {
    this.frames = [];
    this.bytes = this.unnumbered = 0;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.resume();
  }

  private settle(): void {
    if (this.waiting.length > 0 && !this.isAbove) this.resume();
    if (this.bytes > this.limit / 2 && this.options.isConnected()) this.timer ??= setTimeout(() => void this.poll(), pollMs);
    else if (this.waiting.length > 0) this.timer ??= setTimeout(() => void this.poll(), pollMs);
  }

  private resume(): void {
    const { waiting } = this;
    this.waiting = [];
    for (const resume of waiting) resume();
  }

  private async poll(): Promise<void> {
    try {
      this.passed(await this.options.positions());
    } catch {
      // The connection's end is noticed elsewhere.
    }
    this.timer = undefined;
    if (performance.now() - this.progressAt > patienceMs) this.clear();
    this.settle();
  }

  private passed(positions: readonly string[]): void {
    let count = 0;
    for (const { id, bytes } of this.frames) {
      if (positions.some((position) => isLater(id, position))) break;
      this.bytes -= bytes;
      count++;
    }
    if (count === 0) return;
    this.frames = this.frames.slice(count);
    this.progressAt = performance.now();
  }
}

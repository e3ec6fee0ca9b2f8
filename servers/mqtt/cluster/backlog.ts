import { FairOrder } from "../../core/turns/fair-order.ts";
import type { WaitingClient } from "../engine/cluster-link.ts";
import { isLater, type Received } from "./journal.ts";

/**
 * Bytes that all brokers together may have on the way. Redis disconnects a reader that is 8 MB behind for a minute, or 32 MB at all
 * (`client-output-buffer-limit pubsub`).
 */
const allBytes = 6 << 20;
/** Of one broker, however many there are. */
const leastBytes = 1 << 20;
/** Of what sessions keep and Redis has not taken: it takes some milliseconds for the deliveries of so many, and what is written to clients waits for it (`CommitGate`). */
export const mostUntakenBytes = 32 << 10;
const pollMs = 20;
/** Who waits and may go on acts a moment later: only then it is known whether there is room for the next ones. */
const resumedAtOnce = 8;
/** With those whose clients have left, who may be thousands. */
const lookedAtOnce = 500;
/** Another broker that is behind says it again before. */
const askedMs = 2_000;
/** For some time after that there may be fewer bytes between this broker and Redis: what is on the way is for thousands when another one says that it is behind. */
const wary = { ms: 30_000, bytes: 32 << 10 };
/** A broker that neither reads nor dies is not waited for longer. */
const patienceMs = 10_000;

export interface BacklogOptions {
  /** Bytes that are queued here, or were sent and not received back. */
  readonly sentBytes: () => number;
  /** Of sessions, those that clients of this broker have caused and Redis has not taken. */
  readonly untakenBytes: () => number;
  readonly brokers: () => number;
  readonly isConnected: () => boolean;
  /** Positions in the journal of all living brokers. Rejects without Redis. */
  readonly positions: () => Promise<readonly string[]>;
}

interface Waiting {
  /** Of the client's address; the broker's own is empty. */
  readonly key: string;
  readonly client: WaitingClient | undefined;
  readonly resume: () => void;
}

/**
 * Frames of this broker that other brokers have not read, and what Redis has not taken. Publishers wait while there are too many bytes of them, or while
 * another broker says that it has too much to deliver (`Arrears`). Their addresses take turns: one may have thousands that wait.
 */
export class Backlog {
  private frames: { readonly id: string; readonly bytes: number }[] = [];
  private bytes = 0;
  /** Of frames that are not in the journal: read when the next one is. */
  private unnumbered = 0;
  private readonly waiting = new FairOrder<Waiting>();
  private resumesLater = false;
  private timer: NodeJS.Timeout | undefined = undefined;
  private progressAt = 0;
  /** Other brokers that are behind: until then, if they do not say it again. */
  private readonly asked = new Map<string, number>();
  private waryUntil = 0;
  private readonly options: BacklogOptions;

  constructor(options: BacklogOptions) {
    this.options = options;
  }

  private get limit(): number {
    return Math.max(leastBytes, allBytes / this.options.brokers());
  }

  get isAbove(): boolean {
    const { isConnected, sentBytes, untakenBytes } = this.options;
    if (!isConnected()) return false;
    const sent = sentBytes();
    return this.bytes + sent > this.limit || untakenBytes() > mostUntakenBytes || (this.waryUntil > 0 && this.isAsked(sent));
  }

  private isAsked(sentBytes: number): boolean {
    const now = performance.now();
    if (now >= this.waryUntil) this.waryUntil = 0;
    else if (sentBytes > wary.bytes) return true;
    for (const [broker, until] of this.asked) if (until < now) this.asked.delete(broker);
    return this.asked.size > 0;
  }

  /** The other broker has much to deliver of what this one sent, or not any more. */
  told(broker: string, isBehind: boolean): void {
    const now = performance.now();
    this.waryUntil = now + wary.ms;
    if (isBehind) this.asked.set(broker, now + askedMs);
    else this.asked.delete(broker);
    this.progressAt = now;
    this.settle();
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
    this.progressAt = performance.now();
    this.settle();
  }

  /** `resume` is called when there is room, or Redis is lost: it may publish then, whether others were faster or not. For the broker itself without a client. */
  whenBelow(resume: () => void, client?: WaitingClient): void {
    if (this.waiting.size === 0) this.progressAt = performance.now();
    this.waiting.add({ key: client?.key ?? "", client, resume });
    this.settle();
  }

  /** Redis is lost, or this broker has a new name. */
  clear(): void {
    this.frames = [];
    this.bytes = this.unnumbered = 0;
    this.asked.clear();
    clearTimeout(this.timer);
    this.timer = undefined;
    this.resume();
  }

  private settle(): void {
    if (this.waiting.size > 0 && !this.isAbove) this.resumeSome();
    if (this.bytes > this.limit / 2 && this.options.isConnected()) this.timer ??= setTimeout(() => void this.poll(), pollMs);
    else if (this.waiting.size > 0) this.timer ??= setTimeout(() => void this.poll(), pollMs);
  }

  private resume(): void {
    const waiting: Waiting[] = [];
    for (let next = this.waiting.take(); next; next = this.waiting.take()) waiting.push(next);
    for (const { resume } of waiting) resume();
  }

  /** Of each address those that have waited longest, even if others leave no room until they act. */
  private resumeSome(): void {
    if (this.resumesLater) return;
    for (let room = resumedAtOnce, looked = 0; room > 0 && looked < lookedAtOnce; looked++) {
      const next = this.waiting.take();
      if (!next) return;
      // Who has left publishes nothing.
      if (!next.client?.hasLeft()) room--;
      next.resume();
    }
    if (this.waiting.size === 0) return;
    this.resumesLater = true;
    setImmediate(() => {
      this.resumesLater = false;
      this.settle();
    });
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

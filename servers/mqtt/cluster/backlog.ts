import { isLater } from "./journal.ts";

/**
 * Bytes that all brokers together may have on the way. Redis disconnects a reader that is 8 MB behind for a minute, or 32 MB at all
 * (`client-output-buffer-limit pubsub`).
 */
const allBytes = 6 << 20;
/** Of one broker, however many there are. */
const leastBytes = 1 << 20;
/** The same in entries: until it is known how many the others have room for, at least, and where none of them says. */
const entriesAhead = { first: 32, least: 2, most: 1_024 };
/** Of what sessions keep and Redis has not taken: it takes some milliseconds for the deliveries of so many, and what is written to clients waits for it (`CommitGate`). */
export const mostUntakenBytes = 32 << 10;
const pollMs = 5;
/** Who waits and may go on acts a moment later: only then it is known whether there is room for the next ones. */
const resumedAtOnce = 8;
/** A broker that neither reads nor dies is not waited for longer. */
const patienceMs = 10_000;

/** How far another broker has applied the journal. */
export interface BrokerPlace {
  readonly id: string;
  /** So many entries of all others may wait there (`Pace`). Undefined while it joins. */
  readonly room: number | undefined;
}

export interface BacklogOptions {
  /** Bytes that are queued here, or were sent and not received back. */
  readonly sentBytes: () => number;
  /** Entries of them. */
  readonly sentEntries: () => number;
  /** The next frame that is sent is in the journal. */
  readonly mark: () => void;
  /** Of sessions, those that clients of this broker have caused and Redis has not taken. */
  readonly untakenBytes: () => number;
  readonly brokers: () => number;
  readonly isConnected: () => boolean;
  /** Of the others that live. Rejects without Redis. */
  readonly places: () => Promise<readonly BrokerPlace[]>;
}

/**
 * Frames of this broker that other brokers have not applied, and what Redis has not taken. Publishers wait while there are too many bytes of them, or more
 * entries than each of the others applies in a moment: one message may be for thousands of sessions there, and all that is published, and sessions that
 * move, come behind it.
 */
export class Backlog {
  /** `entries`: of all frames up to this one. */
  private frames: { readonly id: string; readonly bytes: number; readonly entries: number }[] = [];
  private bytes = 0;
  /** Of all frames that came back. */
  private entries = 0;
  /** Of those that all brokers have applied. */
  private passedEntries = 0;
  /** So many there may be of all frames, and `share` of them that not all brokers have applied. */
  private edge = entriesAhead.first;
  private share = entriesAhead.first;
  /** Of frames that are not in the journal: applied when the next one is. */
  private unnumbered = { frames: 0, bytes: 0 };
  private isMarked = false;
  private waiting: (() => void)[] = [];
  private resumesLater = false;
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
    const { isConnected, sentBytes, untakenBytes } = this.options;
    return isConnected() && (this.bytes + sentBytes() > this.limit || this.left <= 0 || untakenBytes() > mostUntakenBytes);
  }

  /** Entries that may be sent. */
  private get left(): number {
    return this.edge - this.entries - this.options.sentEntries();
  }

  /** A frame of this broker came back; `id` is empty if it is not in the journal. */
  received(id: string, bytes: number, entries: number): void {
    this.progressAt = performance.now();
    this.bytes += bytes;
    this.entries += entries;
    const { unnumbered } = this;
    if (id === "") this.unnumbered = { frames: unnumbered.frames + 1, bytes: unnumbered.bytes + bytes };
    else {
      this.frames.push({ id, bytes: unnumbered.bytes + bytes, entries: this.entries });
      this.unnumbered = { frames: 0, bytes: 0 };
      this.isMarked = false;
    }
    this.settle();
  }

  /** Redis has taken some of what was sent. */
  taken(): void {
    this.progressAt = performance.now();
    this.settle();
  }

  /** `resume` is called when there is room, or Redis is lost: it may publish then, whether others were faster or not. */
  whenBelow(resume: () => void): void {
    if (this.waiting.length === 0) this.progressAt = performance.now();
    this.waiting.push(resume);
    this.settle();
  }

  /** Redis is lost, or this broker has a new name. */
  clear(): void {
    this.frames = [];
    this.bytes = 0;
    this.unnumbered = { frames: 0, bytes: 0 };
    this.isMarked = false;
    this.passedEntries = this.entries;
    this.share = entriesAhead.first;
    this.edge = this.entries + this.share;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.resume();
  }

  private settle(): void {
    if (this.waiting.length > 0 && !this.isAbove) this.resumeSome();
    const isNear = this.bytes > this.limit / 2 || this.left < this.share / 2;
    if ((isNear && this.options.isConnected()) || this.waiting.length > 0) this.timer ??= setTimeout(() => void this.poll(), pollMs);
  }

  private resume(): void {
    const { waiting } = this;
    this.waiting = [];
    for (const resume of waiting) resume();
  }

  /** Those that have waited longest, even if others leave no room until they act. */
  private resumeSome(): void {
    if (this.resumesLater) return;
    for (const resume of this.waiting.splice(0, Math.min(resumedAtOnce, this.left))) resume();
    if (this.waiting.length === 0) return;
    this.resumesLater = true;
    setImmediate(() => {
      this.resumesLater = false;
      this.settle();
    });
  }

  private async poll(): Promise<void> {
    if (this.unnumbered.frames > 0 && !this.isMarked) {
      this.isMarked = true;
      this.options.mark();
    }
    try {
      this.passed(await this.options.places());
    } catch {
      // The connection's end is noticed elsewhere.
    }
    this.timer = undefined;
    if (performance.now() - this.progressAt > patienceMs) this.clear();
    this.settle();
  }

  private passed(places: readonly BrokerPlace[]): void {
    let count = 0;
    for (const { id, bytes, entries } of this.frames) {
      if (places.some((place) => isLater(id, place.id))) break;
      this.bytes -= bytes;
      this.passedEntries = entries;
      count++;
    }
    if (count > 0) {
      this.frames = this.frames.slice(count);
      this.progressAt = performance.now();
    }
    this.share = entriesAhead.most;
    this.edge = this.entries + this.share;
    for (const { id, room } of places) {
      if (room === undefined) continue;
      const share = Math.max(entriesAhead.least, Math.floor(room / Math.max(1, this.options.brokers() - 1)));
      this.share = Math.min(this.share, share);
      this.edge = Math.min(this.edge, this.appliedBy(id) + share);
    }
  }

  /** Entries of this broker that were applied where that position is. */
  private appliedBy(position: string): number {
    const next = this.frames.findIndex(({ id }) => isLater(id, position));
    return (next < 0 ? this.frames.at(-1) : this.frames[next - 1])?.entries ?? this.passedEntries;
  }
}

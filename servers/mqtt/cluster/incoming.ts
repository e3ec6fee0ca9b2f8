import { PacketError } from "../codec/reason-code.ts";
import type { Message } from "../engine/routing/message.ts";
import { type DecodedFrame, decodeFrame, type Entry } from "./frame.ts";
import { firstJournalId, isLater, type Received } from "./journal.ts";
import type { StateAt } from "./session-fields.ts";

export interface IncomingOptions {
  readonly onEntry: (entry: Entry, from: string) => void;
  /** Called after the entries of every new frame, own ones included. */
  readonly onFrame: (received: Received, bytes: number) => void;
  /** An invalid frame, or one with invalid entries. */
  readonly onBroken: (count: number) => void;
}

/** Frames of all brokers in the order of Redis, each once. */
export class Incoming {
  /** Everything up to here was applied. */
  position = firstJournalId;
  /** Of all frames that were applied. */
  bytes = 0;
  /** Number of the last frame, by broker. */
  private readonly lastSeq = new Map<string, number>();
  /** Frames held while older ones are read from the journal. */
  private held: { readonly id: string; readonly bytes: Buffer }[] | undefined = [];
  /** Ignored while Redis is partly lost: such frames are read from the journal later. */
  private deaf = false;
  private readonly recordings = new Set<Received[]>();
  private waiting: { readonly id: string; readonly resolve: () => void }[] = [];
  private readonly options: IncomingOptions;

  constructor(options: IncomingOptions) {
    this.options = options;
  }

  hold(): void {
    this.deaf = false;
    this.held = [];
  }

  release(): void {
    const held = this.held ?? [];
    this.held = undefined;
    for (const { id, bytes } of held) this.take(id, bytes);
  }

  /** A frame from the channel. */
  receive(id: string, bytes: Buffer): void {
    if (this.deaf) return;
    if (this.held) this.held.push({ id, bytes });
    else this.take(id, bytes);
  }

  /** A frame from the journal; applied even while others are held. */
  take(id: string, bytes: Buffer): void {
    // A broker that joins writes this marker.
    const frame = bytes.length === 0 ? undefined : this.decode(bytes);
    this.bytes += bytes.length;
    const isNew = frame !== undefined && frame.seq > (this.lastSeq.get(frame.from) ?? 0);
    if (frame && isNew) {
      this.lastSeq.set(frame.from, frame.seq);
      if (frame.broken > 0) this.options.onBroken(frame.broken);
      // Requests are answered after the whole frame was applied.
      for (const entry of frame.entries) if (!isQuestion(entry)) this.options.onEntry(entry, frame.from);
    }
    if (id !== "" && isLater(id, this.position)) this.position = id;
    if (frame && isNew) {
      const received = { id, frame };
      if (id !== "") for (const recording of this.recordings) recording.push(received);
      this.options.onFrame(received, bytes.length);
      for (const entry of frame.entries) if (isQuestion(entry)) this.options.onEntry(entry, frame.from);
    }
    this.wake();
  }

  private decode(bytes: Buffer): DecodedFrame | undefined {
    try {
      return decodeFrame(bytes);
    } catch (error) {
      if (!(error instanceof PacketError)) throw error;
      this.options.onBroken(1);
      return undefined;
    }
  }

  /** Resolves once everything up to there was applied. */
  reached(id: string): Promise<void> | undefined {
    if (!isLater(id, this.position)) return undefined;
    return new Promise((resolve) => this.waiting.push({ id, resolve }));
  }

  private wake(): void {
    if (this.waiting.length === 0) return;
    const done = this.waiting.filter(({ id }) => !isLater(id, this.position));
    if (done.length === 0) return;
    this.waiting = this.waiting.filter((one) => !done.includes(one));
    for (const { resolve } of done) resolve();
  }

  /** Applies nothing until `hold`; pending waits are resolved. */
  lost(): void {
    this.deaf = true;
    const { waiting } = this;
    this.waiting = [];
    for (const { resolve } of waiting) resolve();
  }

  /** Collects the frames that are applied from now on, until it is stopped. */
  record(): { readonly frames: readonly Received[]; stop(): void } {
    const frames: Received[] = [];
    this.recordings.add(frames);
    return { frames, stop: () => this.recordings.delete(frames) };
  }
}

const isQuestion = ({ type }: Entry): boolean => type === "wanted" || type === "surrendered" || type === "left";

/** The messages in ordered frames that a session has not seen; each frame once. */
export function missedMessages(frames: readonly Received[], at: StateAt, upTo: string): Message[] {
  const seen = new Set<string>();
  const missed: Message[] = [];
  for (const { id, frame } of frames) {
    const { from, seq } = frame;
    const key = `${seq} ${from}`;
    if (seen.has(key) || !isLater(id, at.id) || isLater(id, upTo) || (from === at.from && seq <= at.seq)) continue;
    seen.add(key);
    for (const entry of frame.entries) if (entry.type === "message" && entry.routed) missed.push(entry.message);
  }
  return missed;
}

import { PacketError } from "../codec/reason-code.ts";
import type { Message } from "../engine/routing/message.ts";
import { type DecodedFrame, decodeFrame, type Entry } from "./frame.ts";
import { firstJournalId, isLater } from "./journal.ts";
import type { StateAt } from "./session-fields.ts";

export interface Received {
  /** In the journal; empty where it is not there. */
  readonly id: string;
  readonly frame: DecodedFrame;
}

export interface IncomingOptions {
  readonly onEntry: (entry: Entry, from: string) => void;
  /** Every frame that is new, own ones too, after its entries. */
  readonly onFrame: (received: Received) => void;
  /** Not a frame, or one with entries that are none. */
  readonly onBroken: (count: number) => void;
}

/** Frames of all brokers in the one order that Redis gives them, each once. */
export class Incoming {
  /** All up to here was taken. */
  position = firstJournalId;
  /** By broker, the number of its last frame. */
  private readonly lastSeq = new Map<string, number>();
  /** Frames wait here while older ones are read from the journal. */
  private held: { readonly id: string; readonly bytes: Buffer }[] | undefined = [];
  /** What comes while Redis is half lost is in the journal. */
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

  /** As it comes over the channel. */
  receive(id: string, bytes: Buffer): void {
    if (this.deaf) return;
    if (this.held) this.held.push({ id, bytes });
    else this.take(id, bytes);
  }

  /** Held or not: a frame that was read from the journal. */
  take(id: string, bytes: Buffer): void {
    // What a broker leaves there when it comes.
    const frame = bytes.length === 0 ? undefined : this.decode(bytes);
    const isNew = frame !== undefined && frame.seq > (this.lastSeq.get(frame.from) ?? 0);
    if (frame && isNew) {
      this.lastSeq.set(frame.from, frame.seq);
      if (frame.broken > 0) this.options.onBroken(frame.broken);
      // What is asked of a broker is answered with all of the frame taken.
      for (const entry of frame.entries) if (!isQuestion(entry)) this.options.onEntry(entry, frame.from);
    }
    if (id !== "" && isLater(id, this.position)) this.position = id;
    if (frame && isNew) {
      const received = { id, frame };
      if (id !== "") for (const recording of this.recordings) recording.push(received);
      this.options.onFrame(received);
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

  /** Resolves once everything up to there was taken. */
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

  /** Until `hold` nothing is taken; who waits would wait for ever. */
  lost(): void {
    this.deaf = true;
    const { waiting } = this;
    this.waiting = [];
    for (const { resolve } of waiting) resolve();
  }

  /** Frames of the journal that are taken from now on, until it is stopped. */
  record(): { readonly frames: readonly Received[]; stop(): void } {
    const frames: Received[] = [];
    this.recordings.add(frames);
    return { frames, stop: () => this.recordings.delete(frames) };
  }
}

const isQuestion = ({ type }: Entry): boolean => type === "wanted" || type === "surrendered" || type === "left";

/** Of frames in order, those messages that a session has not seen; each frame once. */
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

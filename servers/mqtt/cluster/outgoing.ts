import type { Message } from "../engine/routing/message.ts";
import { type Entry, encodeFrame, isDurable } from "./frame.ts";

export interface OutFrame {
  readonly seq: number;
  readonly entries: readonly Entry[];
  readonly bytes: Buffer;
  readonly durable: boolean;
  /** Clients were told that it is taken on, before it was known to be in Redis. */
  promised: boolean;
}

/** Of frames whose echo has not come: above this QoS 0 is not shared, and without Redis nothing more is kept for it. */
const waitingBytes = 32 << 20;

/** Of messages in a frame with more than one. */
const frameBytes = 4 << 20;

/** What this broker has to tell, and what it told and has not heard back yet. */
export class Outgoing {
  private entries: Entry[] = [];
  /** Where among them the last retained message stands. */
  private keptAt = -1;
  private seq = 0;
  private frames: OutFrame[] = [];
  private bytes = 0;
  /** Retained messages among all that, by topic. */
  private readonly keptTopics = new Map<string, number>();
  /** Messages that were not told to the others, since the last look. */
  private unshared = 0;
  private readonly noted: () => void;

  constructor(noted: () => void) {
    this.noted = noted;
  }

  /** Of the last frame. */
  get lastSeq(): number {
    return this.seq;
  }

  /** In the order of telling. */
  get waiting(): readonly OutFrame[] {
    return this.frames;
  }

  add(entry: Entry): void {
    if (this.entries.length === 0) this.noted();
    this.entries.push(entry);
  }

  /** The message is the topic's retained one now, or its empty payload removed that. */
  keep(message: Message): void {
    this.count(message.topic, 1);
    this.add({ type: "message", message, routed: false, kept: true });
    this.keptAt = this.entries.length - 1;
  }

  /** The message was published; kept before, it is told once. */
  route(message: Message): void {
    // Also where nothing is retained here: another broker's may be on its way.
    if (message.retain && message.payload.length === 0 && this.keptEntry()?.message !== message) this.keep(message);
    const kept = this.keptEntry();
    if (kept?.message === message) this.entries[this.keptAt] = { ...kept, routed: true };
    else this.add({ type: "message", message, routed: true, kept: false });
  }

  private keptEntry(): (Entry & { type: "message" }) | undefined {
    const entry = this.entries[this.keptAt];
    return entry?.type === "message" ? entry : undefined;
  }

  /** Whether a retained message for the topic is on its way from here: it will be the later one. */
  keeps(topic: string): boolean {
    return this.keptTopics.has(topic);
  }

  private count(topic: string, change: number): void {
    const count = (this.keptTopics.get(topic) ?? 0) + change;
    if (count > 0) this.keptTopics.set(topic, count);
    else this.keptTopics.delete(topic);
  }

  /** What was added since, as frames. Without Redis only what is worth telling later. */
  seal(from: string, connected: boolean): OutFrame[] {
    const full = this.bytes > waitingBytes;
    const all = this.entries;
    this.entries = [];
    this.keptAt = -1;
    const wantedEntries = all.filter((entry) => {
      const wanted = connected ? !full || isDurable(entry) : !full && isWorthKeeping(entry);
      if (!wanted && entry.type === "message") {
        this.unshared++;
        if (entry.kept) this.count(entry.message.topic, -1);
      }
      return wanted;
    });
    if (!connected) for (const entry of wantedEntries) if (hasMessage(entry)) entry.message.compact();
    return cutBySize(wantedEntries).map((entries) => {
      const seq = ++this.seq;
      const frame: OutFrame = {
        seq,
        entries,
        bytes: encodeFrame({ from, seq, entries }),
        durable: entries.some(isDurable),
        promised: !connected,
      };
      this.frames.push(frame);
      this.bytes += frame.bytes.length;
      return frame;
    });
  }

  /** All up to this one were heard. */
  echoed(seq: number): void {
    const count = this.frames.findIndex((frame) => frame.seq > seq);
    this.forget(this.frames.splice(0, count < 0 ? this.frames.length : count));
  }

  /** Under another name, for which nothing was told yet; up to `counted` it was heard, and what was promised to nobody comes again. */
  renew(from: string, counted: number): void {
    const kept = this.frames.filter(({ seq, promised }) => promised && seq > counted);
    this.forget(this.frames.filter((frame) => !kept.includes(frame)));
    this.seq = 0;
    this.frames = kept.map(({ entries, durable, promised }) => {
      const seq = ++this.seq;
      return { seq, entries, durable, promised, bytes: encodeFrame({ from, seq, entries }) };
    });
  }

  /** Redis is lost: what need not reach the others is not told again; whether clients are answered all the same. */
  lost(promised: boolean): void {
    if (promised) for (const frame of this.frames) frame.promised = true;
    const [kept, gone] = [this.frames.filter(({ durable }) => durable), this.frames.filter(({ durable }) => !durable)];
    this.frames = kept;
    this.forget(gone);
  }

  private forget(frames: readonly OutFrame[]): void {
    for (const { bytes, entries } of frames) {
      this.bytes -= bytes.length;
      for (const entry of entries) if (entry.type === "message" && entry.kept) this.count(entry.message.topic, -1);
    }
  }

  takeUnshared(): number {
    const count = this.unshared;
    this.unshared = 0;
    return count;
  }
}

const hasMessage = (entry: Entry) => entry.type === "message" || entry.type === "handed on";

/** Who has members is told anew when Redis is back, and sessions are asked for again. */
const isWorthKeeping = (entry: Entry): boolean => hasMessage(entry) && isDurable(entry);

function cutBySize(entries: readonly Entry[]): Entry[][] {
  const cut: Entry[][] = [];
  let bytes = 0;
  for (const entry of entries) {
    const size = hasMessage(entry) ? entry.message.bytes : 0;
    if (cut.length === 0 || bytes + size > frameBytes) {
      cut.push([]);
      bytes = 0;
    }
    cut.at(-1)?.push(entry);
    bytes += size;
  }
  return cut;
}

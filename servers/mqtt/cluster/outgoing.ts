import type { Message } from "../engine/routing/message.ts";
import { type Entry, encodeFrame, isDurable } from "./frame.ts";

export interface OutFrame {
  readonly seq: number;
  readonly entries: readonly Entry[];
  readonly bytes: Buffer;
  readonly durable: boolean;
  /** It was acknowledged to the client before Redis confirmed it. */
  promised: boolean;
}

/** Most bytes of frames that were not received back: above it QoS 0 is not shared, and without Redis nothing more is queued. */
const waitingBytes = 32 << 20;

/** Memory of an entry with its message, in addition to the bytes of its frame. */
const entryOwnBytes = 1_000;

/** Most bytes of messages in a frame with more than one. */
const frameBytes = 1 << 20;
const frameEntries = 64;

/** Of a frame with durable messages: brokers apply it at once, so that its number says what a session has received, and each may be for thousands. */
const durableFrameEntries = 2;

/** Of an entry: a broker applies it at once. */
const groupsOfEntry = 1_000;

/** After so many bytes of frames that need not be in the journal one is added to it: where others are is known by the journal only. */
const unnumberedBytes = 256 << 10;

/** Entries of this broker that are queued, or sent and not received back yet. */
export class Outgoing {
  private entries: Entry[] = [];
  private entryBytes = 0;
  private unnumbered = 0;
  /** Index of the last retained message among them. */
  private keptAt = -1;
  /** The last one of these among them, by broker. */
  private readonly handedOn = new Map<string, { readonly groups: string[]; readonly message: Message }>();
  private seq = 0;
  private frames: OutFrame[] = [];
  private bytes = 0;
  /** Of these frames. */
  private sealedEntries = 0;
  /** Number of retained messages among all of these, by topic. */
  private readonly keptTopics = new Map<string, number>();
  /** Those that are delivered here when they come back. */
  readonly awaited = new Set<Message>();
  /** Messages not sent to the others since the last check. */
  private unshared = 0;
  private readonly noted: () => void;

  constructor(noted: () => void) {
    this.noted = noted;
  }

  /** Number of the last frame. */
  get lastSeq(): number {
    return this.seq;
  }

  /** Queues an entry. */
  get waiting(): readonly OutFrame[] {
    return this.frames;
  }

  add(entry: Entry): void {
    if (this.entries.length === 0) this.noted();
    this.entries.push(entry);
    if (hasMessage(entry)) this.entryBytes += entry.message.bytes;
  }

  /** Hands the message on to a member of the group at another broker; it is sent once for many groups. */
  handOn(to: string, group: string, message: Message): void {
    const last = this.handedOn.get(to);
    if (last?.message === message && last.groups.length < groupsOfEntry) {
      last.groups.push(group);
      return;
    }
    const entry = { type: "handed on" as const, to, groups: [group], message };
    this.handedOn.set(to, entry);
    this.add(entry);
  }

  /** Of entries that are queued, and of frames that were not received back. */
  get sentBytes(): number {
    return this.entryBytes + this.bytes;
  }

  /** The message set the topic's retained message, or removed it with an empty payload. */
  keep(message: Message): void {
    this.count(message.topic, 1);
    this.add({ type: "message", message, routed: false, kept: true });
    this.keptAt = this.entries.length - 1;
  }

  /** The message was published; combined with an entry that `kept` queued for it. */
  route(message: Message): void {
    // Also if nothing is retained here: another broker's message may be in flight.
    if (message.retain && message.payload.length === 0 && this.keptEntry()?.message !== message) this.keep(message);
    const kept = this.keptEntry();
    if (kept?.message === message) this.entries[this.keptAt] = { ...kept, routed: true };
    else this.add({ type: "message", message, routed: true, kept: false });
  }

  private keptEntry(): (Entry & { type: "message" }) | undefined {
    const entry = this.entries[this.keptAt];
    return entry?.type === "message" ? entry : undefined;
  }

  /** Whether a retained message for the topic is in flight from here: it will replace one that arrives now. */
  keeps(topic: string): boolean {
    return this.keptTopics.has(topic);
  }

  private count(topic: string, change: number): void {
    const count = (this.keptTopics.get(topic) ?? 0) + change;
    if (count > 0) this.keptTopics.set(topic, count);
    else this.keptTopics.delete(topic);
  }

  /** Encodes the queued entries as frames. Without Redis only the durable ones are kept. */
  seal(from: string, connected: boolean): OutFrame[] {
    const full = this.bytes + this.sealedEntries * entryOwnBytes > waitingBytes;
    const all = this.entries;
    this.entries = [];
    this.entryBytes = 0;
    this.keptAt = -1;
    this.handedOn.clear();
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
      const bytes = encodeFrame({ from, seq, entries });
      this.unnumbered += bytes.length;
      const durable = entries.some(isDurable) || this.unnumbered > unnumberedBytes;
      if (durable) this.unnumbered = 0;
      const frame: OutFrame = { seq, entries, bytes, durable, promised: !connected };
      this.frames.push(frame);
      this.bytes += frame.bytes.length;
      this.sealedEntries += entries.length;
      return frame;
    });
  }

  /** All frames up to this one were received back. */
  echoed(seq: number): void {
    const count = this.frames.findIndex((frame) => frame.seq > seq);
    this.forget(this.frames.splice(0, count < 0 ? this.frames.length : count));
  }

  /** Continues under a new name: frames up to `counted` were applied, the later ones are queued again. */
  renew(from: string, counted: number): void {
    const stays = ({ seq, promised }: OutFrame) => promised && seq > counted;
    const kept = this.frames.filter(stays);
    this.forget(this.frames.filter((frame) => !stays(frame)));
    this.seq = 0;
    this.frames = kept.map(({ entries, durable, promised }) => {
      const seq = ++this.seq;
      return { seq, entries, durable, promised, bytes: encodeFrame({ from, seq, entries }) };
    });
  }

  /** Redis is lost: drops frames that are not durable. `promised`: their messages were acknowledged to clients. */
  lost(promised: boolean): void {
    if (promised) for (const frame of this.frames) frame.promised = true;
    const [kept, gone] = [this.frames.filter(({ durable }) => durable), this.frames.filter(({ durable }) => !durable)];
    this.frames = kept;
    this.forget(gone);
  }

  private forget(frames: readonly OutFrame[]): void {
    for (const { bytes, entries } of frames) {
      this.bytes -= bytes.length;
      this.sealedEntries -= entries.length;
      for (const entry of entries) if (entry.type === "message" && entry.kept) this.count(entry.message.topic, -1);
    }
  }

  /** The message of a frame that came back, if it was awaited. */
  takeAwaited(seq: number, index: number): Message | undefined {
    if (this.awaited.size === 0) return undefined;
    const entry = this.frames.find((frame) => frame.seq === seq)?.entries[index];
    return entry?.type === "message" && this.awaited.delete(entry.message) ? entry.message : undefined;
  }

  takeUnshared(): number {
    const count = this.unshared;
    this.unshared = 0;
    return count;
  }
}

const hasMessage = (entry: Entry) => entry.type === "message" || entry.type === "handed on";

const takesLong = (entry: Entry): boolean => hasMessage(entry) && isDurable(entry);

/** Memberships are resent when Redis is back, and sessions requested again. */
const isWorthKeeping = takesLong;

function cutBySize(entries: readonly Entry[]): Entry[][] {
  const cut: Entry[][] = [];
  let bytes = 0;
  let most = frameEntries;
  for (const entry of entries) {
    const size = hasMessage(entry) ? entry.message.bytes : 0;
    const mostWithIt = takesLong(entry) ? durableFrameEntries : most;
    const last = cut.at(-1);
    if (last && bytes + size <= frameBytes && last.length < mostWithIt) {
      last.push(entry);
      most = mostWithIt;
    } else {
      cut.push([entry]);
      bytes = 0;
      most = takesLong(entry) ? durableFrameEntries : frameEntries;
    }
    bytes += size;
  }
  return cut;
}

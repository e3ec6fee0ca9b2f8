import type { RtspFault, RtspFaultKind } from "../../../contract/services/rtsp-faults.ts";
import { seededRandom } from "../../core/traffic/seeded-random.ts";
import type { WorkConnection } from "../../core/turns/work-connection.ts";
import { memoryOf } from "../media/frame-memory.ts";
import type { FramePackets, Track } from "../media/track.ts";
import { interleavedBytes } from "../rtp/packet-writer.ts";
import type { DelayedMedia } from "../streams/delayed-media.ts";
import { DelayLine } from "./delay-line.ts";
import type { ActiveFault, Faults, FaultySession } from "./faults.ts";

/** Where a reader finds the faults that it has to have. */
export interface ReaderFaults {
  readonly registry: Pick<Faults, "version" | "of">;
  readonly session: FaultySession;
  /** What is held back beyond this is left out. */
  readonly mostHeldBytes: number;
}

export interface PacketFaultsOptions extends ReaderFaults {
  readonly tracks: readonly Track[];
  /** Of the stream. */
  readonly delayed: DelayedMedia;
  /** Of the reader. */
  readonly work: WorkConnection;
  /** The track of pictures; -1 without one. */
  readonly keyTrack: number;
  /** The key frame before what is pushed, if it is still there. */
  readonly keyFrame: () => FramePackets | undefined;
  readonly deliver: (packets: FramePackets) => void;
  readonly deliverReport: (track: number, report: Buffer) => void;
}

interface Overtaken {
  readonly packet: FramePackets;
  readonly dueMs: number;
  /** Packets of its track that have yet to pass it. */
  left: number;
}

/** How many packets pass one that is reordered. */
const overtakenBy = 3;
const longestOvertakenMs = 500;
const sequenceAt = interleavedBytes + 2;
const timestampAt = interleavedBytes + 4;
/** RFC 3550 §6.4.1: a compound packet begins with the report, which has the RTP timestamp here. */
const senderReportType = 200;
const reportTimestampAt = 16;

/** Does to the packets of one reader what the faults of its session and path say. What it holds back is bounded. */
export class PacketFaults {
  /** Packets that were left out. */
  lost = 0;
  readonly #options: PacketFaultsOptions;
  #version = -1;
  #faults: ReadonlyMap<RtspFaultKind, ActiveFault> = new Map();
  readonly #random = new Map<string, { readonly of: ActiveFault; readonly next: () => number }>();
  readonly #held: DelayLine;
  readonly #lastDueMs: number[];
  #overtaken: Overtaken[] = [];
  #overtakenTimer: NodeJS.Timeout | undefined;
  /** In place of each picture, until the key frame after the fault. */
  #frozen: FramePackets | undefined;
  /** By track: how much its sequence numbers are ahead, since frozen pictures have more packets or fewer. */
  readonly #sequenceShift: number[];
  #isShifted = false;

  constructor(options: PacketFaultsOptions) {
    this.#options = options;
    this.#held = new DelayLine({
      mostBytes: options.mostHeldBytes,
      memory: options.delayed,
      work: options.work,
      onLost: (packets) => {
        this.lost += packets;
      },
    });
    this.#lastDueMs = options.tracks.map(() => 0);
    this.#sequenceShift = options.tracks.map(() => 0);
  }

  /** Whether packets have to be given to `push` and `report`, and not straight to the client. */
  get isActive(): boolean {
    const { registry, session } = this.#options;
    if (registry.version !== this.#version) {
      this.#version = registry.version;
      this.#refresh(registry.of(session));
    }
    return this.#faults.size > 0 || !this.#held.isEmpty || this.#overtaken.length > 0 || this.#frozen !== undefined || this.#isShifted;
  }

  #refresh(active: readonly ActiveFault[]): void {
    this.#faults = new Map(active.map((one) => [one.fault.kind, one]));
    if (!this.#faults.has("reorder")) this.#releaseOvertaken();
    if (!this.#faults.has("delay") && !this.#faults.has("jitter")) this.#held.releaseAll();
  }

  #of<Kind extends RtspFaultKind>(kind: Kind): Extract<RtspFault, { kind: Kind }> | undefined {
    return this.#faults.get(kind)?.fault as Extract<RtspFault, { kind: Kind }> | undefined;
  }

  push(packets: FramePackets): void {
    const { track } = packets.frame;
    const isPicture = track === this.#options.keyTrack;
    const taken = isPicture ? this.#picture(packets) : packets;
    const shifted = this.#shifted(taken);
    const more = taken.offsets.length - packets.offsets.length;
    if (more !== 0) {
      this.#sequenceShift[track] = (this.#sequenceShift[track] as number) + more;
      this.#isShifted = true;
    }
    if (this.#faults.has("stall") || (isPicture && taken.frame.isKey && this.#faults.has("drop-key-frames"))) {
      this.lost += taken.offsets.length;
      return;
    }
    const dueMs = this.#dueMs(track);
    if (this.#faults.has("loss") || this.#faults.has("reorder")) for (const packet of separate(shifted)) this.#passOne(packet, dueMs);
    else this.#pass(shifted, dueMs);
  }

  report(track: number, report: Buffer): void {
    if (this.#faults.has("stall")) return;
    const jump = this.#jumpOf(track);
    const taken = jump !== 0 && report[1] === senderReportType ? withTimestamp(report, jump) : report;
    const send = () => this.#options.deliverReport(track, taken);
    this.#held.hold(this.#dueMs(track), { of: taken, memoryBytes: taken.length, bytes: taken.length, packets: 0, send });
  }

  /** The frozen picture in place of this one, with its place and time. */
  #picture(packets: FramePackets): FramePackets {
    const { frame, sequence } = packets;
    if (this.#faults.has("freeze")) this.#frozen ??= frame.isKey ? packets : this.#options.keyFrame();
    else if (frame.isKey) this.#frozen = undefined;
    const frozen = this.#frozen;
    if (!frozen || frozen === packets) return packets;
    // Key frames are shown in the order of decoding.
    const timestamp = packets.timestamp - (frame.pts - frame.dts);
    return renumbered(frozen, sequence, timestamp - frozen.timestamp);
  }

  #shifted(packets: FramePackets): FramePackets {
    const { track } = packets.frame;
    const jump = this.#jumpOf(track);
    const shift = this.#sequenceShift[track] as number;
    return jump === 0 && shift === 0 ? packets : renumbered(packets, packets.sequence + shift, jump);
  }

  /** In units of the clock rate. */
  #jumpOf(track: number): number {
    const jump = this.#of("jump");
    return jump ? Math.round((jump.jumpMs * (this.#options.tracks[track]?.clockRate ?? 0)) / 1_000) : 0;
  }

  /** When what is due now is to be sent; packets of a track keep their order. */
  #dueMs(track: number): number {
    const delayMs = this.#of("delay")?.delayMs ?? 0;
    const jitterMs = this.#of("jitter")?.jitterMs ?? 0;
    if (delayMs === 0 && jitterMs === 0) return 0;
    const wanted = performance.now() + delayMs + (jitterMs === 0 ? 0 : this.#draw("jitter", track) * jitterMs);
    const dueMs = Math.max(this.#lastDueMs[track] as number, wanted);
    this.#lastDueMs[track] = dueMs;
    return dueMs;
  }

  /** From 0 to 1; of each track in an order of its own, so that the other tracks change nothing. */
  #draw(kind: RtspFaultKind, track: number): number {
    const active = this.#faults.get(kind);
    if (active?.seed === undefined) return Math.random();
    const key = `${kind} ${track}`;
    const known = this.#random.get(key);
    if (known?.of === active) return known.next();
    const next = seededRandom(`${active.seed} ${key}`);
    this.#random.set(key, { of: active, next });
    return next();
  }

  #passOne(packet: FramePackets, dueMs: number): void {
    const { track } = packet.frame;
    const [loss, reorder] = [this.#of("loss"), this.#of("reorder")];
    if (loss && this.#draw("loss", track) * 100 < loss.percent) {
      this.lost++;
      return;
    }
    const passed = this.#overtaken.filter((one) => one.packet.frame.track === track && --one.left <= 0);
    if (reorder && this.#draw("reorder", track) * 100 < reorder.percent) {
      this.#overtaken.push({ packet, dueMs, left: overtakenBy });
      this.#overtakenTimer ??= setTimeout(() => this.#releaseOvertaken(), longestOvertakenMs);
    } else this.#pass(packet, dueMs);
    if (passed.length === 0) return;
    this.#overtaken = this.#overtaken.filter((one) => !passed.includes(one));
    for (const one of passed) this.#pass(one.packet, Math.max(one.dueMs, dueMs));
  }

  #releaseOvertaken(): void {
    clearTimeout(this.#overtakenTimer);
    this.#overtakenTimer = undefined;
    for (const { packet, dueMs } of this.#overtaken.splice(0)) this.#pass(packet, dueMs);
  }

  #pass(packets: FramePackets, dueMs: number): void {
    const { of = packets, bytes, offsets } = packets;
    const send = () => this.#options.deliver(packets);
    const memoryBytes = of.bytes.length + memoryOf(of.frame);
    this.#held.hold(dueMs, { of, memoryBytes, bytes: bytes.length, packets: offsets.length, send });
  }

  /** What is held back is never sent. */
  stop(): void {
    this.#held.stop();
    clearTimeout(this.#overtakenTimer);
    this.#overtaken = [];
  }
}

function* separate(packets: FramePackets): Generator<FramePackets> {
  const { bytes, offsets, sequence } = packets;
  for (const [index, offset] of offsets.entries()) {
    const end = offsets[index + 1] ?? bytes.length;
    const part = { bytes: bytes.subarray(offset, end), offsets: [0], sequence: (sequence + index) & 0xffff };
    yield { ...packets, ...part, of: packets.of ?? packets, onChannels: undefined, copiedBytes: 0 };
  }
}

interface Renumbered {
  readonly sequence: number;
  readonly later: number;
  readonly copy: WeakRef<FramePackets>;
}

/** The last copy of each: a fault of a path makes the same for thousands of readers, one after the other. */
const copies = new WeakMap<FramePackets, Renumbered>();

/** A copy whose packets begin with this sequence number, and are so much later. */
function renumbered(packets: FramePackets, sequence: number, later: number): FramePackets {
  const last = copies.get(packets);
  const known = last?.sequence === sequence && last.later === later ? last.copy.deref() : undefined;
  if (known) return known;
  const copy = renumberedCopy(packets, sequence, later);
  copies.set(packets, { sequence, later, copy: new WeakRef(copy) });
  return copy;
}

function renumberedCopy(packets: FramePackets, sequence: number, later: number): FramePackets {
  const bytes = Buffer.from(packets.bytes);
  for (const [index, offset] of packets.offsets.entries()) {
    bytes.writeUInt16BE((sequence + index) & 0xffff, offset + sequenceAt);
    bytes.writeUInt32BE((bytes.readUInt32BE(offset + timestampAt) + later) >>> 0, offset + timestampAt);
  }
  const changed = { bytes, sequence: sequence & 0xffff, timestamp: (packets.timestamp + later) >>> 0 };
  return { ...packets, ...changed, of: undefined, onChannels: undefined, copiedBytes: 0 };
}

function withTimestamp(report: Buffer, later: number): Buffer {
  const changed = Buffer.from(report);
  changed.writeUInt32BE((report.readUInt32BE(reportTimestampAt) + later) >>> 0, reportTimestampAt);
  return changed;
}

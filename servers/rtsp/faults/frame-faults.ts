import { httpReaderFaults, type RtspFault, type RtspFaultKind } from "../../../contract/services/rtsp-faults.ts";
import type { WorkConnection } from "../../core/turns/work-connection.ts";
import { memoryOf } from "../media/frame-memory.ts";
import type { Frame } from "../media/track.ts";
import type { DelayedMedia } from "../streams/delayed-media.ts";
import { DelayLine } from "./delay-line.ts";
import type { Faults } from "./faults.ts";

export interface FrameFaultsOptions {
  readonly registry: Pick<Faults, "version" | "ofPath">;
  readonly path: string;
  /** The track of pictures; -1 without one. */
  readonly keyTrack: number;
  /** What is held back beyond this is left out. */
  readonly mostHeldBytes: number;
  /** Of the stream. */
  readonly delayed: DelayedMedia;
  /** Of the reader. */
  readonly work: WorkConnection;
  readonly deliver: (frame: Frame) => void;
}

/** Does to the frames of a reader over HTTP what the faults of its path say. */
export class FrameFaults {
  readonly #options: FrameFaultsOptions;
  #version = -1;
  #faults: ReadonlyMap<RtspFaultKind, RtspFault> = new Map();
  readonly #held: DelayLine;
  #lastKey: Frame | undefined;
  /** In place of each picture, until the key frame after the fault. */
  #frozen: Frame | undefined;

  constructor(options: FrameFaultsOptions) {
    this.#options = options;
    this.#held = new DelayLine({ mostBytes: options.mostHeldBytes, memory: options.delayed, work: options.work, onLost() {} });
  }

  push(frame: Frame): void {
    this.#refresh();
    const isPicture = frame.track === this.#options.keyTrack;
    const taken = isPicture ? this.#picture(frame) : frame;
    if (this.#faults.has("stall") || (isPicture && taken.isKey && this.#faults.has("drop-key-frames"))) return;
    const delay = this.#faults.get("delay");
    if (!delay && this.#held.isEmpty) {
      this.#options.deliver(taken);
      return;
    }
    const bytes = taken.units.reduce((sum, { length }) => sum + length, 0);
    const send = () => this.#options.deliver(taken);
    this.#held.hold(delay?.kind === "delay" ? performance.now() + delay.delayMs : 0, {
      of: taken.units,
      memoryBytes: memoryOf(taken),
      bytes,
      packets: 0,
      send,
    });
  }

  #refresh(): void {
    const { registry, path } = this.#options;
    if (registry.version === this.#version) return;
    this.#version = registry.version;
    const active = registry.ofPath(path).filter(({ fault }) => httpReaderFaults.has(fault.kind));
    this.#faults = new Map(active.map(({ fault }) => [fault.kind, fault]));
    if (!this.#faults.has("delay")) this.#held.releaseAll();
  }

  #picture(frame: Frame): Frame {
    if (frame.isKey) this.#lastKey = frame;
    if (this.#faults.has("freeze")) this.#frozen ??= this.#lastKey;
    else if (frame.isKey) this.#frozen = undefined;
    if (!this.#frozen || this.#frozen === frame) return frame;
    // Key frames are shown in the order of decoding.
    return { ...frame, units: this.#frozen.units, pts: frame.dts, isKey: true };
  }

  /** The next frames have other parameter sets. */
  restart(): void {
    this.#held.releaseNow();
    this.#lastKey = undefined;
    this.#frozen = undefined;
  }

  /** What is held back is never sent. */
  stop(): void {
    this.#held.stop();
  }
}

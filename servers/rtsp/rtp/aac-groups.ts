import { rtpHeaderBytes } from "../../core/rtp/rtp-packet.ts";
import { parseAacConfig } from "../media/aac.ts";
import type { AacTrack, Frame, Track } from "../media/track.ts";
import { aacPayloadBytes } from "./create-packetizer.ts";

/** Sound of a packet: the first frame waits for the last one. */
const longestSeconds = 0.07;

/** Gathers consecutive frames of AAC that share a packet, as RFC 3640 allows: a packet costs as much to send as a picture's. */
export class AacGroups<Item extends { readonly frame: Frame }> {
  readonly #mostBytes: number;
  readonly #clockRate: number;
  /** Of a frame, on the clock of the track. */
  readonly #duration: number;
  #items: Item[] = [];

  constructor(track: AacTrack, packetBytes: number) {
    this.#mostBytes = packetBytes - rtpHeaderBytes;
    this.#clockRate = track.clockRate;
    const { samplesPerFrame, sampleRate, coreSampleRate } = parseAacConfig(track.config);
    this.#duration = (samplesPerFrame * sampleRate) / coreSampleRate;
  }

  /** Returns the groups that are complete, the frame's own among them if nothing can follow it. */
  add(item: Item): readonly (readonly Item[])[] {
    const complete: (readonly Item[])[] = this.#mayJoin(item.frame) ? [] : [this.take()];
    this.#items.push(item);
    if ((this.#items.length + 1) * this.#duration > longestSeconds * this.#clockRate) complete.push(this.take());
    return complete.filter(({ length }) => length > 0);
  }

  #mayJoin(frame: Frame): boolean {
    const last = this.#items.at(-1)?.frame;
    if (!last) return true;
    if (Math.abs(frame.pts - last.pts - this.#duration) > 1) return false;
    return aacPayloadBytes([...this.#items, { frame }].flatMap(({ frame: { units } }) => units)) <= this.#mostBytes;
  }

  /** What waits. */
  take(): readonly Item[] {
    const items = this.#items;
    this.#items = [];
    return items;
  }
}

/** One frame in the place of several: their units share a packet. */
export const joined = (frames: readonly Frame[]): Frame => ({ ...(frames[0] as Frame), units: frames.flatMap(({ units }) => units) });

/** Undefined where each frame has packets of its own. */
export function aacGroupsOf<Item extends { readonly frame: Frame }>(track: Track, packetBytes: number): AacGroups<Item> | undefined {
  try {
    return track.codec === "aac" ? new AacGroups(track, packetBytes) : undefined;
  } catch (error) {
    // A publisher may describe what only its players can read.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

import { mostAdtsPayload, parseAacConfig, writeAdtsHeader } from "../media/aac.ts";
import { withStartCodes } from "../media/nal-units.ts";
import { parameterSetsOf } from "../media/parameter-sets.ts";
import type { Frame, Track } from "../media/track.ts";
import { type ProgramStream, programTables } from "./program-tables.ts";
import { type TimedUnit, TransportPackets } from "./transport-packets.ts";

const firstPid = 0x100;
const tablesEverySeconds = 0.5;
/** Times begin here, so that the clock reference, which is ahead of them, is not negative. */
const startTicks = 90_000;
const clockLeadTicks = 18_000;
/** A clock that goes back by more was set, or another one began. */
const mostTicksBack = 90_000;

/**
 * MPEG-TS (ISO/IEC 13818-1) of one stream: H.264 and H.265 with delimiters and parameter sets, AAC in ADTS, Opus. What it returns for a key
 * frame begins with the tables, so a reader may begin there. Throws RangeError where no track has a place in it.
 */
export class MpegTsMuxer {
  readonly #streams: readonly (ProgramStream | undefined)[];
  readonly #packets = new TransportPackets();
  readonly #tables: readonly Buffer[];
  readonly #clockStream: ProgramStream;
  readonly #wrappers: readonly ((frame: Frame) => readonly Buffer[])[];
  #tablesAtSeconds = Number.NEGATIVE_INFINITY;
  /** Of the clock's stream. */
  #newest = Number.NEGATIVE_INFINITY;

  constructor(tracks: readonly Track[]) {
    let pid = firstPid;
    this.#streams = tracks.map((track) => (track.codec === "pcmu" || track.codec === "pcma" ? undefined : { pid: pid++, track }));
    const streams = this.#streams.flatMap((stream) => stream ?? []);
    const clockStream = streams.find(({ track }) => track.kind === "video") ?? streams[0];
    if (!clockStream) throw new RangeError("The stream has no track that can be in MPEG-TS.");
    this.#clockStream = clockStream;
    this.#tables = programTables(streams, clockStream.pid);
    this.#wrappers = tracks.map(wrapperOf);
  }

  /** The packets of a frame; none for a track that MPEG-TS does not have. */
  push(frame: Frame): Buffer {
    const stream = this.#streams[frame.track];
    const wrap = this.#wrappers[frame.track];
    const parts = stream && wrap ? wrap(frame) : [];
    if (!stream || parts.length === 0 || frame.units.length === 0) return noPackets;
    const { clockRate, kind } = stream.track;
    const ticksOf = (time: number) => startTicks + Math.round((time * 90_000) / clockRate);
    const dts = ticksOf(frame.dts);
    const isClock = stream === this.#clockStream;
    const isClockAnew = isClock && dts < this.#newest - mostTicksBack;
    if (isClock) this.#newest = dts;
    const unit: TimedUnit = {
      pid: stream.pid,
      streamId: kind === "video" ? 0xe0 : stream.track.codec === "aac" ? 0xc0 : 0xbd,
      parts,
      pts: ticksOf(frame.pts),
      dts,
      clockReference: isClock ? dts - clockLeadTicks : undefined,
      isClockAnew,
      isRandomAccess: frame.isKey,
      isBounded: kind === "audio",
    };
    const seconds = frame.dts / clockRate;
    const isDue = Math.abs(seconds - this.#tablesAtSeconds) >= tablesEverySeconds;
    if (!isClock || (!isDue && !(frame.isKey && kind === "video"))) return this.#packets.write(unit, []);
    this.#tablesAtSeconds = seconds;
    return this.#packets.write(unit, this.#tables);
  }
}

const noPackets = Buffer.alloc(0);

/** How the frames of a track are in the stream. */
function wrapperOf(track: Track): (frame: Frame) => readonly Buffer[] {
  switch (track.codec) {
    case "h264":
      // An access unit delimiter before each picture (§2.14.1): any slice type.
      return annexB(Buffer.from([0x09, 0xf0]), parameterSetsOf(track));
    case "h265":
      return annexB(Buffer.from([0x46, 0x01, 0x50]), parameterSetsOf(track));
    case "aac": {
      const config = parseAacConfig(track.config);
      writeAdtsHeader(config, 0);
      return ({ units }) => units.flatMap((unit) => (unit.length > mostAdtsPayload ? [] : [writeAdtsHeader(config, unit.length), unit]));
    }
    case "opus":
      return ({ units }) => units.flatMap((unit) => [opusControlHeader(unit.length), unit]);
    case "pcmu":
    case "pcma":
      return () => [];
    default:
      return track satisfies never;
  }
}

function annexB(delimiter: Buffer, parameterSets: readonly Buffer[]): (frame: Frame) => readonly Buffer[] {
  const before = Buffer.concat(withStartCodes([delimiter]));
  const beforeKey = Buffer.concat([before, ...withStartCodes(parameterSets)]);
  return ({ units, isKey }) => [isKey ? beforeKey : before, ...withStartCodes(units)];
}

/** ETSI TS 103 491: the prefix, and the size in bytes of 255 and a last one. */
function opusControlHeader(size: number): Buffer {
  const full = Math.floor(size / 255);
  const header = Buffer.alloc(3 + full, 0xff);
  header[0] = 0x7f;
  header[1] = 0xe0;
  header[2 + full] = size % 255;
  return header;
}

import { randomInt } from "node:crypto";
import { rtpHeaderBytes } from "../../core/rtp/rtp-packet.ts";
import type { Frame, FramePackets, Packetizer, PacketizerOptions, Track } from "../media/track.ts";
import { h264Format, h265Format, writeNalUnits } from "./nal-payload.ts";
import { type PacketHead, PacketWriter } from "./packet-writer.ts";

/** Below this there is no room for the heads of a payload. */
const leastPacketBytes = 64;

/**
 * Makes RTP packets of a track's frames: H.264 (RFC 6184), H.265 (RFC 7798), AAC-hbr (RFC 3640), Opus (RFC 7587) and G.711 (RFC 3551).
 * A key frame begins with the track's parameter sets.
 */
export function createPacketizer(track: Track, options: PacketizerOptions): Packetizer {
  const { payloadType, packetBytes } = options;
  if (packetBytes < leastPacketBytes || packetBytes > 0xffff) throw new RangeError(`RTP packets cannot have ${packetBytes} bytes.`);
  const mostPayload = packetBytes - rtpHeaderBytes;
  const ssrc = options.ssrc ?? randomInt(2 ** 32);
  const timestampOffset = options.timestampOffset ?? randomInt(2 ** 32);
  const timestamp = (pts: number) => wrapped(timestampOffset + pts);
  let write = payloadWriter(track, mostPayload);
  let sequence = options.sequence ?? randomInt(2 ** 16);
  let position = 0;
  return {
    ssrc,
    payloadType,
    get sequence() {
      return sequence;
    },
    timestamp,
    setTrack(changed) {
      write = payloadWriter(changed, mostPayload);
    },
    packetize(frame: Frame): FramePackets {
      const head = { channel: 2 * options.track, payloadType, ssrc, sequence, position, timestamp: timestamp(frame.pts) };
      const packets = write(head, frame).finish(frame);
      sequence = (sequence + packets.offsets.length) & 0xffff;
      position += packets.offsets.length;
      return packets;
    },
  };
}

/** As 32 bits. A publisher whose times go back may have ones below zero. */
const wrapped = (time: number): number => ((time % 2 ** 32) + 2 ** 32) % 2 ** 32;

type PayloadWriter = (head: PacketHead, frame: Frame) => PacketWriter;

function payloadWriter(track: Track, mostPayload: number): PayloadWriter {
  switch (track.codec) {
    case "h264": {
      const parameterSets = [...track.sps, ...track.pps];
      return (head, { units, isKey }) => writeNalUnits(head, isKey ? [...parameterSets, ...units] : units, mostPayload, h264Format);
    }
    case "h265": {
      const parameterSets = [...track.vps, ...track.sps, ...track.pps];
      return (head, { units, isKey }) => writeNalUnits(head, isKey ? [...parameterSets, ...units] : units, mostPayload, h265Format);
    }
    case "aac":
      return (head, { units }) => (units.length > 1 ? writeAacTogether(head, units) : writeAac(head, soundOf(units), mostPayload));
    case "opus":
      return (head, { units }) => writeWhole(head, soundOf(units));
    case "pcmu":
    case "pcma":
      return (head, { units }) => writeSamples(head, soundOf(units), mostPayload - (mostPayload % track.channels), track.channels);
    default:
      return track satisfies never;
  }
}

const soundOf = (units: readonly Buffer[]): Buffer => units[0] ?? noBytes;
const noBytes = Buffer.alloc(0);

/** RFC 3640 §3.3.6: the length of the AU headers in bits, then 13 bits of size and 3 of index. */
const aacHeadBytes = 4;

function writeAac(head: PacketHead, unit: Buffer, mostPayload: number): PacketWriter {
  const mostFragment = mostPayload - aacHeadBytes;
  const fragments = Math.ceil(unit.length / mostFragment);
  const writer = new PacketWriter(head, fragments, unit.length + fragments * aacHeadBytes);
  for (let from = 0; from < unit.length; from += mostFragment) {
    const to = Math.min(unit.length, from + mostFragment);
    // §3.2.1: marked where a frame ends; each fragment has the size of the whole frame.
    writer.packet(aacHeadBytes + to - from, to === unit.length);
    writer.twoBytes(16);
    writer.twoBytes(unit.length << 3);
    writer.copy(unit, from, to);
  }
  return writer;
}

/** Bytes of a payload with these frames of AAC in one packet. */
export const aacPayloadBytes = (units: readonly Buffer[]): number =>
  units.reduce((sum, { length }) => sum + aacHeadBytes / 2 + length, aacHeadBytes / 2);

/** §3.2.1.1: the headers of all frames, then the frames; each follows the one before it. */
function writeAacTogether(head: PacketHead, units: readonly Buffer[]): PacketWriter {
  const size = aacPayloadBytes(units);
  const writer = new PacketWriter(head, 1, size);
  writer.packet(size, true);
  writer.twoBytes(16 * units.length);
  for (const { length } of units) writer.twoBytes(length << 3);
  for (const unit of units) writer.copy(unit);
  return writer;
}

/** RFC 7587 §4.2: one Opus packet is the payload, and is never cut. */
function writeWhole(head: PacketHead, unit: Buffer): PacketWriter {
  const writer = new PacketWriter(head, 1, unit.length);
  writer.packet(unit.length, false);
  writer.copy(unit);
  return writer;
}

/** RFC 3551 §4.5.14: a byte per sample and channel, so they can be cut anywhere between samples. */
function writeSamples(head: PacketHead, unit: Buffer, mostPayload: number, channels: number): PacketWriter {
  const writer = new PacketWriter(head, Math.ceil(unit.length / mostPayload), unit.length);
  for (let from = 0; from < unit.length; from += mostPayload) {
    const to = Math.min(unit.length, from + mostPayload);
    writer.packet(to - from, false, from / channels);
    writer.copy(unit, from, to);
  }
  return writer;
}

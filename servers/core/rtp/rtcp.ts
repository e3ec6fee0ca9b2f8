/** RFC 3550 §6.4 to §6.6, and the feedback of RFC 4585 and 5104. Packets of other types are passed over. */
export type RtcpPacket =
  | SenderReport
  | ReceiverReport
  | SourceDescription
  | Goodbye
  | GenericNack
  | PictureLossIndication
  | FullIntraRequest
  | BitrateEstimate;

export interface SenderReport {
  readonly type: "sender-report";
  readonly ssrc: number;
  /** Unix time; what RTCP has in NTP's format. */
  readonly ntpMs: number;
  /** The middle 32 bits of that format, which a receiver report repeats. */
  readonly ntpMiddle?: number;
  /** RTP time of the same moment. */
  readonly timestamp: number;
  readonly packets: number;
  readonly payloadBytes: number;
  readonly reports: readonly ReportBlock[];
}

export interface ReceiverReport {
  readonly type: "receiver-report";
  readonly ssrc: number;
  readonly reports: readonly ReportBlock[];
}

export interface SourceDescription {
  readonly type: "source-description";
  readonly chunks: readonly { readonly ssrc: number; readonly cname: string | undefined }[];
}

export interface Goodbye {
  readonly type: "goodbye";
  readonly ssrcs: readonly number[];
  readonly reason: string | undefined;
}

/** RFC 4585 §6.2.1: packets to send again. */
export interface GenericNack {
  readonly type: "nack";
  readonly ssrc: number;
  readonly mediaSsrc: number;
  readonly sequences: readonly number[];
}

/** RFC 4585 §6.3.1: the decoder needs a key frame. */
export interface PictureLossIndication {
  readonly type: "picture-loss";
  readonly ssrc: number;
  readonly mediaSsrc: number;
}

/** RFC 5104 §4.3.1: the same with a number that repeated requests share. */
export interface FullIntraRequest {
  readonly type: "full-intra";
  readonly ssrc: number;
  readonly requests: readonly { readonly mediaSsrc: number; readonly number: number }[];
}

/** draft-alvestrand-rmcat-remb-03 §2.2: how much the receiver can take. */
export interface BitrateEstimate {
  readonly type: "bitrate-estimate";
  readonly ssrc: number;
  readonly bitRate: number;
  readonly mediaSsrcs: readonly number[];
}

export interface ReportBlock {
  readonly ssrc: number;
  /** Since the report before, in 256ths. */
  readonly fractionLost: number;
  readonly lost: number;
  /** With the cycles of the sequence number above its 16 bits. */
  readonly highestSequence: number;
  /** In units of the clock rate. */
  readonly jitter: number;
  readonly lastReport: number;
  /** In 65536ths of a second. */
  readonly delaySinceLastReport: number;
}

const types = { 200: "sender-report", 201: "receiver-report", 202: "source-description", 203: "goodbye" } as const;
/** By packet type and format. */
const feedback = { "205 1": "nack", "206 1": "picture-loss", "206 4": "full-intra", "206 15": "bitrate-estimate" } as const;
const reportBytes = 24;
/** Seconds from 1900, where NTP begins, to 1970. */
const ntpEpochSeconds = 2_208_988_800;

/** Of a compound one: more than 1,500 bytes have room for. Those behind them are passed over. */
const mostPackets = 64;
const mostNackPairs = 512;

/** The packets of a compound one. Undefined where a length is wrong or the version is not 2. */
export function parseRtcp(bytes: Buffer): readonly RtcpPacket[] | undefined {
  const packets: RtcpPacket[] = [];
  let position = 0;
  let pairsLeft = mostNackPairs;
  while (position < bytes.length && packets.length < mostPackets) {
    if (bytes.length - position < 4) return undefined;
    const first = bytes[position] as number;
    const end = position + 4 * (bytes.readUInt16BE(position + 2) + 1);
    if (first >> 6 !== 2 || end > bytes.length) return undefined;
    const padding = first & 0x20 ? (bytes[end - 1] as number) : 0;
    const body = bytes.subarray(position + 4, Math.max(position + 4, end - padding));
    const number = bytes[position + 1] as number;
    const type = types[number as keyof typeof types] ?? feedback[`${number} ${first & 0x1f}` as keyof typeof feedback];
    if (type !== undefined) {
      const packet = parseBody(type, body, first & 0x1f, pairsLeft);
      if (!packet) return undefined;
      if (packet.type === "nack") pairsLeft = Math.max(0, pairsLeft - ((body.length - 8) >> 2));
      packets.push(packet);
    }
    position = end;
  }
  return packets;
}

function parseBody(type: RtcpPacket["type"], body: Buffer, count: number, mostPairs: number): RtcpPacket | undefined {
  switch (type) {
    case "sender-report": {
      if (body.length < 24 + count * reportBytes) return undefined;
      const seconds = body.readUInt32BE(4);
      const fraction = body.readUInt32BE(8);
      return {
        type,
        ssrc: body.readUInt32BE(0),
        ntpMs: (seconds - ntpEpochSeconds + fraction / 2 ** 32) * 1_000,
        ntpMiddle: body.readUInt32BE(6),
        timestamp: body.readUInt32BE(12),
        packets: body.readUInt32BE(16),
        payloadBytes: body.readUInt32BE(20),
        reports: parseReports(body.subarray(24), count),
      };
    }
    case "receiver-report":
      if (body.length < 4 + count * reportBytes) return undefined;
      return { type, ssrc: body.readUInt32BE(0), reports: parseReports(body.subarray(4), count) };
    case "source-description":
      return parseDescription(body, count);
    case "goodbye": {
      if (body.length < 4 * count) return undefined;
      const ssrcs = Array.from({ length: count }, (_, index) => body.readUInt32BE(4 * index));
      const reasonAt = 4 * count;
      const reasonBytes = body[reasonAt] ?? 0;
      if (reasonAt + 1 + reasonBytes > body.length) return { type, ssrcs, reason: undefined };
      return { type, ssrcs, reason: body.toString("utf8", reasonAt + 1, reasonAt + 1 + reasonBytes) };
    }
    case "nack":
      if (body.length < 8) return undefined;
      return {
        type,
        ssrc: body.readUInt32BE(0),
        mediaSsrc: body.readUInt32BE(4),
        sequences: parseNack(body.subarray(8, 8 + 4 * mostPairs)),
      };
    case "picture-loss":
      if (body.length < 8) return undefined;
      return { type, ssrc: body.readUInt32BE(0), mediaSsrc: body.readUInt32BE(4) };
    case "full-intra": {
      if (body.length < 8) return undefined;
      const requests = Array.from({ length: Math.floor((body.length - 8) / 8) }, (_, index) => ({
        mediaSsrc: body.readUInt32BE(8 + 8 * index),
        number: body[12 + 8 * index] as number,
      }));
      return { type, ssrc: body.readUInt32BE(0), requests };
    }
    case "bitrate-estimate":
      return parseEstimate(body);
    default:
      return type satisfies never;
  }
}

const parseReports = (bytes: Buffer, count: number): ReportBlock[] =>
  Array.from({ length: count }, (_, index) => {
    const at = index * reportBytes;
    return {
      ssrc: bytes.readUInt32BE(at),
      fractionLost: bytes[at + 4] as number,
      lost: bytes.readIntBE(at + 5, 3),
      highestSequence: bytes.readUInt32BE(at + 8),
      jitter: bytes.readUInt32BE(at + 12),
      lastReport: bytes.readUInt32BE(at + 16),
      delaySinceLastReport: bytes.readUInt32BE(at + 20),
    };
  });

/** Pairs of a sequence number and a mask of the 16 after it. */
function parseNack(bytes: Buffer): number[] {
  const sequences: number[] = [];
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    const first = bytes.readUInt16BE(at);
    const mask = bytes.readUInt16BE(at + 2);
    sequences.push(first);
    for (let bit = 0; bit < 16; bit++) if (mask & (1 << bit)) sequences.push((first + bit + 1) & 0xffff);
  }
  return sequences;
}

/** Application feedback with another identifier is passed over as one without a rate. */
function parseEstimate(body: Buffer): BitrateEstimate | undefined {
  if (body.length < 8) return undefined;
  const isEstimate = body.length >= 16 && body.toString("latin1", 8, 12) === "REMB";
  const count = isEstimate ? (body[12] as number) : 0;
  if (body.length < 16 + 4 * count && isEstimate) return undefined;
  return {
    type: "bitrate-estimate",
    ssrc: body.readUInt32BE(0),
    bitRate: isEstimate ? (((body[13] as number) & 3) * 2 ** 16 + body.readUInt16BE(14)) * 2 ** ((body[13] as number) >> 2) : 0,
    mediaSsrcs: Array.from({ length: count }, (_, index) => body.readUInt32BE(16 + 4 * index)),
  };
}

/** Chunks are lists of items that end with a zero byte and are filled up to four bytes. */
function parseDescription(body: Buffer, count: number): SourceDescription | undefined {
  const chunks: SourceDescription["chunks"][number][] = [];
  let position = 0;
  for (let index = 0; index < count; index++) {
    if (position + 4 > body.length) return undefined;
    const ssrc = body.readUInt32BE(position);
    position += 4;
    let cname: string | undefined;
    while (position < body.length && body[position] !== 0) {
      if (position + 2 > body.length) return undefined;
      const end = position + 2 + (body[position + 1] as number);
      if (end > body.length) return undefined;
      if (body[position] === 1) cname = body.toString("utf8", position + 2, end);
      position = end;
    }
    position = 4 * (Math.floor(position / 4) + 1);
    chunks.push({ ssrc, cname });
  }
  return { type: "source-description", chunks };
}

/** A compound packet: a report first, then a description with the name of the sender (§6.1). */
export function writeRtcp(packets: readonly RtcpPacket[]): Buffer {
  return Buffer.concat(packets.map(writePacket));
}

function writePacket(packet: RtcpPacket): Buffer {
  switch (packet.type) {
    case "sender-report": {
      const bytes = begin(200, packet.reports.length, 24 + packet.reports.length * reportBytes);
      // Rounded as a whole: a fraction that is rounded up may be the next second.
      const ntp = Math.round(packet.ntpMs * 4_294_967.296);
      const seconds = Math.floor(ntp / 2 ** 32);
      bytes.writeUInt32BE(packet.ssrc, 4);
      bytes.writeUInt32BE((seconds + ntpEpochSeconds) % 2 ** 32, 8);
      bytes.writeUInt32BE(ntp - seconds * 2 ** 32, 12);
      bytes.writeUInt32BE(packet.timestamp, 16);
      bytes.writeUInt32BE(packet.packets % 2 ** 32, 20);
      bytes.writeUInt32BE(packet.payloadBytes % 2 ** 32, 24);
      writeReports(bytes, 28, packet.reports);
      return bytes;
    }
    case "receiver-report": {
      const bytes = begin(201, packet.reports.length, 4 + packet.reports.length * reportBytes);
      bytes.writeUInt32BE(packet.ssrc, 4);
      writeReports(bytes, 8, packet.reports);
      return bytes;
    }
    case "source-description": {
      const chunks = packet.chunks.map(({ ssrc, cname = "" }) => {
        const name = Buffer.from(cname).subarray(0, 255);
        const chunk = Buffer.alloc(4 * (Math.floor((6 + name.length) / 4) + 1));
        chunk.writeUInt32BE(ssrc, 0);
        chunk[4] = 1;
        chunk[5] = name.length;
        chunk.set(name, 6);
        return chunk;
      });
      const body = Buffer.concat(chunks);
      const bytes = begin(202, chunks.length, body.length);
      bytes.set(body, 4);
      return bytes;
    }
    case "goodbye": {
      const reason = Buffer.from(packet.reason ?? "").subarray(0, 255);
      const reasonBytes = reason.length === 0 ? 0 : 4 * Math.ceil((1 + reason.length) / 4);
      const bytes = begin(203, packet.ssrcs.length, 4 * packet.ssrcs.length + reasonBytes);
      for (const [index, ssrc] of packet.ssrcs.entries()) bytes.writeUInt32BE(ssrc, 4 + 4 * index);
      if (reason.length > 0) {
        bytes[4 + 4 * packet.ssrcs.length] = reason.length;
        bytes.set(reason, 5 + 4 * packet.ssrcs.length);
      }
      return bytes;
    }
    case "nack": {
      const pairs = nackPairs(packet.sequences);
      const bytes = begin(205, 1, 8 + 4 * pairs.length);
      bytes.writeUInt32BE(packet.ssrc, 4);
      bytes.writeUInt32BE(packet.mediaSsrc, 8);
      for (const [index, [first, mask]] of pairs.entries()) {
        bytes.writeUInt16BE(first, 12 + 4 * index);
        bytes.writeUInt16BE(mask, 14 + 4 * index);
      }
      return bytes;
    }
    case "picture-loss": {
      const bytes = begin(206, 1, 8);
      bytes.writeUInt32BE(packet.ssrc, 4);
      bytes.writeUInt32BE(packet.mediaSsrc, 8);
      return bytes;
    }
    case "full-intra": {
      const bytes = begin(206, 4, 8 + 8 * packet.requests.length);
      bytes.writeUInt32BE(packet.ssrc, 4);
      for (const [index, { mediaSsrc, number }] of packet.requests.entries()) {
        bytes.writeUInt32BE(mediaSsrc, 12 + 8 * index);
        bytes[16 + 8 * index] = number;
      }
      return bytes;
    }
    case "bitrate-estimate": {
      const bytes = begin(206, 15, 16 + 4 * packet.mediaSsrcs.length);
      const exponent = Math.max(0, Math.ceil(Math.log2((packet.bitRate + 1) / 2 ** 18)));
      const mantissa = Math.floor(packet.bitRate / 2 ** exponent);
      bytes.writeUInt32BE(packet.ssrc, 4);
      bytes.write("REMB", 12, "latin1");
      bytes[16] = packet.mediaSsrcs.length;
      bytes[17] = (exponent << 2) | (mantissa >> 16);
      bytes.writeUInt16BE(mantissa & 0xffff, 18);
      for (const [index, ssrc] of packet.mediaSsrcs.entries()) bytes.writeUInt32BE(ssrc, 20 + 4 * index);
      return bytes;
    }
    default:
      return packet satisfies never;
  }
}

/** In the order of the numbers; a mask covers the 16 after its first. */
function nackPairs(sequences: readonly number[]): (readonly [first: number, mask: number])[] {
  const pairs: [number, number][] = [];
  for (const sequence of sequences) {
    const last = pairs.at(-1);
    const ahead = last ? (sequence - last[0]) & 0xffff : 0;
    if (last && ahead >= 1 && ahead <= 16) last[1] |= 1 << (ahead - 1);
    else pairs.push([sequence, 0]);
  }
  return pairs;
}

function begin(type: number, count: number, bodyBytes: number): Buffer {
  if (count > 31) throw new RangeError("An RTCP packet has at most 31 entries.");
  const bytes = Buffer.alloc(4 + bodyBytes);
  bytes[0] = 0x80 | count;
  bytes[1] = type;
  bytes.writeUInt16BE(bodyBytes / 4, 2);
  return bytes;
}

function writeReports(bytes: Buffer, at: number, reports: readonly ReportBlock[]): void {
  for (const [index, report] of reports.entries()) {
    const start = at + index * reportBytes;
    bytes.writeUInt32BE(report.ssrc, start);
    bytes[start + 4] = report.fractionLost;
    bytes.writeIntBE(report.lost, start + 5, 3);
    bytes.writeUInt32BE(report.highestSequence, start + 8);
    bytes.writeUInt32BE(report.jitter, start + 12);
    bytes.writeUInt32BE(report.lastReport, start + 16);
    bytes.writeUInt32BE(report.delaySinceLastReport >>> 0, start + 20);
  }
}

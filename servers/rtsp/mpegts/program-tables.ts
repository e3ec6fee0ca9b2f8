import type { Track } from "../media/track.ts";

/** What MPEG-TS has a stream type for, with the identifier of its packets. */
export interface ProgramStream {
  readonly pid: number;
  readonly track: Track;
}

/** ISO/IEC 13818-1, table 2-34. */
const streamTypes = { h264: 0x1b, h265: 0x24, aac: 0x0f, opus: 0x06, pcmu: 0x06, pcma: 0x06 } as const;
const tablePid = 0x1000;
const programNumber = 1;

/** PAT and PMT, each as a whole packet whose continuity counter is still zero (§2.4.4). */
export function programTables(streams: readonly ProgramStream[], clockPid: number): readonly Buffer[] {
  const associations = section(0x00, 1, Buffer.from([0, programNumber, 0xe0 | (tablePid >> 8), tablePid & 0xff]));
  const entries = streams.map(({ pid, track }) => {
    const descriptors = track.codec === "opus" ? opusDescriptors(track.channels) : Buffer.alloc(0);
    const head = Buffer.from([streamTypes[track.codec], 0xe0 | (pid >> 8), pid & 0xff, 0xf0, descriptors.length]);
    return Buffer.concat([head, descriptors]);
  });
  const map = section(0x02, programNumber, Buffer.concat([Buffer.from([0xe0 | (clockPid >> 8), clockPid & 0xff, 0xf0, 0]), ...entries]));
  return [packet(0, associations), packet(tablePid, map)];
}

/** A registration (§2.6.8), and the channels in an extension descriptor of DVB (ETSI TS 103 491). */
const opusDescriptors = (channels: number): Buffer => Buffer.from([0x05, 4, 0x4f, 0x70, 0x75, 0x73, 0x7f, 2, 0x80, channels]);

function section(tableId: number, id: number, body: Buffer): Buffer {
  const length = 5 + body.length + 4;
  const head = Buffer.from([tableId, 0xb0 | (length >> 8), length & 0xff, id >> 8, id & 0xff, 0xc1, 0, 0]);
  const content = Buffer.concat([head, body]);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(mpegChecksum(content));
  return Buffer.concat([content, checksum]);
}

function packet(pid: number, content: Buffer): Buffer {
  const bytes = Buffer.alloc(188, 0xff);
  bytes.set([0x47, 0x40 | (pid >> 8), pid & 0xff, 0x10, 0]);
  bytes.set(content, 5);
  return bytes;
}

/** CRC-32 of annex A: the polynomial of Ethernet, highest bit first, not inverted. */
function mpegChecksum(bytes: Buffer): number {
  let checksum = 0xffff_ffff;
  for (const byte of bytes) {
    checksum ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) checksum = checksum & 0x8000_0000 ? (checksum << 1) ^ 0x04c1_1db7 : checksum << 1;
  }
  return checksum >>> 0;
}

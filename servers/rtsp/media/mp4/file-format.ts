/** The first bytes of files that users take for videos, by the format's own name. */
const formats: readonly (readonly [name: string, at: number, bytes: string])[] = [
  ["Matroska or WebM", 0, "1a45dfa3"],
  ["AVI", 8, hex("AVI ")],
  ["WAV", 8, hex("WAVE")],
  ["FLV", 0, hex("FLV")],
  ["Ogg", 0, hex("OggS")],
  ["FLAC", 0, hex("fLaC")],
  ["MP3", 0, hex("ID3")],
  ["MP3", 0, "fffb"],
  ["MP3", 0, "fff3"],
  ["AAC in ADTS", 0, "fff1"],
  ["AAC in ADTS", 0, "fff9"],
  ["Windows Media (ASF)", 0, "3026b2758e66cf11"],
  ["an MPEG program stream", 0, "000001ba"],
  ["MPEG video", 0, "000001b3"],
  ["a raw video stream", 0, "00000001"],
  ["a raw video stream", 0, "000001"],
  ["GIF", 0, hex("GIF8")],
  ["PNG", 0, "89504e47"],
  ["JPEG", 0, "ffd8ff"],
];

function hex(text: string): string {
  return Buffer.from(text).toString("hex");
}

const transportPacketBytes = 188;
export const formatHeadBytes = 2 * transportPacketBytes;

/** Undefined where it is none that is known. */
export function formatOf(head: Buffer): string | undefined {
  if (head[0] === 0x47 && head[transportPacketBytes] === 0x47) return "MPEG-TS";
  const has = (at: number, bytes: string) => head.toString("hex", at, at + bytes.length / 2) === bytes;
  return formats.find(([, at, bytes]) => has(at, bytes))?.[0];
}

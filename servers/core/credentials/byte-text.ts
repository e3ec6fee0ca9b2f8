/** Bytes as a text in which credentials are looked for, and the same bytes again from what is left of it. */
import { isUtf8 } from "node:buffer";

/** A byte that is no part of UTF-8 is a lone surrogate in the text: 0xdc00 and the byte (PEP 383). */
const byteMark = 0xdc00;

export function textOfBytes(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString("utf8");
  const units = new Uint16Array(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at] as number;
    const more = bytesBehind(bytes, at);
    at++;
    if (more === -1) {
      units[length++] = byteMark | first;
      continue;
    }
    let code = more === 0 ? first : first & (0x3f >> more);
    for (const end = at + more; at < end; at++) code = (code << 6) | ((bytes[at] as number) & 0x3f);
    if (code < 0x10000) units[length++] = code;
    else {
      units[length++] = 0xd7c0 + (code >> 10);
      units[length++] = byteMark | (code & 0x3ff);
    }
  }
  return Buffer.from(units.buffer, 0, length * 2).toString("utf16le");
}

/** Bytes of the character that begins here, without the first; -1 where none does (RFC 3629 §4). */
function bytesBehind(bytes: Buffer, at: number): number {
  const first = bytes[at] as number;
  if (first < 0x80) return 0;
  if (first < 0xc2 || first > 0xf4) return -1;
  const more = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
  const second = bytes[at + 1] ?? 0;
  const least = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const most = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (second < least || second > most) return -1;
  for (let next = at + 2; next <= at + more; next++) if (((bytes[next] ?? 0) & 0xc0) !== 0x80) return -1;
  return more;
}

/** The bytes of a text of `textOfBytes`, or of a part of one. */
export function bytesOfText(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text);
  const bytes = Buffer.allocUnsafe(text.length * 3);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at) as number;
    if (code < 0x80) bytes[length++] = code;
    else if (code < 0x800) length = writeCharacter(bytes, length, 0xc0 | (code >> 6), code, 1);
    else if (isByteMark(code)) bytes[length++] = code & 0xff;
    else if (isHalf(code)) length = writeCharacter(bytes, length, 0xef, replacement, 2);
    else if (code < 0x10000) length = writeCharacter(bytes, length, 0xe0 | (code >> 12), code, 2);
    else {
      length = writeCharacter(bytes, length, 0xf0 | (code >> 18), code, 3);
      at++;
    }
  }
  return bytes.subarray(0, length);
}

const isByteMark = (code: number): boolean => code >= 0xdc80 && code <= 0xdcff;
/** Of a character that was cut. */
const isHalf = (code: number): boolean => code >= 0xd800 && code <= 0xdfff;
const replacement = 0xfffd;

function writeCharacter(bytes: Buffer, at: number, first: number, code: number, more: number): number {
  bytes[at] = first;
  for (let left = more - 1; left >= 0; left--) bytes[at + more - left] = 0x80 | ((code >> (6 * left)) & 0x3f);
  return at + more + 1;
}

/** What is in no text: control characters (MIME Sniffing, "binary data byte") but the separator of packets, and bytes that are no UTF-8. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const inNoText = /[\0-\x08\x0b\x0e-\x1a\x1c\x1d\x1f\ufffd]|[\udc80-\udcff](?![\udc80-\udcff]{0,2}$)/u;

/** Whether it is the text of bytes that are none: a picture, a packed file. The last character of a text may be cut. */
export const isBinary = (text: string): boolean => inNoText.test(text);

/** As what text bytes may be read: a client may send JSON in UTF-16, where names look like none of UTF-8. */
import { hidden } from "../../../contract/traffic/secret-headers.ts";
import { bytesOfText, textOfBytes } from "./byte-text.ts";

export interface TextReading {
  readonly text: string;
  readonly isUtf16: boolean;
  /** The bytes of what is left of the text, in the same encoding. */
  bytesOf(shown: string): Buffer;
}

/** As UTF-16 where the bytes look like it or the type says so, and as UTF-8 in any case: neither the bytes nor the type are to be trusted. */
export function readingsOf(bytes: Buffer, type = ""): readonly [TextReading, ...TextReading[]] {
  const order = byteOrder(bytes, type);
  const utf8: TextReading = { text: textOfBytes(bytes), isUtf16: false, bytesOf: bytesOfText };
  return order === undefined ? [utf8] : [utf16Reading(bytes, order), utf8];
}

type ByteOrder = "little" | "big";

function byteOrder(bytes: Buffer, type: string): ByteOrder | undefined {
  const [first = 0, second = 0, third = 0, fourth = 0] = bytes;
  if (first === 0xff && second === 0xfe) return "little";
  if (first === 0xfe && second === 0xff) return "big";
  // JSON, forms and multipart bodies begin with two characters of ASCII (RFC 4627 §3).
  if (isAscii(first) && second === 0 && isAscii(third) && fourth === 0) return "little";
  if (first === 0 && isAscii(second) && third === 0 && isAscii(fourth)) return "big";
  const named = /charset\s*=\s*"?utf-?16(le|be)?/i.exec(type);
  if (!named) return undefined;
  return named[1]?.toLowerCase() === "be" ? "big" : "little";
}

const isAscii = (byte: number): boolean => byte >= 0x09 && byte < 0x7f;
const mark = "\ufeff";

function utf16Reading(bytes: Buffer, order: ByteOrder): TextReading {
  const isOdd = bytes.length % 2 === 1;
  const whole = isOdd ? bytes.subarray(0, -1) : bytes;
  const read = (order === "big" ? Buffer.from(whole).swap16() : whole).toString("utf16le");
  const start = read.startsWith(mark) ? mark : "";
  return {
    text: read.slice(start.length),
    isUtf16: true,
    bytesOf(shown) {
      if (shown === hidden) return Buffer.from(hidden);
      const units = Buffer.from(start + shown, "utf16le");
      if (order === "big") units.swap16();
      // The half of a character that was cut.
      return isOdd && shown.endsWith(read.slice(-1)) ? Buffer.concat([units, bytes.subarray(-1)]) : units;
    },
  };
}

/** Every second byte is zero. */
const utf16Start = /^\ufffd*(?:[\t-~]\0[\t-~]\0|\0[\t-~]\0[\t-~])/;
/** gzip (RFC 1952 §2.3.1), whose second byte is no UTF-8. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the method
const gzipStart = /^\x1f[\ufffd\udc8b]\x08/;

/** The same of the start of a body that was read as UTF-8, for rows: its characters of ASCII without the zeros between them. */
export const utf16Preview = (text: string): string | undefined =>
  utf16Start.test(text) ? text.replaceAll("\0", "").replace(/^\ufffd+/, "") : undefined;
export const isGzipPreview = (text: string): boolean => gzipStart.test(text);

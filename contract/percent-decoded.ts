/**
 * As `decodeURIComponent`, and undefined where that throws a URIError: a client may send thousands of such texts, and their errors, with their stacks,
 * take tens of milliseconds.
 */
export function percentDecoded(text: string): string | undefined {
  const from = text.indexOf("%");
  if (from === -1) return text;
  return isEncoded(text, from) ? decodeURIComponent(text) : undefined;
}

/** A text of which only some may be encoded: the rest stays as it is. */
export const decodedWhereEncoded = (text: string): string =>
  text.replaceAll(encodedCharacters, (encoded) => percentDecoded(encoded) ?? encoded);
const encodedCharacters = /(?:%[\da-f]{2})+/gi;

/** Whether what stands behind each "%" is a byte in hex, and those of 0x80 and above are UTF-8 (RFC 3629 §4). */
function isEncoded(text: string, from: number): boolean {
  let missing = 0;
  /** Of the next byte of a character. */
  let [least, most] = [0x80, 0xbf];
  for (let at = from; at < text.length; at++) {
    if (text.charCodeAt(at) !== percent) {
      if (missing > 0) return false;
      at = text.indexOf("%", at);
      if (at === -1) return true;
    }
    const byte = (hexDigit(text.charCodeAt(at + 1)) << 4) | hexDigit(text.charCodeAt(at + 2));
    if (byte < 0) return false;
    at += 2;
    if (missing > 0) {
      if (byte < least || byte > most) return false;
      missing--;
      [least, most] = [0x80, 0xbf];
    } else if (byte >= 0x80) {
      if (byte < 0xc2 || byte > 0xf4) return false;
      missing = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
      if (byte === 0xe0) least = 0xa0;
      else if (byte === 0xed) most = 0x9f;
      else if (byte === 0xf0) least = 0x90;
      else if (byte === 0xf4) most = 0x8f;
    }
  }
  return missing === 0;
}

const percent = 0x25;

/** Negative where it is none. */
export function hexDigit(code: number | undefined): number {
  if (code === undefined) return -1;
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

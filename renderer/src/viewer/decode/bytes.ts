/** Bytes as base64, hex and text. */

export function fromBase64(base64: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  return bytes;
}

/** RFC 4648 §5, without padding, as in JSON Web Tokens. */
export const fromBase64Url = (base64: string): Uint8Array<ArrayBuffer> => fromBase64(base64.replaceAll("-", "+").replaceAll("_", "/"));

export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** Of "c0 1f 8e 24" or "c01f8e24"; undefined for anything else. */
export function fromHex(text: string): Uint8Array<ArrayBuffer> | undefined {
  const digits = text.replace(/\s+/g, "");
  if (digits.length % 2 !== 0 || !/^[0-9a-f]*$/i.test(digits)) return undefined;
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

export const toHex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ");

/** Bytes as text; undefined if they are not valid in the charset or contain control characters. */
export function decodeText(bytes: Uint8Array, isCut: boolean, charset = "utf-8"): string | undefined {
  let text: string;
  try {
    // A cut text may end within a character: streaming omits that character instead of failing.
    text = new TextDecoder(charset, { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut });
  } catch {
    return undefined;
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they distinguish bytes from text.
  return /[\x00-\x08\x0e-\x1a\x1c-\x1f]/.test(text) ? undefined : text;
}

/** Undefined where the bytes are no UTF-8 or hold control characters. */
export function utf8Text(bytes: Uint8Array, isCut: boolean): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what tells text from bytes.
    return /[\x00-\x08\x0e-\x1a\x1c-\x1f]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

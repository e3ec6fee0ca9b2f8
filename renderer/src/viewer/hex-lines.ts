/** As many as `hexdump -C` shows; half of them where there is little room. */
export const bytesInHexLine = 16;

export interface HexLine {
  /** "0000001c" */
  readonly offset: string;
  /** "48 65 6c 6c 6f  20 …", padded to the full width */
  readonly hex: string;
  /** Printable ASCII, a middle dot for the rest. */
  readonly text: string;
}

/** Of an offset beside the lines: four digits, where they reach. */
export const offsetDigits = (bytes: Uint8Array): number => (bytes.length > 0x10000 ? 8 : 4);

export const hexLineCount = (bytes: Uint8Array, perLine = bytesInHexLine): number => Math.ceil(bytes.length / perLine);

export function hexLine(bytes: Uint8Array, line: number, perLine = bytesInHexLine): HexLine {
  const start = line * perLine;
  const part = bytes.subarray(start, start + perLine);
  const pairs = Array.from(part, (byte) => byte.toString(16).padStart(2, "0"));
  const left = pairs.slice(0, 8).join(" ");
  const right = pairs.slice(8).join(" ");
  return {
    offset: start.toString(16).padStart(8, "0"),
    hex: perLine > 8 ? `${left.padEnd(23)}  ${right.padEnd(23)}` : left.padEnd(23),
    text: Array.from(part, (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "·")).join(""),
  };
}

/** The whole body as `hexdump -C` writes it, to copy. */
export function hexText(bytes: Uint8Array): string {
  return Array.from({ length: hexLineCount(bytes) }, (_, index) => {
    const { offset, hex, text } = hexLine(bytes, index);
    return `${offset}  ${hex}  |${text}|`;
  }).join("\n");
}

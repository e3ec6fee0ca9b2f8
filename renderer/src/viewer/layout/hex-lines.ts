import { type LaidOutText, layoutBounds, TextLayout } from "./laid-out-text.ts";

/** As many as `hexdump -C` shows; half of them if there is little room. */
export const bytesInHexLine = 16;

export interface HexLine {
  /** "0000001c" */
  readonly offset: string;
  /** "48 65 6c 6c 6f  20 …", padded to the full width */
  readonly hex: string;
  /** Printable ASCII, a middle dot for the rest. */
  readonly text: string;
}

const pairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const letters = Array.from({ length: 256 }, (_, byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "·"));

export function hexLine(bytes: Uint8Array, line: number, perLine = bytesInHexLine): HexLine {
  const start = line * perLine;
  const end = Math.min(start + perLine, bytes.length);
  let hex = "";
  let text = "";
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0;
    if (at > start) hex += at - start === 8 ? "  " : " ";
    hex += pairs[byte];
    text += letters[byte];
  }
  return { offset: start.toString(16).padStart(8, "0"), hex: hex.padEnd(perLine * 3 - (perLine > 8 ? 0 : 1)), text };
}

/** The whole body as `hexdump -C` writes it, to copy. */
export function hexText(bytes: Uint8Array, bytesInLine = bytesInHexLine): string {
  return Array.from({ length: Math.ceil(bytes.length / bytesInLine) }, (_, index) => {
    const { offset, hex, text } = hexLine(bytes, index, bytesInLine);
    return `${offset}  ${hex}  |${text}|`;
  }).join("\n");
}

/** Bytes and the text beside them; offsets are the viewer's line numbers. */
export function layOutHex(bytes: Uint8Array, bytesInLine = bytesInHexLine): LaidOutText {
  const layout = new TextLayout();
  const shown = bytes.subarray(0, layoutBounds.hexBytes);
  if (shown.length < bytes.length) layout.note("Only the first 512 KiB are shown as hex. Save has all of it.");
  for (let line = 0; line * bytesInLine < shown.length; line++) {
    const { hex, text } = hexLine(shown, line, bytesInLine);
    if (line > 0) layout.breakLine();
    layout.add(`${hex}  `);
    layout.add(text, "string");
  }
  // Without leading zeros that no line needs.
  return layout.finish({ hex: { bytesInLine, digits: bytes.length > 0x10000 ? 8 : 4 } });
}

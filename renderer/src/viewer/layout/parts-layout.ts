import { formatBytes } from "../../ui/texts/quantity.ts";
import { decodeText } from "../decode/bytes.ts";
import type { Part } from "../decode/multipart.ts";
import { imageSize } from "../image-size.ts";
import { hexText } from "./hex-lines.ts";
import { type LaidOutText, TextLayout } from "./laid-out-text.ts";

/** Names and values of a form, decoded, one per line. */
export function layOutForm(fields: Iterable<readonly [string, string]>): LaidOutText {
  const layout = new TextLayout();
  let isFirst = true;
  for (const [name, value] of fields) {
    if (layout.isFull) break;
    if (!isFirst) layout.breakLine();
    isFirst = false;
    layout.add(name, "key");
    layout.add(" = ", "punctuation");
    addLines(layout, value, 1, "string");
  }
  return layout.finish();
}

/** More parts than this are counted only. */
const shownParts = 1_000;
const shownTextBytes = 64 * 1_024;
const shownBinaryBytes = 256;

/** The parts of a multipart body: fields as text, files with their name, type and size, images as such; each can be folded. */
export function layOutParts(parts: readonly Part[], bytesInLine?: number): LaidOutText {
  const layout = new TextLayout();
  for (const [index, part] of parts.slice(0, shownParts).entries()) {
    if (layout.isFull) break;
    if (index > 0) layout.breakLine();
    layout.add(part.name || "(no name)", "key");
    const facts = [part.filename, part.contentType, `${part.cut ? "first " : ""}${formatBytes(part.bytes.length)}`];
    layout.add(`  ${facts.filter(Boolean).join(" · ")}`, "comment");
    const from = layout.length;
    addContent(layout, part, bytesInLine);
    layout.fold(from, layout.length);
  }
  if (parts.length > shownParts) layout.note(`The first ${shownParts} of ${parts.length} parts are shown.`);
  return layout.finish();
}

function addContent(layout: TextLayout, { bytes, cut }: Part, bytesInLine: number | undefined): void {
  if (bytes.length === 0) return;
  const image = cut ? undefined : imageSize(bytes);
  if (image) {
    layout.breakLine(1);
    layout.addImage(bytes, image);
    layout.add(`${image.format} · ${image.width} × ${image.height}`, "comment");
    return;
  }
  const start = bytes.subarray(0, shownTextBytes);
  const text = decodeText(start, cut || start.length < bytes.length);
  layout.breakLine(1);
  if (text !== undefined) addLines(layout, text, 1);
  else addLines(layout, hexText(bytes.subarray(0, shownBinaryBytes), bytesInLine), 1);
  const shown = text === undefined ? Math.min(bytes.length, shownBinaryBytes) : start.length;
  if (shown < bytes.length) {
    layout.breakLine(1);
    layout.add(`… ${formatBytes(bytes.length - shown)} more`, "comment");
  }
}

function addLines(layout: TextLayout, text: string, levels: number, kind?: "string"): void {
  for (const [index, line] of text.split(/\r\n|\n|\r/).entries()) {
    if (layout.isFull) return;
    if (index > 0) layout.breakLine(levels);
    layout.add(line, kind);
  }
}

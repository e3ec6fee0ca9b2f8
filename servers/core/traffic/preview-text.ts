import { isUtf8 } from "node:buffer";
import { previewBytes } from "../../../contract/traffic/row.ts";

/** The start of a body on one line; empty where it is not text. */
export function previewText(start: string | Buffer): string {
  const text = typeof start === "string" ? start.slice(0, previewBytes) : decode(start.subarray(0, previewBytes));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what marks it as not text
  return /[\0-\x08\x0e-\x1f]/.test(text) ? "" : text.replace(/\s+/g, " ").trim();
}

function decode(start: Buffer): string {
  // The cut may go through a character: the last three bytes do not decide.
  if (!isUtf8(start) && ![1, 2, 3].some((cut) => isUtf8(start.subarray(0, start.length - cut)))) return "";
  return start.toString("utf8").replace(/\uFFFD+$/, "");
}

import { expect, it } from "vitest";
import { layOutContent } from "../../renderer/src/viewer/layout/content-layout.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const compared = (before: string | Uint8Array<ArrayBuffer>, now: string | Uint8Array<ArrayBuffer>, format: "text" | "hex" = "text") => {
  const facts = (content: typeof now) => ({
    bytes: typeof content === "string" ? encode(content) : content,
    contentType: "",
    isCut: false,
  });
  const { text, changes, lineNumbers } = layOutContent({ ...facts(now), format, before: facts(before) });
  return { lines: text.split("\n").length, changes: [...(changes ?? [])], numbers: lineNumbers && [...lineNumbers] };
};

it("[BL-188] a comparison numbers the lines of the newer content, and none that were removed", () => {
  expect(compared("a\nb\nc", "a\nB\nc\nd")).toEqual({ lines: 5, changes: [0, 2, 1, 0, 1], numbers: [1, 0, 2, 3, 4] });
  expect(compared("a\nb\nc", "c").numbers).toEqual([0, 0, 1]);
});

it("[BL-188] of what is the same, each line has its number as without a comparison", () => {
  expect(compared("a\nb", "a\nb")).toEqual({ lines: 2, changes: [0, 0], numbers: undefined });
});

it("[BL-188] a piece of a long line has no number of its own", () => {
  const long = "x".repeat(12_000);
  expect(compared(`${long}\nb`, `${long}\nc`)).toMatchObject({ changes: [0, 0, 0, 2, 1], numbers: [1, 0, 0, 0, 2] });
});

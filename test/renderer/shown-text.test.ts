import { expect, it } from "vitest";
import { shownEnd, shownText, shownValue } from "../../renderer/src/ui/texts/shown-text.ts";
import { previewLine } from "../../renderer/src/viewer/payload-preview.ts";

it.each([
  ["a mark of direction", "hostile/<b>x\u202eevil", "hostile/<b>x\\u202eevil"],
  ["isolates", "a\u2066b\u2069", "a\\u2066b\\u2069"],
  ["a blank of no width", "sen\u200bsor", "sen\\u200bsor"],
  ["a joiner in plain letters", "sen\u200dsor", "sen\\u200dsor"],
  ["controls and line ends", "a\0b\x1b[31m\n\t\x85", "a\\u0000b\\u001b[31m\\n\\t\\u0085"],
  ["a tag beyond the first plane", "a\u{e0041}", "a\\u{e0041}"],
  ["a filler", "a\u3164b\u115f", "a\\u3164b\\u115f"],
  ["the seventh mark on a letter", `a${"\u0301".repeat(7)}`, `a${"\u0301".repeat(6)}\\u0301`],
  ["nothing of an emoji, of Persian and of plain text", "👩‍🚒 می‌خواهم <b> é \\u202e", "👩‍🚒 می‌خواهم <b> é \\u202e"],
])("[BL-256] text of a client shows %s", (_, text, shown) => {
  expect(shownText(text)).toBe(shown);
});

it("[BL-256] a long name or value is cut, never within a character", () => {
  expect(shownText("x".repeat(2_048))).toHaveLength(2_048);
  expect(shownText(`${"x".repeat(2_047)}😀y`)).toBe(`${"x".repeat(2_047)}…`);
  expect(shownEnd(`start${"x".repeat(2_047)}`)).toBe(`…t${"x".repeat(2_047)}`);
  expect(shownEnd(`y😀${"x".repeat(2_047)}`)).toBe(`…${"x".repeat(2_047)}`);
  expect(shownValue("x".repeat(20_000))).toBe(`${"x".repeat(16_384)}…`);
});

it("[BL-256] the preview of a payload shows them", () => {
  const bytes = new TextEncoder().encode("x\u202eevil\nnext");
  expect(previewLine({ start: Buffer.from(bytes).toString("base64"), bytes: bytes.length }, "text")).toBe("x\\u202eevil next");
});

import { expect, it } from "vitest";
import { withBreaksOf, withPlainBreaks } from "../../renderer/src/ui/texts/line-breaks.ts";

it.each([
  ["a\nb", "a\nb\nc", "a\nb\nc"],
  ["a\r\nb\nc\r\n", "a\nbx\nc\n", "a\r\nbx\nc\r\n"],
  // A new line ends like the one before it.
  ["a\r\nb\nc\r\n", "a\nx\nb\nc\n", "a\r\nx\r\nb\nc\r\n"],
  ["a\r\nb\nc\r\n", "a\nb\nx\nc\n", "a\r\nb\nx\nc\r\n"],
  ["a\r\nb\nc\r\n", "x\na\nb\nc\n", "x\r\na\r\nb\nc\r\n"],
  ["a\r\nb\nc\r\n", "a\nb\nc\n\nx", "a\r\nb\nc\r\n\r\nx"],
  ["a\r\nb\nc\r\n", "ac\n", "ac\r\n"],
  ["a\r\nb\nc\r\n", "", ""],
  ["a\rb\r\nc", "a\nb\ncd", "a\rb\r\ncd"],
  ["a\r\n\r\n\r\nb", "a\n\nb", "a\r\n\r\nb"],
])("[BL-341] %j, edited to %j, keeps its line breaks", (before, edited, expected) => {
  expect(withBreaksOf(before, edited)).toBe(expected);
  expect(withBreaksOf(before, withPlainBreaks(before))).toBe(before);
});

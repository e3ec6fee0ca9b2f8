import { expect, it } from "vitest";
import { percentDecoded } from "../../contract/percent-decoded.ts";
import { type IsSecret, redactBody } from "../../servers/core/http/record/redact-body.ts";
import { threadCpuMs } from "../support/cpu-time.ts";
import { seededRandom } from "../support/seeded-random.ts";

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

it("[BL-416] texts in percent-encoding are decoded as by decodeURIComponent, and those that it refuses are not", () => {
  const random = seededRandom(1);
  const bytes = [
    0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xed, 0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xff,
  ];
  const parts = [
    ...bytes.map((byte) => `%${byte.toString(16).padStart(2, "0")}`),
    "%",
    "%4",
    "%g1",
    "%1G",
    "a",
    "é",
    "😀",
    "%C3%BC",
    "%F0%9F%98%80",
  ];
  for (let count = 0; count < 20_000; count++) {
    const text = Array.from({ length: 1 + random.below(6) }, () => parts[random.below(parts.length)]).join("");
    expect([text, percentDecoded(text)]).toEqual([text, decoded(text)]);
  }
});

const isSecret: IsSecret = (name) => name === "pw";

it("[BL-416] names and values in JSON that are not valid are hidden", () => {
  expect(redactBody('{"a\\x":1,"b\\n":2,"c":"\\u12","d":"\\u00e9\\\\","\\u0070w":3,"e":"\\\\x"}', isSecret)).toBe(
    '{"a\\x":"•••","b\\n":2,"c":"•••","d":"\\u00e9\\\\","\\u0070w":"•••","e":"\\\\x"}',
  );
});

it.each([
  ["a form", (text: string) => `a=${text}&`.repeat(10_000), ["%25", "%", "%FF"]],
  ["JSON", (text: string) => `{${Array(10_000).fill(`"${text}":1`).join(",")}}`, ["\\n", "\\x", "\\u00"]],
] as const)("[BL-416] thousands of members of %s that cannot be decoded take no longer than others", (_kind, body, [usual, ...others]) => {
  const timeOf = (text: string) => Math.min(...Array.from({ length: 3 }, () => threadCpuMs(() => redactBody(body(text), isSecret))));
  const usualMs = timeOf(usual as string);
  for (const text of others) expect(timeOf(text)).toBeLessThan(3 * usualMs + 10);
});

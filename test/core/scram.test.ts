import { expect, it } from "vitest";
import { createScramVerifier, verifyByScram } from "../../servers/core/credentials/scram.ts";

it("[BL-420] a password is normalized for SCRAM, unless it has more marks in a row than any language", async () => {
  const composed = await createScramVerifier("caf\u00e9");
  expect(await verifyByScram(composed, Buffer.from("cafe\u0301"))).toBe(true);
  expect(await verifyByScram(composed, Buffer.from("cafe"))).toBe(false);
  // In the order of Unicode the two marks change places.
  const marks = (count: number) => `a${"\u0301\u0316".repeat(count)}`;
  const few = await createScramVerifier(marks(1));
  expect(await verifyByScram(few, Buffer.from("a\u0316\u0301"))).toBe(true);
  const many = await createScramVerifier(marks(16_000));
  expect(await verifyByScram(many, Buffer.from(marks(16_000)))).toBe(true);
  expect(await verifyByScram(many, Buffer.from(marks(16_000).normalize("NFKC")))).toBe(false);
});

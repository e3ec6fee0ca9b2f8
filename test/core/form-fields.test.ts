import { expect, it } from "vitest";
import { formFieldsInSteps, QueryFields, utf8InSteps } from "../../servers/core/http/messages/form-fields.ts";
import { seededRandom } from "../support/seeded-random.ts";

function counted<Result>(steps: Generator<void, Result>): { readonly steps: number; readonly result: Result } {
  for (let count = 1; ; count++) {
    const step = steps.next();
    if (step.done) return { steps: count, result: step.value };
  }
}

const fieldsOf = (bytes: Buffer) => counted(formFieldsInSteps(bytes)).result;

it("[BL-416] forms are decoded as by URLSearchParams", () => {
  const random = seededRandom(416);
  const common = ["&", "=", "+", "a", "name", ""];
  const encoded = [...common, "%", "%2B", "%zz", "%4", "%C3", "%BC", "%00", "%ef%bb%bf"];
  // Not in one text with what is encoded: Node loses such characters there.
  const plain = [...common, "é", "😀", "\ufeff"];
  for (let round = 0; round < 5_000; round++) {
    const morsels = random.chance(0.5) ? encoded : plain;
    const text = Array.from({ length: random.below(12) }, () => morsels[random.below(morsels.length)]).join("");
    const expected = [...new URLSearchParams(text)];
    expect(fieldsOf(Buffer.from(text)), text).toEqual(expected);
    expect([...new QueryFields(text)]).toEqual(expected);
  }
  expect(fieldsOf(Buffer.from("é%BC=%C3ü"))).toEqual([["é\ufffd", "\ufffdü"]]);
  const query = new QueryFields("a=1&b=&a=2");
  expect([query.get("a"), query.get("b"), query.get("c")]).toEqual(["1", "", null]);
});

it("[BL-416] a large form is decoded in many small steps", () => {
  for (const unit of ["+", "%41", "x", "a=b&", "é", "%ff", "%F0%9F%98%80"]) {
    const text = unit.repeat((1 << 20) / unit.length);
    const { steps, result } = counted(formFieldsInSteps(Buffer.from(text)));
    expect(steps).toBeGreaterThan(128);
    expect(result).toEqual([...new URLSearchParams(text)]);
  }
});

it("[BL-416] a long text keeps its characters where a step ends", () => {
  const bytes = Buffer.concat([Buffer.from(`\ufeff${"a".repeat(32_766)}😀`), Buffer.alloc(40_000, 0xc3), Buffer.from("ü")]);
  expect(counted(utf8InSteps(bytes)).result).toBe(bytes.toString());
});

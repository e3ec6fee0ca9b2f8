import { expect, it } from "vitest";
import { formParts } from "../../servers/core/http/messages/form-parts.ts";

const formOf = (text: string, header = 'Content-Disposition: form-data; name="a"') =>
  Buffer.from(`--b\r\n${header}\r\n\r\n${text}\r\n--b--\r\n`);

it.each([
  ["in a part", "", "\r\n--bX".repeat(10_000)],
  ["before the first part", "\r\n--bX".repeat(10_000), ""],
])("[HTTP-269] beginnings of longer boundaries are passed over in steps: %s", (_name, before, within) => {
  const steps = formParts(Buffer.concat([Buffer.from(before === "" ? "" : `${before}\r\n`), formOf(within)]), "b", 10);
  let count = 0;
  for (;;) {
    const step = steps.next();
    if (step.done) {
      expect(step.value.map(({ name, bytes }) => [name, bytes.toString()])).toEqual([["a", within]]);
      break;
    }
    count++;
  }
  expect(count).toBeGreaterThan(10_000 / 100);
});

it("[HTTP-269] the header of a part is bounded, also where a form may have many", () => {
  const header = (bytes: number) => `Content-Disposition: form-data; name="a"\r\nX: ${"x".repeat(bytes)}`;
  expect(() => [...formParts(formOf("", header(20_000)), "b", 10_000)]).toThrow(expect.objectContaining({ status: 413 }));
  expect(() => [...formParts(formOf("", header(10_000)), "b", 10_000)]).not.toThrow();
});

import { expect, it } from "vitest";
import { redactedStart } from "../../servers/webrtc/dialects/redacted-start.ts";

it("[WEBRTC-523] of a long message that is recorded without its passwords the start is kept", () => {
  const isSecret = (name: string) => /passw/i.test(name);
  const many = JSON.stringify(Array.from({ length: 10_000 }, (_, index) => ({ password: `secret-${index}`, n: 1 })));
  const shown = redactedStart(many, isSecret);
  expect(shown.length).toBeLessThan(10_000);
  expect(shown).not.toContain("secret");
  // Cut within a secret.
  for (let length = 4_070; length < 4_100; length++)
    expect(redactedStart(`{"a":"${"x".repeat(length)}","password":"hunter2-hunter2-hunter2"}`, isSecret)).not.toContain("hunt");
  expect(redactedStart('{"password":"p","a":1}', isSecret)).toContain('"a":1');
});

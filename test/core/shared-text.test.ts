import { expect, it } from "vitest";
import { SharedText } from "../../servers/core/http/connections/shared-text.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";

it("[BL-381] a text that many ask for at once is made for all of them, and anew for those who ask meanwhile", async () => {
  let made = 0;
  let fails = false;
  const text = new SharedText(new WorkTurns().connection(""), async () => {
    const number = ++made;
    await new Promise((resolve) => setImmediate(resolve));
    if (fails) throw new Error("no text");
    return `text ${number}`;
  });
  const first = text.read();
  const others = Array.from({ length: 100 }, () => text.read());
  expect([String(await first), new Set((await Promise.all(others)).map(String)), made]).toEqual(["text 1", new Set(["text 2"]), 2]);
  fails = true;
  const results = await Promise.allSettled([text.read(), text.read()]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  fails = false;
  expect(String(await text.read())).toBe("text 5");
});

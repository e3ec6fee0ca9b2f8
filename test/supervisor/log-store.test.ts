import { describe, expect, it } from "vitest";
import { type LogLevel, logLevels, logText } from "../../contract/log.ts";
import { createLogStore, type LogQuery } from "../../servers/supervisor/log-store.ts";
import { seededRandom } from "../support/seeded-random.ts";

const all: LogQuery = { level: "debug", text: "", notable: false, limit: 100_000 };
const entry = (text: string, level: LogLevel = "info") => ({ at: 0, level, text });

describe("log store", () => {
  it("filters by source, level and text, and returns the newest, oldest first", () => {
    const store = createLogStore();
    store.add("http", entry("GET /one"));
    store.add("mqtt", entry("Publish", "debug"));
    store.add("http", entry("GET /two", "warning"));
    store.add("backlot", entry("Started", "error"));
    const read = (query: Partial<LogQuery>) => store.read({ ...all, ...query }).lines.map(({ seq }) => seq);
    expect(read({})).toEqual([1, 2, 3, 4]);
    expect(read({ source: "http" })).toEqual([1, 3]);
    expect(read({ level: "warning" })).toEqual([3, 4]);
    expect(read({ text: " get " })).toEqual([1, 3]);
    expect(read({ limit: 2 })).toEqual([3, 4]);
    expect(read({ limit: 2, before: 4 })).toEqual([2, 3]);
    expect(read({ notable: true })).toEqual([3, 4]);
  });

  it("[BL-48] keeps 50,000 lines, and the lines of a quiet service beside a busy one's", () => {
    const store = createLogStore();
    store.add("http", entry("the rare one", "error"));
    store.add("http", { ...entry("remarkable"), notable: true });
    for (let index = 0; index < 60_000; index++) store.add("http", entry(`line ${index}`));
    const kept = store.read(all);
    expect([kept.lines.length, kept.kept, kept.lines[0]?.text]).toEqual([50_000, 50_000, "line 10000"]);
    expect(store.read({ ...all, notable: true }).lines.map(({ text }) => text)).toEqual(["the rare one", "remarkable"]);
  });

  it("[BL-48] cuts a long line and states its length", () => {
    const line = createLogStore().add("http", entry("x".repeat(10_000)));
    expect(line.text).toBe(`${"x".repeat(8_192)}… (10000 characters)`);
  });

  it("[BL-41] counts a text by its bytes", () => {
    const kept = (text: string) => {
      const store = createLogStore();
      for (let line = 0; line < 40_000; line++) store.add("http", entry(text.repeat(1_500)));
      return store.read({ ...all, limit: 1 }).kept;
    };
    const [ascii, latin, beyond] = [kept("e"), kept("é"), kept("•")];
    expect(ascii).toBeGreaterThan(20_000);
    expect(latin).toBeLessThan(ascii * 0.6);
    expect(beyond).toBeLessThan(ascii * 0.4);
  });

  it("[BL-48] gives lines back as they were added, from either end, while old ones are dropped", () => {
    const store = createLogStore();
    const random = seededRandom(5);
    const texts = ["", "plain", "é•😀".repeat(50), "x".repeat(8_192)];
    const added = Array.from({ length: 9_000 }, (_, index) => ({
      source: (["http", "mqtt", "backlot"] as const)[random.below(3)] ?? "backlot",
      entry: { at: 1_700_000_000_000 + index / 4, level: logLevels[random.below(4)] ?? "info", text: `${index} ${texts[random.below(4)]}` },
    }));
    for (const { source, entry } of added) store.add(source, entry);
    const { lines, kept } = store.read(all);
    const expected = added.map(({ source, entry }, index) => ({ seq: index + 1, source, ...entry })).slice(-kept);
    expect(lines.map((line) => ({ ...line, text: line.text.slice(0, 8_192) }))).toEqual(
      expected.map((line) => ({ ...line, text: line.text.slice(0, 8_192) })),
    );
    let text = "";
    let items = 0;
    for (let after: string | undefined, ended = false; !ended; ) {
      const part = store.exportPart({ level: "debug", text: "" }, after);
      text += part.text;
      items += part.items;
      after = part.next;
      ended = part.next === undefined;
    }
    expect([items, text === lines.map(logText).join("")]).toEqual([kept, true]);
  });
});

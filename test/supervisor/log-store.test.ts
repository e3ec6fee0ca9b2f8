import { describe, expect, it } from "vitest";
import type { LogLevel } from "../../contract/log.ts";
import { createLogStore, type LogQuery } from "../../servers/supervisor/log-store.ts";

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

  it("[BL-41] counts a text by its memory: two bytes per character if one is beyond Latin-1", () => {
    const kept = (text: string) => {
      const store = createLogStore();
      for (let line = 0; line < 40_000; line++) store.add("http", entry(text.repeat(1_500)));
      return store.read({ ...all, limit: 1 }).kept;
    };
    const [ascii, latin, beyond] = [kept("e"), kept("é"), kept("•")];
    expect(latin).toBe(ascii);
    expect(beyond).toBeLessThan(ascii * 0.6);
  });
});

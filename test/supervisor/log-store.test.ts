import { describe, expect, it } from "vitest";
import { type LogLevel, type LogLine, logLevels, logText } from "../../contract/log.ts";
import { createLogStore, type LogQuery } from "../../servers/supervisor/log-store.ts";
import type { Steps } from "../../servers/supervisor/traffic/turns.ts";
import { seededRandom } from "../support/seeded-random.ts";

const all: LogQuery = { level: "debug", text: "", notable: false, limit: 100_000 };
const entry = (text: string, level: LogLevel = "info") => ({ at: 0, level, text });

/** Between two steps, `meanwhile` is called. */
function result<Result>(steps: Steps<Result>, meanwhile = () => {}): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    meanwhile();
  }
}

describe("log store", () => {
  it("filters by source, level and text, and returns the newest, oldest first", () => {
    const store = createLogStore();
    store.add("http", entry("GET /one"));
    store.add("mqtt", entry("Publish", "debug"));
    store.add("http", entry("GET /two", "warning"));
    store.add("backlot", entry("Started", "error"));
    const read = (query: Partial<LogQuery>) => result(store.read({ ...all, ...query })).lines.map(({ seq }) => seq);
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
    const kept = result(store.read(all));
    expect([kept.lines.length, kept.kept, kept.lines[0]?.text]).toEqual([50_000, 50_000, "line 10000"]);
    expect(result(store.read({ ...all, notable: true })).lines.map(({ text }) => text)).toEqual(["the rare one", "remarkable"]);
  });

  it("[BL-48] keeps the warnings of each service, however many another one has, within bounds for all", () => {
    const store = createLogStore();
    store.add("mqtt", entry("the quiet one", "error"));
    for (let index = 0; index < 3_000; index++) store.add("http", entry(`warning ${index}`, "warning"));
    store.add("backlot", entry("the last", "warning"));
    const notable = (query: Partial<LogQuery> = {}) => result(store.read({ ...all, notable: true, ...query }));
    const texts = notable().lines.map(({ text }) => text);
    expect([texts.length, texts[0], texts[1], texts.at(-2), texts.at(-1)]).toEqual([
      502,
      "the quiet one",
      "warning 2500",
      "warning 2999",
      "the last",
    ]);
    expect(notable().kept).toBe(502);
    expect(notable({ source: "mqtt" }).lines.map(({ text }) => text)).toEqual(["the quiet one"]);
    expect(notable({ limit: 3 }).lines.map(({ text }) => text)).toEqual(["the quiet one", "warning 2999", "the last"]);
    expect(notable({ before: 3_002, limit: 2 }).lines.map(({ text }) => text)).toEqual(["the quiet one", "warning 2999"]);
    // Long ones are bounded by their bytes.
    for (let index = 0; index < 200; index++) store.add("rtsp", entry("x".repeat(8_000), "error"));
    expect(notable({ source: "rtsp" }).lines.length).toBeLessThan(20);
    expect(notable().kept).toBe(502 + notable({ source: "rtsp" }).lines.length);
  });

  it("[BL-48] answers with some megabyte of text at most, and says that there are older lines", () => {
    const store = createLogStore();
    for (let index = 0; index < 1_000; index++) store.add("http", entry("x".repeat(8_000)));
    const read = (before?: number) => result(store.read({ ...all, limit: 50_000, before }));
    const page = read();
    expect(page).toMatchObject({ hasOlder: true, kept: 1_000 });
    expect(page.lines.length).toBe(132);
    expect(page.lines.at(-1)?.seq).toBe(1_000);
    expect(read(page.lines[0]?.seq).lines.at(-1)?.seq).toBe(868);
    expect(read(100)).toMatchObject({ hasOlder: false, lines: { length: 99 } });
  });

  it("[BL-48] cuts a long line and states its length", () => {
    const line = createLogStore().add("http", entry("x".repeat(10_000)));
    expect(line.text).toBe(`${"x".repeat(8_192)}… (10000 characters)`);
  });

  it("[BL-41] counts a text by its bytes", () => {
    const kept = (text: string) => {
      const store = createLogStore();
      for (let line = 0; line < 40_000; line++) store.add("http", entry(text.repeat(1_500)));
      return result(store.read({ ...all, limit: 1 })).kept;
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
    const { kept } = result(store.read({ ...all, limit: 1 }));
    const lines: LogLine[] = [];
    for (let page = result(store.read(all)); lines.unshift(...page.lines) && page.hasOlder; )
      page = result(store.read({ ...all, before: lines[0]?.seq }));
    const expected = added.map(({ source, entry }, index) => ({ seq: index + 1, source, ...entry })).slice(-kept);
    expect(lines.map((line) => ({ ...line, text: line.text.slice(0, 8_192) }))).toEqual(
      expected.map((line) => ({ ...line, text: line.text.slice(0, 8_192) })),
    );
    let text = "";
    let items = 0;
    for (let after: string | undefined, ended = false; !ended; ) {
      const part = result(store.exportPart({ level: "debug", text: "" }, after));
      text += part.text;
      items += part.items;
      after = part.next;
      ended = part.next === undefined;
    }
    expect([items, text === lines.map(logText).join("")]).toEqual([kept, true]);
  });

  it("[BL-48] is read and exported in steps of some lines, while lines come and old ones are dropped", () => {
    const store = createLogStore();
    const text = (index: number) => `${index} ${"x".repeat(600)}`;
    let added = 0;
    const add = (count: number) => {
      for (const end = added + count; added < end; added++) store.add("http", entry(text(added)));
    };
    add(60_000);
    let steps = 0;
    const { lines } = result(store.read({ ...all, text: "no line has this" }), () => steps++);
    expect([lines, steps > 100]).toEqual([[], true]);
    expect(store.newest(3).map(({ seq }) => seq)).toEqual([59_998, 59_999, 60_000]);
    const exported: string[] = [];
    let longest = 0;
    for (let after: string | undefined, ended = false; !ended; ) {
      const part = result(store.exportPart({ level: "debug", text: "" }, after), () => add(20));
      longest = Math.max(longest, part.text.length);
      exported.push(...part.text.split("\n").slice(0, -1));
      after = part.next;
      ended = after === undefined;
    }
    expect(longest).toBeLessThan(300 << 10);
    const numbers = exported.map((line) => Number(/(\d+) x+$/.exec(line)?.[1]));
    expect(numbers.every((number, index) => index === 0 || number > (numbers[index - 1] as number))).toBe(true);
    expect([numbers.at(-1), numbers.length > 45_000]).toEqual([59_999, true]);
  });
});

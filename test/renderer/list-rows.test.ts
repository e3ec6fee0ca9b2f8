import { describe, expect, it, onTestFinished } from "vitest";
import type { LogLine } from "../../contract/log.ts";
import { FailureError } from "../../renderer/src/control/failure-error.ts";
import { createListRows } from "../../renderer/src/list/rows/list-rows.ts";
import type { ListPage, ListRowsOptions } from "../../renderer/src/list/rows/list-source.ts";
import { loadToEnd } from "../../renderer/src/list/rows/load-to-end.ts";
import { createLogRows } from "../../renderer/src/pages/logs/log-rows.ts";

interface Row {
  readonly number: number;
  readonly state: string;
}
const row = (number: number, state = ""): Row => ({ number, state });
const upTo = (last: number) => Array.from({ length: last }, (_, index) => row(index + 1));
const atOnce = (run: () => void) => run();

/** A source that keeps these rows, oldest first, and only announces new ones; each answer waits for `hold`. */
async function listOf(kept: Row[], options: Partial<ListRowsOptions<Row, string>> = {}) {
  const hold: { until: Promise<unknown> | undefined; reads: number } = { until: undefined, reads: 0 };
  const list = createListRows<Row, string>({
    filter: "all",
    nextFrame: atOnce,
    order: (one, other) => one.number - other.number,
    numberOf: ({ number }) => ({ lane: "", number }),
    isSame: (one, other) => one.state === other.state,
    pageRows: 4,
    followRows: 8,
    mostRows: 10,
    ...options,
    async read(_filter, { before, limit }): Promise<ListPage<Row>> {
      hold.reads++;
      const found = kept.filter(({ number }) => before === undefined || number < before.number).toReversed();
      const page = { rows: found.slice(0, limit), hasOlder: found.length > limit };
      await hold.until;
      return page;
    },
  });
  await list.refresh();
  const numbers = () => list.toArray().map(({ number }) => number);
  return { list, kept, hold, numbers };
}
const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

describe("a list of rows with change notices", () => {
  it("[BL-220] says why it could not be read, keeps its rows, and clears the error once it was read", async () => {
    const { list, hold, numbers } = await listOf(upTo(6));
    const failure = { code: "INTERNAL", message: "No.", hint: "Not now." };
    hold.until = Promise.reject(new FailureError(failure));
    await list.refresh();
    expect([list.view().failure, numbers()]).toEqual([failure, [6, 5, 4, 3]]);
    await list.loadOlder();
    expect([list.view().failure, numbers()]).toEqual([failure, [6, 5, 4, 3]]);
    hold.until = undefined;
    await list.reload();
    expect([list.view().failure, numbers()]).toEqual([undefined, [6, 5, 4, 3]]);
  });

  it("[BL-200] merges the newest page with the loaded rows, and does not render unchanged rows again", async () => {
    const { list, kept, numbers } = await listOf(upTo(6));
    expect([numbers(), list.view().hasOlder]).toEqual([[6, 5, 4, 3], true]);
    const { version } = list.view();
    await list.refresh();
    expect(list.view().version).toBe(version);
    const known = list.rowAt(1);
    kept[5] = row(6, "ended");
    kept.push(row(7));
    await list.refresh();
    expect([numbers(), list.view().hasOlder]).toEqual([[7, 6, 5, 4, 3], true]);
    expect([list.rowAt(1)?.state, list.rowAt(2)]).toEqual(["ended", known]);
  });

  it("[BL-201] is read again if more arrived than one page has", async () => {
    const { list, kept, numbers } = await listOf(upTo(4));
    kept.push(...upTo(12).slice(4));
    await list.refresh();
    expect([numbers(), list.view().hasOlder]).toEqual([[12, 11, 10, 9], true]);
  });

  it("[BL-201] closes the gap from while it was held, and keeps the older rows that were read", async () => {
    const { list, kept, numbers } = await listOf(upTo(6));
    list.scrolled(true);
    await list.loadOlder();
    kept.push(row(7), row(8));
    await list.refresh();
    expect([numbers(), list.view().arrived]).toEqual([[6, 5, 4, 3, 2, 1], 2]);
    list.scrolled(false);
    await settled();
    expect([numbers(), list.view().arrived]).toEqual([[8, 7, 6, 5, 4, 3, 2, 1], 0]);
  });

  it("[BL-200] holds its rows if it is scrolled while an answer is pending", async () => {
    const { list, kept, hold, numbers } = await listOf(upTo(3));
    let answer = () => {};
    hold.until = new Promise<void>((resolve) => {
      answer = resolve;
    });
    kept.push(row(4));
    const reading = list.refresh();
    list.scrolled(true);
    answer();
    await reading;
    expect([numbers(), list.view().mode, list.view().arrived]).toEqual([[3, 2, 1], "scrolled", 1]);
  });

  it("[BL-201] drops rows that the source no longer has, and those of another run", async () => {
    const { list, kept, numbers } = await listOf(upTo(3));
    kept.splice(1, 1);
    await list.refresh();
    expect(numbers()).toEqual([3, 1]);
    kept.splice(0, 2, row(1, "again"));
    await list.refresh();
    expect([numbers(), list.rowAt(0)?.state]).toEqual([[1], "again"]);
    kept.splice(0);
    await list.refresh();
    expect([numbers(), list.view().loaded]).toEqual([[], true]);
  });

  it("[BL-202] holds a bounded number of rows, and says so", async () => {
    const { list, numbers } = await listOf(upTo(20));
    list.scrolled(true);
    for (let page = 0; page < 4; page++) await list.loadOlder();
    expect([numbers().length, list.view().isFull, list.view().hasOlder]).toEqual([10, true, false]);
    list.scrolled(false);
    expect([numbers().length, list.view().isFull, list.view().hasOlder]).toEqual([8, false, true]);
  });

  it("[BL-482] loads all rows that it can hold, unless the user goes elsewhere or a read fails", async () => {
    const always = () => true;
    const failure = { code: "CALL_INVALID", message: "Not now.", hint: "" } as const;
    const { list, numbers, hold } = await listOf(upTo(9));
    list.scrolled(true);
    await loadToEnd(list, () => list.view().count < 8);
    expect(numbers()).toEqual([9, 8, 7, 6, 5, 4, 3, 2]);
    // The page that is being read already is not read twice.
    hold.reads = 0;
    await Promise.all([list.loadOlder(), loadToEnd(list, always)]);
    expect([numbers().length, list.view().hasOlder, hold.reads]).toEqual([9, false, 1]);

    const { list: long } = await listOf(upTo(20));
    long.scrolled(true);
    await loadToEnd(long, always);
    expect([long.view().count, long.view().isFull]).toEqual([10, true]);

    const { list: failing, hold: held } = await listOf(upTo(9));
    held.until = Promise.reject(new FailureError(failure));
    await loadToEnd(failing, always);
    expect([failing.view().count, failing.view().failure]).toEqual([4, failure]);
  });

  it("[BL-201] ignores an older page for rows that were replaced meanwhile", async () => {
    const { list, kept, hold, numbers } = await listOf(upTo(8));
    let answer = () => {};
    hold.until = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const older = list.loadOlder();
    hold.until = undefined;
    kept.splice(0, 8, row(21), row(22));
    await list.replaced();
    answer();
    await older;
    expect(numbers()).toEqual([22, 21]);
  });

  it("[BL-200] reads once more what changed during a read, and never twice at once", async () => {
    const { list, kept, hold, numbers } = await listOf(upTo(2));
    hold.reads = 0;
    kept.push(row(3));
    const all = [list.refresh(), list.refresh(), list.refresh()];
    kept.push(row(4));
    await Promise.all(all);
    expect([numbers(), hold.reads]).toEqual([[4, 3, 2, 1], 2]);
  });

  it("[BL-129] a list of open rows shows one that stays open, and not one that ends within a moment", async () => {
    const wantsOpen = (filter: string) => filter === "open";
    const isOpen = ({ state }: Row) => state === "open";
    const openRows = { filter: "open", wantsOpen, isOpen, matcher: () => isOpen, openMs: 1_000 };
    const { list, numbers } = await listOf([], openRows);
    const shown = new Set<number>();
    onTestFinished(
      list.subscribe(() => {
        for (const number of numbers()) shown.add(number);
      }),
    );
    list.receive([row(1, "open"), row(2, "open")], 0);
    list.receive([row(3, "open"), row(2, "ended")], 0);
    expect(numbers()).toEqual([]);
    list.receive([row(3, "ended")], 0);
    await expect.poll(numbers).toEqual([1]);
    expect([...shown]).toEqual([1]);
    expect(list.view().matching).toBe(1);
    list.receive([row(1, "ended")], 0);
    expect([numbers(), list.view().matching]).toEqual([[], 0]);
  });

  it("[BL-343] keeps every row where it is while the user aims at one, also one that no longer matches", async () => {
    const isOpen = ({ state }: Row) => state === "open";
    const { list, numbers } = await listOf([row(1, "open"), row(2, "open")], { filter: "open", matcher: () => isOpen });
    list.aimed(true);
    list.receive([row(3, "open"), row(2, "ended")], 0);
    expect([numbers(), list.rowAt(0)?.state, list.view().mode, list.view().arrived]).toEqual([[2, 1], "ended", "aimed", 1]);
    list.aimed(false);
    expect([numbers(), list.view().mode, list.view().arrived]).toEqual([[3, 1], "following", 0]);
  });

  it("[BL-343] stays scrolled or paused if that happened while the user aimed", async () => {
    const { list } = await listOf(upTo(3));
    list.aimed(true);
    list.scrolled(true);
    list.aimed(false);
    expect(list.view().mode).toBe("scrolled");
    list.scrolled(false);
    list.aimed(true);
    list.pause();
    list.aimed(false);
    expect(list.view().mode).toBe("paused");
  });

  it("[BL-200] shows nothing of the last filter if only the source can filter", async () => {
    const { list, hold, numbers } = await listOf(upTo(2));
    let answer = () => {};
    hold.until = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const filtering = list.setFilter("another");
    expect([numbers(), list.view().loaded]).toEqual([[], false]);
    answer();
    await filtering;
    expect([numbers(), list.view().loaded]).toEqual([[2, 1], true]);
  });
});

describe("the log's list", () => {
  const line = (seq: number, change: Partial<LogLine> = {}): LogLine => ({
    seq,
    at: seq,
    source: "http",
    level: "info",
    text: `line ${seq}`,
    ...change,
  });

  it("[BL-203] asks the supervisor for matching lines, accepts them in any order once, and reads older ones", async () => {
    const kept = [line(1, { level: "error" }), line(2), line(3, { source: "mqtt" }), line(4), line(5, { level: "error" })];
    const asked: unknown[] = [];
    const rows = createLogRows({
      async read({ before = Number.POSITIVE_INFINITY, limit, level, source }) {
        asked.push({ level, source, before, limit });
        const lines = kept.filter(
          ({ seq, ...each }) =>
            seq < before && (level === "debug" || each.level === level) && (source === undefined || each.source === source),
        );
        return { lines: lines.slice(-limit), hasOlder: lines.length > limit, kept: kept.length };
      },
      nextFrame: atOnce,
      filter: { level: "debug", text: "" },
      pageRows: 2,
    });
    const shown = () =>
      rows
        .toArray()
        .map(({ seq }) => seq)
        .reverse();
    const reading = rows.reload();
    rows.receive([line(6), line(5, { level: "error" })], 0);
    await reading;
    expect([shown(), rows.view().hasOlder]).toEqual([[4, 5, 6], true]);
    await rows.loadOlder();
    expect(shown()).toEqual([2, 3, 4, 5, 6]);
    await rows.setFilter({ level: "error", text: "" });
    expect([shown(), asked.at(-1)]).toEqual([[1, 5], { level: "error", source: undefined, before: Number.POSITIVE_INFINITY, limit: 2 }]);
    rows.pause();
    rows.receive([line(7), line(8, { level: "error" })], 0);
    expect([shown(), rows.view().arrived]).toEqual([[1, 5], 1]);
    rows.resume();
    expect(shown()).toEqual([1, 5, 8]);
  });
});

import { afterEach, describe, expect, it, vi } from "vitest";
import type { Tone } from "../../contract/traffic/row.ts";
import type { ServiceBatch } from "../../servers/core/service/link.ts";
import { LogWriter, readLogs } from "../../servers/core/service/log.ts";
import type { TrafficEntry } from "../../servers/core/service/service.ts";
import { createOutbox, type OutboxLimits } from "../../servers/core/traffic/outbox.ts";
import type { RecordWriter } from "../../servers/core/traffic/record-writer.ts";
import { fixtureEntry } from "../supervisor/fixture-service.ts";
import { type Row, rowsOfBatch } from "../support/records.ts";
import { seededRandom } from "../support/seeded-random.ts";

const small: OutboxLimits = {
  entries: 10,
  heldBytes: 1_000,
  logs: 10,
  batchEntries: 4,
  batchBytes: 1 << 20,
  batchMs: 50,
  unacknowledged: 2,
  lastEntries: 4,
  intervalMs: 50,
};
/** A batch's bytes are used again for the next one. */
interface SentBatch extends ServiceBatch {
  readonly rows: readonly Row[];
}
const rowsOf = ({ rows }: SentBatch) => rows;

interface OpenEntry extends TrafficEntry {
  tone: Tone;
}

function openEntry(id: number, heldBytes = 10): OpenEntry {
  let tone: Tone = "pending";
  const setTone = (next: Tone) => {
    tone = next;
  };
  const entry: OpenEntry = Object.defineProperties(fixtureEntry(id, () => tone, heldBytes) as OpenEntry, {
    tone: { get: () => tone, set: setTone },
  });
  return entry;
}

function createTestOutbox(limits = small) {
  const batches: SentBatch[] = [];
  const outbox = createOutbox({ post: (batch) => batches.push({ ...batch, rows: rowsOfBatch(batch) }), limits });
  return { outbox, batches };
}

describe("outbox", () => {
  afterEach(() => vi.useRealTimers());

  it("[BL-42] delivered + dropped = all rows, over random sequences of beginnings, ends and acknowledgements", () => {
    vi.useFakeTimers();
    for (let seed = 1; seed <= 200; seed++) {
      const random = seededRandom(seed);
      const { outbox, batches } = createTestOutbox();
      const open: OpenEntry[] = [];
      let begun = 0;
      for (let step = 0; step < 300; step++) {
        const dice = random.below(10);
        if (dice < 5) {
          const entry = openEntry(outbox.nextId(), random.below(300));
          begun++;
          if (random.chance(0.3)) entry.tone = "ok";
          else open.push(entry);
          outbox.touch(entry);
        } else if (dice < 8 && open.length > 0) {
          const [entry] = open.splice(random.below(open.length), 1);
          if (!entry) continue;
          entry.tone = "ok";
          if (random.chance(0.5)) outbox.end(entry);
          else outbox.touch(entry);
        } else if (dice === 8) vi.advanceTimersByTime(random.below(60));
        else outbox.ack(batches.at(-1)?.seq ?? 0);
      }
      for (const entry of open) {
        entry.tone = "ok";
        outbox.end(entry);
      }
      outbox.flush();
      const told = batches.flatMap(rowsOf);
      const delivered = new Set(told.map(({ id }) => id));
      // What was told last of each row is its end: none looks open for ever.
      const last = new Map(told.map(({ id, tone }) => [id, tone]));
      expect({
        seed,
        all: delivered.size + (batches.at(-1)?.droppedRows ?? 0),
        open: [...last.values()].filter((tone) => tone === "pending"),
      }).toEqual({
        seed,
        all: begun,
        open: [],
      });
      outbox.close();
    }
  });

  it("[BL-42] a row dropped when it began but delivered when it ended is not counted as dropped", () => {
    vi.useFakeTimers();
    const { outbox, batches } = createTestOutbox({ ...small, entries: 2 });
    const entries = [1, 2, 3].map((id) => openEntry(id));
    for (const entry of entries) outbox.touch(entry);
    vi.advanceTimersByTime(0);
    expect(batches.map((batch) => [rowsOf(batch).map(({ id }) => id), batch.droppedRows])).toEqual([[[1, 2], 1]]);
    const third = entries[2] as OpenEntry;
    third.tone = "ok";
    outbox.touch(third);
    vi.advanceTimersByTime(50);
    expect(batches.slice(1).map((batch) => [rowsOf(batch).map(({ id, tone }) => [id, tone]), batch.droppedRows])).toEqual([
      [[[3, "ok"]], 0],
    ]);
    outbox.close();
  });

  it("[BL-42] counts lines that do not fit", () => {
    vi.useFakeTimers();
    const { outbox, batches } = createTestOutbox();
    for (let index = 0; index < 25; index++) outbox.log({ at: index, level: "info", text: String(index) });
    vi.advanceTimersByTime(0);
    expect(batches.map(({ logs, droppedLogs }) => [readLogs(logs).length, droppedLogs])).toEqual([[10, 15]]);
    outbox.close();
  });

  it("[BL-42] bounds the bytes of waiting rows", () => {
    vi.useFakeTimers();
    const { outbox, batches } = createTestOutbox({ ...small, heldBytes: 250 });
    for (let id = 1; id <= 6; id++) outbox.touch({ ...openEntry(id, 100), tone: "ok" } as OpenEntry);
    vi.advanceTimersByTime(0);
    expect(batches[0]?.droppedRows).toBe(3);
    outbox.close();
  });

  it("[BL-42] leaves out the parts of rows that go on, where too many bytes wait, and sends them soon", () => {
    vi.useFakeTimers();
    const { outbox, batches } = createTestOutbox({ ...small, heldBytes: 1_000, batchBytes: 100 });
    const entries = Array.from({ length: 3 }, (_, index) => {
      const entry = { ...openEntry(index + 1), open: true, heldBytes: 10, dropped: 0 };
      return Object.assign(entry, {
        dropParts() {
          entry.dropped++;
          entry.heldBytes = 10;
        },
      });
    });
    const [first, second, third] = entries as [(typeof entries)[0], (typeof entries)[0], (typeof entries)[0]];
    for (const entry of entries) outbox.touch(entry);
    vi.advanceTimersByTime(100);
    outbox.ack(batches.length);
    const before = batches.length;
    for (const entry of [first, second]) {
      entry.heldBytes += 500;
      outbox.touch(entry);
    }
    third.heldBytes += 500;
    outbox.touch(third);
    expect(entries.map(({ dropped, heldBytes }) => [dropped, heldBytes])).toEqual([
      [0, 510],
      [0, 510],
      [1, 10],
    ]);
    // Not after the interval.
    vi.advanceTimersByTime(1);
    expect(batches.length).toBeGreaterThan(before);
    outbox.close();
  });

  it("[BL-43] posts as many batches as may be unacknowledged, then waits for an acknowledgement", () => {
    vi.useFakeTimers();
    const { outbox, batches } = createTestOutbox();
    const ids = () => batches.map((batch) => rowsOf(batch).map(({ id }) => id));
    for (let id = 1; id <= 10; id++) outbox.touch(openEntry(id));
    vi.advanceTimersByTime(1_000);
    expect(ids()).toEqual([
      [1, 2, 3, 4],
      [5, 6, 7, 8],
    ]);
    outbox.ack(1);
    vi.advanceTimersByTime(1_000);
    expect(ids()).toHaveLength(3);
    expect(ids()[2]).toEqual([9, 10]);
    outbox.close();
  });

  it("[BL-43] a full batch is sent at once, the rest waits for the interval", () => {
    vi.useFakeTimers();
    const { outbox, batches } = createTestOutbox();
    const told = () => batches.map((batch) => rowsOf(batch).length);
    for (let id = 1; id <= 10; id++) outbox.touch(openEntry(id));
    vi.advanceTimersByTime(1);
    expect(told()).toEqual([4, 4]);
    outbox.ack(2);
    vi.advanceTimersByTime(40);
    expect(told()).toEqual([4, 4]);
    vi.advanceTimersByTime(10);
    expect(told()).toEqual([4, 4, 2]);
    outbox.close();
  });

  it("[BL-43] full batches of ended entries are sent within one turn of the event loop", () => {
    vi.useFakeTimers();
    const { outbox, batches } = createTestOutbox({ ...small, entries: 100, heldBytes: 10_000, unacknowledged: 3 });
    const end = (from: number, to: number) => {
      for (let id = from; id <= to; id++) outbox.end(Object.assign(openEntry(id), { tone: "ok" }));
    };
    const sent = () => batches.map((batch) => rowsOf(batch).length);
    end(1, 9);
    expect(sent()).toEqual([4, 4]);
    end(10, 22);
    expect(sent()).toEqual([4, 4, 4]);
    outbox.ack(2);
    expect(sent()).toEqual([4, 4, 4, 4, 4]);
    outbox.ack(5);
    vi.advanceTimersByTime(50);
    expect(batches.flatMap(rowsOf).map(({ id }) => id)).toEqual(Array.from({ length: 22 }, (_, at) => at + 1));
    outbox.close();
  });

  it("[BL-43] full batches of ended entries leave those that are open to the interval", () => {
    vi.useFakeTimers();
    const { outbox, batches } = createTestOutbox({ ...small, entries: 100, heldBytes: 10_000, unacknowledged: 9 });
    const ids = () => batches.map((batch) => rowsOf(batch).map(({ id }) => id));
    // The first one is sent immediately.
    outbox.end(Object.assign(openEntry(100), { tone: "ok" }));
    vi.advanceTimersByTime(1);
    const open = [1, 2, 3].map((id) => openEntry(id));
    for (const entry of open) outbox.touch(entry);
    for (let id = 4; id <= 12; id++) outbox.end(Object.assign(openEntry(id), { tone: "ok" }));
    vi.advanceTimersByTime(1);
    outbox.end(Object.assign(open[0] as OpenEntry, { tone: "ok" }));
    expect(ids()).toEqual([[100], [4, 5, 6, 7], [8, 9, 10, 11]]);
    vi.advanceTimersByTime(50);
    expect(batches.slice(3).flatMap(rowsOf)).toMatchObject([
      { id: 12, tone: "ok" },
      { id: 1, tone: "ok" },
      { id: 2, tone: "pending" },
      { id: 3, tone: "pending" },
    ]);
    outbox.close();
  });

  it("[BL-43] sends the end of a row that was sent as pending, however full the queue is", () => {
    vi.useFakeTimers();
    const { outbox, batches } = createTestOutbox({ ...small, entries: 1, batchEntries: 2 });
    const first = openEntry(1);
    outbox.touch(first);
    vi.advanceTimersByTime(0);
    outbox.touch(openEntry(2));
    first.tone = "ok";
    outbox.touch(first);
    outbox.flush();
    expect(batches.flatMap(rowsOf).map(({ id, tone }) => [id, tone])).toEqual([
      [1, "pending"],
      [2, "pending"],
      [1, "ok"],
    ]);
    outbox.close();
  });

  it("[BL-44] a flush posts the newest rows and the ends of announced rows, whatever the window, counts the rest, and leaves no timer", () => {
    vi.useFakeTimers();
    const { outbox, batches } = createTestOutbox();
    const first = openEntry(1);
    outbox.touch(first);
    vi.advanceTimersByTime(0);
    first.tone = "ok";
    outbox.touch(first);
    for (let id = 2; id <= 9; id++) outbox.touch(openEntry(id));
    outbox.flush();
    expect(batches.flatMap(rowsOf).map(({ id, tone }) => [id, tone])).toEqual([
      [1, "pending"],
      [1, "ok"],
      [7, "pending"],
      [8, "pending"],
      [9, "pending"],
    ]);
    expect(batches.at(-1)?.droppedRows).toBe(5);
    expect(vi.getTimerCount()).toBe(0);
    outbox.close();
  });

  it("[BL-45] continues the row ids of the previous process", () => {
    const outbox = createOutbox({ post: () => {}, firstRowId: 41 });
    expect([outbox.nextId(), outbox.nextId()]).toEqual([41, 42]);
    outbox.close();
  });

  it("[BL-126] a batch is sent when it is large enough or took long enough, and the rest waits for the next turn", async () => {
    const grown = createTestOutbox({ ...small, entries: 100, batchEntries: 100, batchBytes: 300, lastEntries: 20 });
    for (let id = 1; id <= 20; id++) grown.outbox.touch(openEntry(id, 1));
    grown.outbox.flush();
    expect(grown.batches.length).toBeGreaterThan(5);
    for (const { rows } of grown.batches) expect(rows.length).toBeLessThan(5);
    expect(grown.batches.flatMap(rowsOf).map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
    grown.outbox.close();

    const slow = createTestOutbox({ ...small, entries: 100, batchEntries: 100, batchMs: 1 });
    for (let id = 1; id <= 40; id++) {
      const entry = openEntry(id, 1);
      const write = entry.write.bind(entry);
      entry.write = (record) => {
        for (const until = performance.now() + 0.3; performance.now() < until; );
        write(record);
      };
      slow.outbox.touch(entry);
    }
    await vi.waitUntil(() => slow.batches.length > 0);
    expect(slow.batches[0]?.rows.length).toBeLessThan(20);
    slow.outbox.close();
  });

  it("[BL-126] an ended entry is written at once, in batches of bounded size, and released", () => {
    vi.useFakeTimers();
    const { outbox, batches } = createTestOutbox({ ...small, entries: 100 });
    const written: number[] = [];
    for (let id = 1; id <= 9; id++) {
      const entry = openEntry(id);
      outbox.touch(entry);
      entry.tone = "ok";
      const { write } = entry;
      outbox.end(
        Object.assign(entry, {
          write: (record: RecordWriter) => {
            written.push(id);
            write.call(entry, record);
          },
        }),
      );
    }
    expect(written).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    for (let turn = 0; turn < 3; turn++) {
      vi.advanceTimersByTime(50);
      outbox.ack(batches.at(-1)?.seq ?? 0);
    }
    expect(batches.map((batch) => rowsOf(batch).map(({ id, tone }) => [id, tone]))).toEqual([
      [1, 2, 3, 4].map((id) => [id, "ok"]),
      [5, 6, 7, 8].map((id) => [id, "ok"]),
      [[9, "ok"]],
    ]);
    outbox.close();
  });

  it("[BL-126] an entry that cannot be written is counted and does no harm", () => {
    vi.useFakeTimers();
    const { outbox, batches } = createTestOutbox();
    const broken = Object.assign(openEntry(2), {
      write: () => {
        throw new Error("cannot be written");
      },
    });
    for (const entry of [openEntry(1), broken, openEntry(3)]) outbox.touch(entry);
    vi.advanceTimersByTime(0);
    expect(batches.map((batch) => [rowsOf(batch).map(({ id }) => id), batch.droppedRows])).toEqual([[[1, 3], 1]]);
    outbox.close();
  });

  it("[BL-42] log lines are unchanged after they were sent as bytes", () => {
    const logs = [
      { at: 1.5, level: "debug", text: "" },
      { at: 2, level: "error", text: "a line • with more\nthan ASCII 🚦" },
      { at: 3, level: "info", text: "worth knowing", notable: true },
      { at: 4, level: "warning", text: "last" },
    ] as const;
    const writer = new LogWriter();
    for (const line of logs) writer.add(line);
    const taken = writer.take();
    expect(readLogs(taken)).toEqual(logs);
    writer.giveBack(taken);
    expect(readLogs(writer.take())).toEqual([]);
    for (let cut = 0; cut < taken.length; cut++) expect(readLogs(taken.subarray(0, cut)).length).toBeLessThan(4);
  });
});

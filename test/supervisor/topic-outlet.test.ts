import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Topic } from "../../contract/control.ts";
import type { TrafficRow } from "../../contract/traffic/row.ts";
import type { DownFrame } from "../../contract/wire.ts";
import { createTopicHub } from "../../servers/supervisor/topic-hub.ts";
import { createTopicOutlet } from "../../servers/supervisor/topic-outlet.ts";
import { seededRandom } from "../support/seeded-random.ts";

type Batch = Extract<DownFrame, { type: "batch" }>;
const row = (id: number) => ({ id }) as TrafficRow;
const idsOf = (batch: Batch | undefined) => (batch?.items as TrafficRow[] | undefined)?.map(({ id }) => id);

function open(topic: Topic = "traffic/http", hub = createTopicHub()) {
  const batches: Batch[] = [];
  const outlet = createTopicOutlet(topic, hub, (frame) => {
    if (frame.type === "batch") batches.push(frame);
  });
  return { hub, outlet, batches };
}

describe("topic outlet", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });

  it("[BL-50] sends two batches, then nothing until the first is acknowledged; then the newest rows, the others are counted", () => {
    const { hub, outlet, batches } = open();
    for (let id = 1; id <= 2; id++) {
      hub.publish("traffic/http", row(id));
      vi.advanceTimersByTime(1_000);
    }
    for (let id = 3; id <= 1_002; id++) hub.publish("traffic/http", row(id));
    vi.advanceTimersByTime(60_000);
    expect(batches.map((batch) => [batch.seq, idsOf(batch), batch.dropped])).toEqual([
      [1, [1], 0],
      [2, [2], 0],
    ]);
    outlet.ack(1);
    vi.advanceTimersByTime(60_000);
    expect(batches).toHaveLength(3);
    expect(idsOf(batches[2])).toEqual(Array.from({ length: 300 }, (_, index) => 703 + index));
    expect(batches[2]?.dropped).toBe(700);
    outlet.close();
  });

  it("[BL-50] delivered + dropped = all, over random sequences", () => {
    for (let seed = 1; seed <= 100; seed++) {
      const random = seededRandom(seed);
      const { hub, outlet, batches } = open();
      let published = 0;
      for (let step = 0; step < 200; step++) {
        const dice = random.below(3);
        if (dice === 0)
          hub.publishAll(
            "traffic/http",
            Array.from({ length: random.below(500) }, () => row(++published)),
          );
        else if (dice === 1) vi.advanceTimersByTime(random.below(120));
        else outlet.ack(random.below((batches.at(-1)?.seq ?? 0) + 3));
        const last = batches.at(-1);
        expect((last?.items.length ?? 0) <= 300).toBe(true);
      }
      // One that has acknowledged everything gets the rest.
      for (let round = 0; round < 3; round++) {
        outlet.ack(batches.at(-1)?.seq ?? 0);
        vi.advanceTimersByTime(1_000);
      }
      const delivered = batches.flatMap((batch) => idsOf(batch) ?? []);
      const dropped = batches.reduce((sum, batch) => sum + batch.dropped, 0);
      expect({ seed, all: delivered.length + dropped, twice: delivered.length - new Set(delivered).size }).toEqual({
        seed,
        all: published,
        twice: 0,
      });
      expect(delivered).toEqual(delivered.toSorted((left, right) => left - right));
      outlet.close();
    }
  });

  it("[BL-51] at most 20 batches a second of traffic, the first at once", () => {
    const { hub, outlet, batches } = open();
    let id = 0;
    for (let millisecond = 0; millisecond < 1_000; millisecond++) {
      hub.publish("traffic/http", row(++id));
      vi.advanceTimersByTime(1);
      outlet.ack(batches.at(-1)?.seq ?? 0);
    }
    expect(idsOf(batches[0])).toEqual([1]);
    expect(batches.length).toBeGreaterThanOrEqual(19);
    expect(batches.length).toBeLessThanOrEqual(21);
    outlet.close();
  });

  it("[BL-52] sends the newest per key, and begins with what is known", () => {
    const hub = createTopicHub();
    hub.publish("view/http", { name: "sse", value: 1 });
    hub.publish("view/http", { name: "sse", value: 2 });
    hub.publish("view/http", { name: "sample", value: 3 });
    const { outlet, batches } = open("view/http", hub);
    vi.advanceTimersByTime(0);
    hub.publish("view/http", { name: "sse", value: 4 });
    hub.publish("view/http", { name: "sse", value: 5 });
    vi.advanceTimersByTime(50);
    expect(batches.map(({ items, dropped }) => [items, dropped])).toEqual([
      [
        [
          { name: "sse", value: 2 },
          { name: "sample", value: 3 },
        ],
        0,
      ],
      [[{ name: "sse", value: 5 }], 0],
    ]);
    outlet.close();
  });

  it("tells when a topic gets its first subscriber and loses its last one", () => {
    const hub = createTopicHub();
    const watched: boolean[] = [];
    hub.onWatched("view/http", (isWatched) => watched.push(isWatched));
    const ends = [hub.subscribe("view/http", () => {}), hub.subscribe("view/http", () => {})];
    for (const end of [...ends, ...ends]) end();
    hub.subscribe("view/http", () => {});
    expect(watched).toEqual([true, false, true]);
  });

  it("[BL-53] an acknowledgement of a batch that was never sent is ignored", () => {
    const { hub, outlet, batches } = open();
    outlet.ack(1_000_000);
    for (let id = 1; id <= 10; id++) {
      hub.publish("traffic/http", row(id));
      vi.advanceTimersByTime(1_000);
    }
    expect(batches).toHaveLength(2);
    outlet.close();
  });

  it("[BL-58] sends the end of a row that was sent as pending, whatever else is dropped", () => {
    const { hub, outlet, batches } = open();
    const toned = (id: number, tone: TrafficRow["tone"]) => ({ id, tone }) as TrafficRow;
    hub.publishAll("traffic/http", [toned(1, "pending"), toned(2, "pending")]);
    vi.advanceTimersByTime(100);
    for (let id = 3; id <= 302; id++) hub.publish("traffic/http", toned(id, "ok"));
    vi.advanceTimersByTime(100);
    hub.publish("traffic/http", toned(1, "ok"));
    for (let id = 303; id <= 2_000; id++) hub.publish("traffic/http", toned(id, "ok"));
    hub.publish("traffic/http", toned(2, "failed"));
    outlet.ack(2);
    vi.advanceTimersByTime(100);
    expect(batches[2]?.items.slice(0, 2)).toEqual([toned(1, "ok"), toned(2, "failed")]);
    expect([batches[2]?.items.length, batches[2]?.dropped]).toEqual([302, 1_398]);
    outlet.close();
  });

  it("[BL-241] sends an open row again at most once a second with its newest state, and its end at once", () => {
    const { hub, outlet, batches } = open();
    const stream = (parts: number, tone: TrafficRow["tone"] = "pending") => ({ id: 1, tone, parts }) as TrafficRow;
    let parts = 0;
    /** A part each 10 ms, and a row of another exchange every 100 ms. */
    const pass = (milliseconds: number) => {
      for (let passed = 0; passed < milliseconds; passed += 10) {
        hub.publish("traffic/http", stream(++parts));
        if (passed % 100 === 0) hub.publish("traffic/http", { id: 1_000 + parts, tone: "ok" } as TrafficRow);
        vi.advanceTimersByTime(10);
        outlet.ack(batches.at(-1)?.seq ?? 0);
      }
    };
    pass(5_000);
    hub.publish("traffic/http", stream(++parts, "ok"));
    vi.advanceTimersByTime(50);
    const sent = batches.flatMap(({ items }) => items as TrafficRow[]);
    const ofStream = sent.filter(({ id }) => id === 1);
    expect(ofStream.length).toBeGreaterThanOrEqual(6);
    expect(ofStream.length).toBeLessThanOrEqual(8);
    expect(ofStream.at(-1)).toEqual(stream(501, "ok"));
    expect(sent.length - ofStream.length).toBe(50);

    hub.publish("traffic/http", { id: 2, tone: "pending" } as TrafficRow);
    vi.advanceTimersByTime(1_100);
    outlet.ack(batches.at(-1)?.seq ?? 0);
    hub.publish("traffic/http", { id: 2, tone: "pending", parts: 1 } as TrafficRow);
    vi.advanceTimersByTime(0);
    expect(batches.at(-1)?.items).toEqual([{ id: 2, tone: "pending", parts: 1 }]);
    outlet.ack(batches.at(-1)?.seq ?? 0);
    hub.publish("traffic/http", { id: 2, tone: "pending", parts: 2 } as TrafficRow);
    vi.advanceTimersByTime(1_100);
    expect(batches.at(-1)?.items).toEqual([{ id: 2, tone: "pending", parts: 2 }]);
    outlet.close();
  });

  it("[BL-413] sends no more changes of open rows in a batch than new rows, those that wait longest first, and their ends before them", () => {
    const { hub, outlet, batches } = open();
    const rows = (tone: TrafficRow["tone"], parts: number, from = 1) =>
      Array.from({ length: 1_000 - from + 1 }, (_, index) => ({ id: from + index, tone, parts }) as TrafficRow);
    for (const one of rows("pending", 0)) {
      hub.publish("traffic/http", one);
      if (one.id % 300 !== 0 && one.id !== 1_000) continue;
      vi.advanceTimersByTime(100);
      outlet.ack(batches.at(-1)?.seq ?? 0);
    }
    const before = batches.length;
    vi.advanceTimersByTime(1_100);
    hub.publishAll("traffic/http", rows("pending", 1));
    hub.publishAll("traffic/http", rows("ok", 2, 900));
    for (let passed = 0; passed < 1_000; passed += 10) {
      vi.advanceTimersByTime(10);
      outlet.ack(batches.at(-1)?.seq ?? 0);
    }
    const sent = batches.slice(before);
    expect(sent.map(({ items, dropped }) => [items.length, dropped])).toEqual([
      [300, 0],
      [300, 0],
      [300, 0],
      [100, 0],
    ]);
    const ids = sent.flatMap((batch) => idsOf(batch) ?? []);
    expect(ids.slice(0, 101)).toEqual(Array.from({ length: 101 }, (_, index) => 900 + index));
    expect(ids.slice(101)).toEqual(Array.from({ length: 899 }, (_, index) => 1 + index));
    outlet.close();
  });

  it("sends nothing any more once it is closed", () => {
    const { hub, outlet, batches } = open();
    hub.publish("traffic/http", row(1));
    outlet.close();
    hub.publish("traffic/http", row(2));
    vi.advanceTimersByTime(1_000);
    expect(batches).toEqual([]);
  });
});

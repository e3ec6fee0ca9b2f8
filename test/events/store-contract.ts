/** What every store of events must do; run against each database by `store.test.ts`. */
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { EventFilter, EventRow } from "../../contract/services/events.ts";
import { completionEvent, eventTime, type NewEvent, newEvent } from "../../servers/events/completion-event.ts";
import { countMatching } from "../../servers/events/count-matching.ts";
import { outcomePlot } from "../../servers/events/outcome-plot.ts";
import { pageOfEvents } from "../../servers/events/page-of-events.ts";
import { StepBudget } from "../../servers/events/step-budget.ts";
import type { EventStore } from "../../servers/events/store/event-store.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { type Body, device, eventBody } from "./harness.ts";

const dayMs = 86_400_000;
export const start = Date.UTC(2026, 10, 20, 12, 0, 0);

export const stored = (part: Body = {}, at = start): NewEvent =>
  newEvent(completionEvent.parse(eventBody(part)), {
    created_at: eventTime(at),
    ip_hash: "ab".repeat(32),
    plugin_version: part.language === "lua" ? "sample" : "0.5.0",
  });

/** Some thousand events over several blocks of ids, the same each time. */
export function manyEvents(count: number): NewEvent[] {
  const random = seededRandom(42);
  return Array.from({ length: count }, (_, index) =>
    stored(
      {
        device_id: device(random.below(7)),
        outcome: ["accepted", "rejected", "ignored"][random.below(3)],
        language: ["go", "rust", "lua"][random.below(3)],
        provider: ["a", "b"][random.below(2)],
        edit_count: random.below(1_000),
      },
      start + index * 7_000,
    ),
  );
}

export async function fill(store: EventStore, events: readonly NewEvent[]): Promise<void> {
  for (let index = 0; index < events.length; index += 1_000) await store.add(events.slice(index, index + 1_000));
}

export function storeContract(name: string, makeStore: () => Promise<EventStore>): void {
  describe(name, () => {
    it("[EV-60] can be opened twice, starts empty, and returns what was stored", async () => {
      const store = await makeStore();
      await store.open();
      expect(await store.stats()).toEqual({ total_events: 0, unique_devices: 0, accepted: 0, rejected: 0, ignored: 0 });
      expect([await store.newestId(), await store.count({}), await store.page({}, { limit: 10, offset: 0 })]).toEqual([0, 0, []]);
      const event = stored({ last_char: "\u0080", language: "ÿ 'quoted\" \\", relative_position: 0.1 });
      await store.add([event, stored({ device_id: device(2) })]);
      const [second, first] = await store.page({}, { limit: 10, offset: 0 });
      expect(first).toEqual({ id: 1, ...event });
      expect(Object.keys(first as EventRow)).toEqual(Object.keys({ id: 1, ...event }));
      expect(second?.id).toBe(2);
    });

    it("[EV-61] pages, counts and statistics equal a plain count over all rows, with every filter and offset", async () => {
      const store = await makeStore();
      const events = manyEvents(9_000);
      await fill(store, events);
      const rows = events.map((event, index) => ({ id: index + 1, ...event })).reverse();
      for (const filter of [
        {},
        { outcome: "rejected" },
        { device_id: device(3) },
        { device_id: device(3), outcome: "ignored" },
        { outcome: "none" },
      ]) {
        const matching = rows.filter(
          (row) => (!filter.device_id || row.device_id === filter.device_id) && (!filter.outcome || row.outcome === filter.outcome),
        );
        expect(await store.count(filter)).toBe(matching.length);
        for (const offset of [0, 1, 95, 4_000, 4_096, matching.length - 3, matching.length, 8_990, 20_000]) {
          if (offset < 0) continue;
          const page = await store.page(filter, { limit: 5, offset });
          expect(page.map(({ id }) => id)).toEqual(matching.slice(offset, offset + 5).map(({ id }) => id));
        }
        for (const [after, offset] of [
          [5_000, 0],
          [5_000, 3],
          [5_000, 1_000],
          [4_097, 90],
          [4_096, 90],
          [9_001, 6_000],
          [1, 0],
          [0, 2],
          [Number.MAX_SAFE_INTEGER, 4_500],
        ] as const) {
          expect((await store.page(filter, { limit: 4, offset, after })).map(({ id }) => id)).toEqual(
            matching
              .filter(({ id }) => id < after)
              .slice(offset, offset + 4)
              .map(({ id }) => id),
          );
        }
      }
      const of = (outcome: string) => rows.filter((row) => row.outcome === outcome).length;
      expect(await store.stats()).toEqual({
        total_events: 9_000,
        unique_devices: 7,
        accepted: of("accepted"),
        rejected: of("rejected"),
        ignored: of("ignored"),
      });
    });

    it("[EV-62] a group is stored completely or not at all", async () => {
      const store = await makeStore();
      await store.add([stored()]);
      const broken = { ...stored(), language: null as unknown as string };
      await expect(store.add([stored(), broken, stored()])).rejects.toThrow();
      expect([await store.count({}), (await store.page({}, { limit: 10, offset: 0 })).length]).toEqual([1, 1]);
      await store.add([stored()]);
      expect(await store.count({})).toBe(2);
    });

    it("[EV-63] scans and counts visit every match once, in both directions, with filters of every kind", async () => {
      const store = await makeStore();
      const events = manyEvents(3_000);
      await fill(store, events);
      const filters: EventFilter[] = [
        {},
        { language: "go" },
        { outcome: "accepted", provider: "b" },
        { text: "RUS" },
        { text: "100%_" },
        { from: start + 7_000_000, to: start + 9_000_500 },
        { device_id: device(2), language: "lua" },
        { sample: "only" },
        { sample: "without", outcome: "accepted" },
      ];
      for (const filter of filters) {
        const expected = events.flatMap((event, index) => (matches(event, filter) ? [index + 1] : []));
        for (const direction of ["ascending", "descending"] as const) {
          const ids: number[] = [];
          let from: number | undefined;
          for (let ended = false; !ended; ) {
            const scanned = await store.scan(filter, { direction, from, limit: 400 });
            ids.push(...scanned.found.map(({ id }) => id));
            from = scanned.reached;
            ended = scanned.ended;
          }
          expect(ids).toEqual(direction === "ascending" ? expected : expected.toReversed());
        }
        expect(await countMatching(store, filter)).toEqual({ matching: expected.length, exact: true });
      }
    });

    it("[EV-63] counts are exact for every outcome, language, provider and time, also of events that are older than earlier ones", async () => {
      const store = await makeStore();
      // On a slow machine the time allowed for a scan would end before its last row.
      const isSpent = vi.spyOn(StepBudget.prototype, "isSpent").mockReturnValue(false);
      onTestFinished(() => isSpent.mockRestore());
      const random = seededRandom(7);
      // Some days old, months old and of the last hours, out of order.
      const spans = [90 * dayMs, 20 * dayMs, dayMs, 3_600_000];
      const events = manyEvents(9_000).map((event, index) => ({
        ...event,
        created_at: eventTime(start - random.below(spans[(index >> 10) % spans.length] ?? 1)),
      }));
      await fill(store, events);
      const times = (): Pick<EventFilter, "from" | "to"> => {
        const [one, other] = [start - random.below(95 * dayMs), start - random.below(spans[random.below(spans.length)] ?? 1)];
        switch (random.below(4)) {
          case 0:
            return {};
          case 1:
            return { from: one };
          case 2:
            return { to: other };
          default:
            return { from: Math.min(one, other), to: Math.max(one, other) };
        }
      };
      const pick = (names: readonly string[]) => names[random.below(names.length)] as string;
      const filters = Array.from(
        { length: 60 },
        (): EventFilter => ({
          ...times(),
          ...(random.below(2) && { outcome: pick(["accepted", "rejected", "ignored"]) }),
          ...(random.below(2) && { language: pick(["go", "rust", "lua", "none"]) }),
          ...(random.below(3) === 0 && { provider: pick(["a", "b"]) }),
          ...(random.below(6) === 0 && { device_id: device(random.below(7)) }),
          ...(random.below(6) === 0 && { sample: random.below(2) ? ("only" as const) : ("without" as const) }),
          ...(random.below(6) === 0 && { text: pick(["go", "UST"]) }),
        }),
      );
      for (const filter of filters) {
        const expected = events.filter((event) => matches(event, filter)).length;
        expect([filter, await countMatching(store, filter)]).toEqual([filter, { matching: expected, exact: true }]);
      }
      for (const { created_at } of events.slice(0, 100)) {
        const from = Date.parse(created_at);
        const expected = events.filter((event) => Date.parse(event.created_at) >= from).length;
        expect([created_at, await countMatching(store, { from })]).toEqual([created_at, { matching: expected, exact: true }]);
      }
    });

    it("[EV-64] deletes what matches, keeps what is newer than asked for, and the rollups follow", async () => {
      const store = await makeStore();
      const events = manyEvents(6_000);
      await fill(store, events);
      while ((await store.catchUpPlots()) > 0);
      const doomed: EventFilter = { outcome: "rejected", language: "go" };
      let from: number | undefined;
      let removed = 0;
      for (let ended = false; !ended; ) {
        const part = await store.remove(doomed, { from, to: 5_000, limit: 300 });
        removed += part.found;
        from = part.reached;
        ended = part.ended;
      }
      const left = events.filter((event, index) => index >= 5_000 || !matches(event, doomed));
      expect(removed).toBe(6_000 - left.length);
      expect(await store.count({ outcome: "rejected" })).toBe(left.filter(({ outcome }) => outcome === "rejected").length);
      const all = await readAll(store);
      expect(all.map(({ edit_count }) => edit_count)).toEqual(left.map(({ edit_count }) => edit_count));
      for (const offset of [0, 4_000, left.length - 2]) {
        const page = await store.page({}, { limit: 2, offset });
        expect(page.map(({ id }) => id)).toEqual(
          all
            .toReversed()
            .slice(offset, offset + 2)
            .map(({ id }) => id),
        );
      }
      const plot = await outcomePlot(store, "all", {}, start + dayMs);
      expect([plot.total, plot.byLanguage.find(({ name }) => name === "go")?.total]).toEqual([
        left.length,
        left.filter(({ language }) => language === "go").length,
      ]);
      await store.remove({ device_id: device(0) }, { limit: 10_000 });
      expect((await store.stats()).unique_devices).toBe(6);
      // An id is never given twice.
      await store.remove({}, { limit: 100_000 });
      expect(await store.stats()).toEqual({ total_events: 0, unique_devices: 0, accepted: 0, rejected: 0, ignored: 0 });
      await store.add([stored()]);
      expect(await store.newestId()).toBe(6_001);
    });

    it("[EV-79] counts the stored events that equal others in all but the id", async () => {
      const store = await makeStore();
      const odd = stored({ last_char: "\u0080", language: "ÿ 'q\" \\\0", relative_position: 0.1, typing_speed: 1e-7, recent_actions: [] });
      const later = { ...odd, created_at: eventTime(start + 1_000) };
      await store.add([odd, stored(), odd, later, odd]);
      const other = { ...odd, predicted_edit_ratio: 0.3301 };
      expect(await store.countEqual([odd, other, stored(), later, odd], 5)).toEqual([3, 0, 1, 1, 3]);
      expect(await store.countEqual([odd, later], 3)).toEqual([2, 0]);
      expect(await store.countEqual([], 5)).toEqual([]);
    });

    it("[EV-66] the dashboard's pages sort by every column, both ways, and say whether their count is exact", async () => {
      const store = await makeStore();
      const events = manyEvents(500);
      await fill(store, events);
      const page = (params: object) =>
        pageOfEvents(store, { filter: {}, sort: "id", direction: "descending", limit: 10, offset: 0, ...params } as Parameters<
          typeof pageOfEvents
        >[1]);
      expect((await page({ direction: "ascending", offset: 3 })).rows.map(({ id }) => id)).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
      const byEdits = await page({ sort: "edit_count", limit: 500 });
      expect(byEdits.rows.map(({ edit_count }) => edit_count)).toEqual(
        events.map(({ edit_count }) => edit_count).sort((left, right) => right - left),
      );
      expect(byEdits).toMatchObject({ matching: 500, exact: true, more: false });
      const first = await page({ filter: { language: "go" }, limit: 5 });
      const next = await page({ filter: { language: "go" }, limit: 5, before: first.reached });
      const ids = events.flatMap(({ language }, index) => (language === "go" ? [index + 1] : [])).reverse();
      expect([...first.rows, ...next.rows].map(({ id }) => id)).toEqual(ids.slice(0, 10));
      expect(first.matching).toBe(ids.length);
      for (const filter of [
        { language: "go" },
        { text: "UST" },
        { from: start + 1_000_000 },
        { device_id: device(2), to: start + 2_000_000 },
      ]) {
        const all = events.flatMap((event, index) => (matches(event, filter) ? [index + 1] : []));
        for (const direction of ["ascending", "descending"] as const) {
          const ordered = direction === "ascending" ? all : all.toReversed();
          for (const offset of [
            0,
            3,
            Math.floor(all.length * 0.4),
            Math.floor(all.length * 0.6),
            all.length - 4,
            all.length,
            all.length + 5,
          ]) {
            const { rows, more, ...counted } = await page({ filter, direction, offset, limit: 7 });
            expect([direction, offset, rows.map(({ id }) => id)]).toEqual([direction, offset, ordered.slice(offset, offset + 7)]);
            expect(counted).toMatchObject({ matching: all.length, exact: true });
            if (offset + 7 < all.length) expect(more).toBe(true);
            if (rows.length > 0 && offset + 7 >= all.length && offset > all.length / 2) expect(more).toBe(false);
          }
        }
      }
      expect(await store.devices(device(3).slice(0, -1), 3)).toEqual(
        [0, 1, 2].map((number) => ({
          device_id: device(number),
          events: events.filter(({ device_id }) => device_id === device(number)).length,
        })),
      );
    });
  });
}

async function readAll(store: EventStore): Promise<EventRow[]> {
  const rows: EventRow[] = [];
  let from: number | undefined;
  for (;;) {
    const { found, reached, ended } = await store.scan({}, { direction: "ascending", from, limit: 1_000 });
    rows.push(...found);
    from = reached;
    if (ended) return rows;
  }
}

export function matches(event: NewEvent, filter: EventFilter): boolean {
  const at = Date.parse(event.created_at);
  return (
    (!filter.device_id || event.device_id === filter.device_id) &&
    (!filter.outcome || event.outcome === filter.outcome) &&
    (!filter.language || event.language === filter.language) &&
    (!filter.provider || event.provider === filter.provider) &&
    (!filter.sample || (filter.sample === "only") === (event.plugin_version === "sample")) &&
    (!filter.text || event.language.includes(filter.text.toLowerCase())) &&
    (filter.from === undefined || at >= filter.from) &&
    (filter.to === undefined || at <= filter.to)
  );
}

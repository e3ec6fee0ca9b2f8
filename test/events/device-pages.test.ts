import path from "node:path";
import { expect, it } from "vitest";
import { createLog } from "../../servers/core/service/log.ts";
import { pageOfEvents } from "../../servers/events/page-of-events.ts";
import { deviceEntries } from "../../servers/events/store/sqlite-device-pages.ts";
import { createSqliteStore } from "../../servers/events/store/sqlite-store.ts";
import { turnEntries } from "../../servers/events/store/sqlite-time-scans.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { device, onEnd } from "./harness.ts";
import { fill, start, stored } from "./store-contract.ts";

const events = 40_000;
const own = device(1);
/** Ids 1 to 3 are rejected, the rest accepted; every 10th is of another device. */
const isOther = (id: number) => id % 10 === 0;

async function filled() {
  const store = createSqliteStore({
    file: path.join(temporaryDir(), "events.db"),
    log: createLog({ level: () => "error", write: () => {} }),
  });
  onEnd(() => store.close());
  await store.open();
  await fill(
    store,
    Array.from({ length: events }, (_, index) =>
      stored({ device_id: isOther(index + 1) ? device(2) : own, outcome: index < 3 ? "rejected" : "accepted" }, start + index * 1_000),
    ),
  );
  return store;
}

const ids = (rows: readonly { readonly id: number }[]) => rows.map(({ id }) => id);

it("[EV-199] a page of a device is read in steps of a few thousand entries, with every filter, offset and cursor", async () => {
  const store = await filled();
  const descending = Array.from({ length: events }, (_, index) => events - index).filter((id) => !isOther(id));
  const steps = Math.floor(descending.length / deviceEntries);
  const read = async (outcome: string | undefined, part: { limit: number; offset: number; after?: number }) => {
    let turns = 0;
    const rows = await store.page({ device_id: own, outcome }, part, async () => void turns++);
    return { ids: ids(rows), turns };
  };
  const after = events + 1;
  expect(await read("rejected", { limit: 5, offset: 0 })).toEqual({ ids: [3, 2, 1], turns: steps });
  expect(await read("rejected", { limit: 1, offset: 1, after })).toEqual({ ids: [2], turns: steps });
  expect(await read("rejected", { limit: 5, offset: 2 })).toEqual({ ids: [1], turns: 0 });
  expect(await read("ignored", { limit: 5, offset: 0, after })).toEqual({ ids: [], turns: 0 });
  const offset = 30_000;
  expect(await read(undefined, { limit: 3, offset, after })).toEqual({
    ids: descending.slice(offset, offset + 3),
    turns: Math.ceil(offset / deviceEntries),
  });
  expect(await read(undefined, { limit: 3, offset: 16_000 })).toEqual({
    ids: descending.slice(16_000, 16_003),
    turns: Math.ceil(16_000 / deviceEntries),
  });
  expect(await read(undefined, { limit: 1_000, offset: 0 })).toEqual({ ids: descending.slice(0, 1_000), turns: 0 });
  expect(await read("accepted", { limit: 9, offset: 0 })).toEqual({ ids: descending.slice(0, 9), turns: 0 });
  // What matches at both sides of a step.
  const edge = deviceEntries - 2;
  expect(await read("accepted", { limit: 4, offset: edge })).toEqual({ ids: descending.slice(edge, edge + 4), turns: 1 });
});

it("[EV-199] a scan and a count of a device visit a few thousand entries, and a deep page in the order of time a few thousand in a step", async () => {
  const store = await filled();
  for (const direction of ["ascending", "descending"] as const) {
    for (const filter of [
      { device_id: own, outcome: "ignored" },
      { device_id: own, text: "absent" },
      { device_id: own, language: "none" },
    ]) {
      const counted = await store.countBetween(filter, { direction, limit: events });
      const scanned = await store.scan(filter, { direction, limit: 10 });
      // Nine of ten ids are the device's.
      const nearest = Math.floor((deviceEntries / 9) * 10) - 1;
      const reached = direction === "ascending" ? nearest : events - nearest;
      expect([counted.found, scanned.found, counted.ended, scanned.ended]).toEqual([0, [], false, false]);
      for (const part of [counted, scanned]) expect(Math.abs(part.reached - reached)).toBeLessThan(20);
    }
  }
  const rare = { device_id: own, outcome: "rejected", text: own };
  const common = { filter: rare, direction: "descending", limit: 10, offset: 0 } as const;
  expect(ids((await pageOfEvents(store, { ...common, sort: "id" })).rows)).toEqual([3, 2, 1]);

  const skipped = await store.scanInTime({}, { direction: "descending", limit: 5, skip: 19_000 });
  expect([skipped.found, skipped.skipped, skipped.ended]).toEqual([[], turnEntries, false]);
  const deep = await pageOfEvents(store, { filter: {}, sort: "created_at", direction: "descending", limit: 3, offset: 19_000 });
  expect(ids(deep.rows)).toEqual([21_000, 20_999, 20_998]);
});

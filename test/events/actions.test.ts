import path from "node:path";
import { expect, it } from "vitest";
import type { ExportPart } from "../../contract/export.ts";
import type { ParamsOf } from "../../contract/operation.ts";
import { type EventJob, type EventRow, type EventsActions, eventColumns } from "../../contract/services/events.ts";
import { createLog } from "../../servers/core/service/log.ts";
import { createDataActions } from "../../servers/events/events-actions.ts";
import { createSqliteStore } from "../../servers/events/store/sqlite-store.ts";
import { createStoreAccess } from "../../servers/events/store-access.ts";
import { createEventLog } from "../support/event-log.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { until } from "../support/until.ts";
import { device, type EventsUnderTest, eventBody, getPage, getStats, onEnd, post, postAll, startEvents } from "./harness.ts";

const silent = createLog({ level: () => "error", write: () => {} });

const job = (events: EventsUnderTest, id: number) => events.view("jobs")?.find((one) => one.id === id);
async function ended(events: EventsUnderTest, { id }: EventJob): Promise<EventJob> {
  await expect.poll(() => job(events, id)?.state).toMatch(/done|cancelled|failed/);
  return job(events, id) as EventJob;
}

it("[EV-70] the page shows an accepted event within a second of its POST", async () => {
  const events = await startEvents();
  await getStats(events.url);
  await post(events.url, eventBody());
  await expect
    .poll(() => events.view("totals"), { timeout: 1_000, interval: 20 })
    .toEqual({ newestId: 1, events: 1, devices: 1, accepted: 1, rejected: 0, ignored: 0 });
  const page = await events.act("page");
  expect(page).toMatchObject({ matching: 1, exact: true, more: false });
  expect(page.rows[0]?.device_id).toBe(device(1));
});

it("[EV-246] a time behind the last day, and a text with the character U+0000, are refused and match nothing", async () => {
  const events = await startEvents();
  await post(events.url, eventBody());
  const last = Date.UTC(9999, 11, 31) - 1;
  for (const filter of [{ from: last + 1 }, { to: last + 1 }, { text: "\0" }, { text: "a\0b" }])
    for (const action of ["page", "delete.count"] as const)
      await expect(events.act(action, { filter } as never)).rejects.toMatchObject({ code: "CALL_INVALID" });
  expect(await events.act("page", { filter: { from: last } })).toMatchObject({ matching: 0 });
  expect(await events.act("page", { filter: { to: last } })).toMatchObject({ matching: 1 });
  expect(await events.act("delete.count", { filter: { from: last } })).toMatchObject({ matching: 0 });
});

/** All parts of an export, joined, with how many events each had. */
async function exported(
  events: EventsUnderTest,
  params: ParamsOf<EventsActions["export"]>,
): Promise<{ text: string; parts: number[]; total?: number | undefined }> {
  const parts: ExportPart[] = [];
  do parts.push(await events.act("export", { ...params, after: parts.at(-1)?.next }));
  while (parts.at(-1)?.next !== undefined);
  return { text: parts.map(({ text }) => text).join(""), parts: parts.map(({ items }) => items), total: parts[0]?.total };
}

it.each(["csv", "jsonl"] as const)(
  "[EV-71] an export as %s has the events that match the filter, oldest first, and an import elsewhere gives the same events",
  async (format) => {
    const events = await startEvents({ rateLimits: false });
    await postAll(events.url, [
      eventBody({ last_char: '"', last_nonws_char: ",", language: 'a "b", c\nd', recent_actions: [] }),
      eventBody({ outcome: "rejected", last_char: "\r", provider: "=1+1", typing_speed: 1e-7 }),
      eventBody({ outcome: "ignored", device_id: device(2) }),
    ]);
    const { text, parts, total } = await exported(events, { format, filter: { device_id: device(1) } });
    expect([parts, total]).toEqual([[2], 2]);
    if (format === "csv") expect(text.slice(0, text.indexOf("\r\n"))).toBe(eventColumns.join(","));

    const other = await startEvents();
    const { id } = await other.act("import.begin", { format });
    // In pieces that end anywhere.
    for (let index = 0; index < text.length; index += 37) await other.act("import.text", { job: id, text: text.slice(index, index + 37) });
    expect(await other.act("import.end", { job: id })).toMatchObject({ state: "done", done: 2, refused: 0, refusedLines: [] });
    const original = (await getPage(events.url, `?device_id=${device(1)}`)).data;
    expect((await getPage(other.url)).data.map(({ id: _id, ...rest }) => rest)).toEqual(original.map(({ id: _id, ...rest }) => rest));
  },
);

/** Imports a text in one piece. */
async function imported(events: EventsUnderTest, format: "csv" | "jsonl", text: string): Promise<EventJob> {
  const { id } = await events.act("import.begin", { format });
  await events.act("import.text", { job: id, text });
  return events.act("import.end", { job: id });
}

it.each(["csv", "jsonl"] as const)(
  "[EV-79] a file of %s that is imported twice adds nothing the second time, and its equal events are told apart by their number",
  async (format) => {
    const events = await startEvents({ rateLimits: false });
    const same = eventBody({ language: "=1", typing_speed: 0.1 });
    await postAll(events.url, [same, same, eventBody({ last_char: "\u0080" }), same]);
    const { text } = await exported(events, { format, filter: {} });
    expect(await imported(events, format, text)).toMatchObject({ state: "done", done: 0, existing: 4, refused: 0 });
    expect(await getStats(events.url)).toMatchObject({ total_events: 4 });

    const other = await startEvents({ rateLimits: false });
    const lines = text.split("\n");
    const names = format === "csv" ? 1 : 0;
    const part = lines.slice(0, names + 2).join("\n");
    // Two of the three equal ones are there before the whole file is imported.
    expect(await imported(other, format, `${part}\n`)).toMatchObject({ done: 2, existing: 0 });
    await post(other.url, eventBody({ device_id: device(2) }));
    expect(await imported(other, format, text)).toMatchObject({ done: 2, existing: 2 });
    expect(await imported(other, format, text)).toMatchObject({ done: 0, existing: 4 });
    expect((await getPage(other.url)).total).toBe(5);
  },
);

it("[EV-79] events that differ in one value only are all imported", async () => {
  const events = await startEvents({ rateLimits: false });
  await ended(events, await events.act("sample.generate", { count: 200, days: 0.001 }));
  const { text } = await exported(events, { format: "jsonl" });
  const changed = text.replaceAll(/"edit_count":\d+/g, '"edit_count":987654');
  expect(await imported(events, "jsonl", text + changed)).toMatchObject({ done: 200, existing: 200 });
  expect(await imported(events, "jsonl", changed + text)).toMatchObject({ done: 0, existing: 400 });
});

it("[EV-72] an import reports each refused line with the reason, and stores the others", async () => {
  const events = await startEvents();
  const lines = [
    JSON.stringify(eventBody()),
    "not json",
    "",
    JSON.stringify(eventBody({ outcome: "error" })),
    "[1]",
    JSON.stringify({ ...eventBody(), created_at: "yesterday" }),
    JSON.stringify({ ...eventBody(), created_at: "2026-02-31T10:00:00Z" }),
    JSON.stringify({
      ...eventBody(),
      created_at: "2026-01-02T03:04:05Z",
      after_cursor_ws: 1,
      recent_actions: '["CM"]',
      plugin_version: "0.4",
    }),
  ];
  const { id } = await events.act("import.begin", { format: "jsonl" });
  await events.act("import.text", { job: id, text: `\ufeff${lines.join("\n")}` });
  const report = await events.act("import.end", { job: id });
  expect(report).toMatchObject({ state: "done", done: 2, refused: 5 });
  expect(report.refusedLines).toEqual([
    { line: 2, reason: "not JSON" },
    { line: 4, reason: expect.stringMatching(/^outcome: /) },
    { line: 5, reason: "not a JSON object" },
    { line: 6, reason: expect.stringMatching(/^created_at is not a time/) },
    { line: 7, reason: expect.stringMatching(/^created_at is not a time/) },
  ]);
  expect((await getPage(events.url)).data[0]).toMatchObject({
    created_at: "2026-01-02T03:04:05Z",
    after_cursor_ws: 1,
    recent_actions: '["CM"]',
    plugin_version: "0.4",
  });
  const csv = await events.act("import.begin", { format: "csv" });
  await events.act("import.text", { job: csv.id, text: "device_id,outcome\nx\n" });
  expect((await events.act("import.end", { job: csv.id })).refusedLines).toEqual([{ line: 2, reason: "1 cells under 2 names" }]);
});

it("[EV-73] generated samples are counted at once, with their times spread over the days", async () => {
  const events = await startEvents();
  const done = await ended(events, await events.act("sample.generate", { count: 2_500, days: 3 }));
  expect(done).toMatchObject({ kind: "generate", state: "done", done: 2_500 });
  const { total, data } = await getPage(events.url, "?limit=1000&offset=1500");
  expect(total).toBe(2_500);
  const first = Date.parse((data.at(-1) as EventRow).created_at);
  expect(Math.abs(Date.now() - 3 * 86_400_000 - first)).toBeLessThan(600_000);
  const plot = await events.act("plot", { range: "7d" });
  expect(plot.total).toBe(2_500);
  expect(plot.byLanguage.length).toBeGreaterThan(3);
});

it("[EV-74] a deletion deletes the events that match its filter, as many as were counted", async () => {
  const events = await startEvents();
  await ended(events, await events.act("sample.generate", { count: 3_000, days: 1 }));
  const filter = { language: "go" };
  const { matching } = await events.act("delete.count", { filter });
  expect(matching).toBeGreaterThan(100);
  const done = await ended(events, await events.act("delete.start", { filter }));
  expect(done).toMatchObject({ state: "done", done: matching, total: matching });
  expect((await getPage(events.url)).total).toBe(3_000 - matching);
  expect(await events.act("page", { filter })).toMatchObject({ rows: [], matching: 0 });
});

it("[EV-74] a deletion by text also reports its count", async () => {
  const events = await startEvents();
  await ended(events, await events.act("sample.generate", { count: 3_000, days: 1 }));
  const filter = { text: "GO" };
  const { matching, exact } = await events.act("delete.count", { filter });
  const done = await ended(events, await events.act("delete.start", { filter }));
  expect([exact, done.done, done.total]).toEqual([true, matching, matching]);
});

it("[EV-76] a deletion takes some hundred events at a time: the rollups of each may have rows of its own", async () => {
  const store = createSqliteStore({ file: path.join(temporaryDir(), "events.db"), log: silent });
  const removed: number[] = [];
  const remove: typeof store.remove = async (...range) => {
    const part = await store.remove(...range);
    removed.push(part.found);
    return part;
  };
  const access = createStoreAccess({ store: { ...store, remove }, log: silent, view: () => {} });
  let shown: readonly EventJob[] = [];
  const data = createDataActions({ access, log: silent, showJobs: (jobs) => (shown = jobs) });
  onEnd(access.close);
  onEnd(data.close);
  await data.handlers["sample.generate"]({ count: 2_000, days: 1 });
  await until(() => shown[0]?.state === "done");
  await data.handlers["delete.start"]({ filter: {} });
  await until(() => shown[0]?.kind === "delete" && shown[0].state === "done");
  expect(removed.reduce((sum, events) => sum + events, 0)).toBe(2_000);
  expect(Math.max(...removed)).toBeLessThanOrEqual(500);
});

it("[EV-72] chunks that arrive while others are stored are stored together, each once and in order, and the import reports its progress", async () => {
  const dir = temporaryDir();
  const sizes: number[] = [];
  const store = createSqliteStore({ file: path.join(dir, "events.db"), log: silent });
  const counting = {
    ...store,
    add: (added: Parameters<typeof store.add>[0]) => store.add(added).then(() => void sizes.push(added.length)),
  };
  const access = createStoreAccess({ store: counting, log: silent, view: () => {} });
  let shown: readonly EventJob[] = [];
  const { handlers, close } = createDataActions({
    access,
    log: silent,
    showJobs(jobs) {
      shown = jobs;
    },
  });
  onEnd(access.close);
  onEnd(close);
  const lines = Array.from({ length: 40 }, (_, index) => `${JSON.stringify(eventBody({ edit_count: index }))}\n`);
  const size = Buffer.byteLength(lines.join(""));
  const { id } = await handlers["import.begin"]({ format: "jsonl", size });
  await Promise.all(lines.map((text) => handlers["import.text"]({ job: id, text })));
  expect(shown[0]).toMatchObject({ done: 40, bytes: size, size });
  await handlers["import.end"]({ job: id });
  expect(sizes.length).toBeLessThan(5);
  const rows = (await store.page({}, { limit: 100, offset: 0 })).map(({ edit_count }) => edit_count);
  expect(rows).toEqual(Array.from({ length: 40 }, (_, index) => 39 - index));
});

it("[EV-75] a cancelled import keeps the events it stored; unknown jobs are refused", async () => {
  const events = await startEvents();
  const { id } = await events.act("import.begin", { format: "jsonl" });
  await events.act("import.text", { job: id, text: `${JSON.stringify(eventBody())}\n` });
  await events.act("job.cancel", { job: id });
  expect(await ended(events, { id } as EventJob)).toMatchObject({ state: "cancelled", done: 1 });
  await expect(events.act("import.text", { job: id, text: "" })).rejects.toMatchObject({ code: "JOB_UNKNOWN" });
  await expect(events.act("job.cancel", { job: 99 })).rejects.toMatchObject({ code: "JOB_UNKNOWN" });
});

it("[EV-75] an import whose page was closed ends by itself, and reports what it stored", async () => {
  const dataDir = temporaryDir();
  const access = createStoreAccess({
    store: createSqliteStore({ file: path.join(dataDir, "events.db"), log: silent }),
    log: silent,
    view: () => {},
  });
  onEnd(access.close);
  const told = createEventLog<readonly EventJob[]>();
  const data = createDataActions({ access, log: silent, showJobs: told.add, importIdleMs: 1_000 });
  onEnd(data.close);
  const { handlers } = data;
  const { id } = await handlers["import.begin"]({ format: "jsonl" });
  const line = `${JSON.stringify(eventBody())}\n`;
  for (let piece = 0; piece < 5; piece++) await handlers["import.text"]({ job: id, text: `${line}no event\n` });
  const [cancelled] = await told.until(([newest]) => newest?.state === "cancelled");
  expect(cancelled).toMatchObject({ id, done: 5, refused: 5, failure: { code: "IMPORT_ABANDONED" } });
  await expect(handlers["import.text"]({ job: id, text: line })).rejects.toMatchObject({ code: "JOB_UNKNOWN" });
  expect(await access.store.count({})).toBe(5);
});

it("[EV-75] an import interrupted by a stop is logged, and not shown after the next start", async () => {
  const events = await startEvents();
  await expect.poll(() => events.view("jobs")).toEqual([]);
  const { id } = await events.act("import.begin", { format: "jsonl" });
  await events.act("import.text", { job: id, text: `${JSON.stringify(eventBody())}\n` });
  await events.stop();
  expect(events.logs.map(({ text }) => text)).toContain("The import was interrupted by the end of the service, after 1 event");
  const browsing = await startEvents({}, { dataDir: events.dataDir, mode: "browse" });
  await expect.poll(() => browsing.view("jobs")).toEqual([]);
});

it("[EV-76] an export is sent in parts of bounded size, and ends although more events arrive", async () => {
  const events = await startEvents();
  await ended(events, await events.act("sample.generate", { count: 5_500, days: 30 }));
  const first = await events.act("export", { format: "jsonl" });
  expect(first).toMatchObject({ items: 200, total: 5_500 });
  await ended(events, await events.act("sample.generate", { count: 2_000, days: 1 }));
  const ids = first.text
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as EventRow).id);
  for (let after = first.next; after !== undefined; ) {
    const part: ExportPart = await events.act("export", { format: "jsonl", after });
    expect(part.items).toBeLessThanOrEqual(200);
    ids.push(
      ...part.text
        .split("\n")
        .filter(Boolean)
        .map((line) => (JSON.parse(line) as EventRow).id),
    );
    after = part.next;
  }
  expect(ids).toEqual(Array.from({ length: 5_500 }, (_, index) => index + 1));
  await expect(events.act("export", { format: "csv", after: "x" })).rejects.toMatchObject({ code: "CALL_INVALID" });
});

it("[EV-77] sample traffic posts to the service until it is stopped", async () => {
  const events = await startEvents();
  await events.act("sample.start");
  await expect.poll(() => events.view("totals")?.events ?? 0).toBeGreaterThan(1);
  expect(events.view("sample")).toMatchObject({ running: true });
  expect((await events.act("page", { filter: { sample: "without" } })).rows).toEqual([]);
  await events.act("sample.stop");
  await expect.poll(() => events.view("sample")).toEqual({ running: false });
});

it("[EV-78] the page's actions work while the service is stopped", async () => {
  const events = await startEvents();
  await postAll(events.url, [eventBody(), eventBody({ outcome: "ignored" })]);
  await events.stop();
  const browsing = await startEvents({}, { dataDir: events.dataDir, mode: "browse" });
  expect(browsing.url).toBe("");
  expect(await browsing.act("page", { filter: { outcome: "ignored" } })).toMatchObject({ matching: 1 });
  expect(await browsing.act("plot", { range: "1h" })).toMatchObject({ total: 2, accepted: 1 });
  expect(await exported(browsing, { format: "csv" })).toMatchObject({ parts: [2], total: 2 });
  await expect(browsing.act("sample.start")).rejects.toMatchObject({ code: "SERVICE_NOT_RUNNING" });
});

it("[EV-91] a CSV has no formulas: such cells begin with an apostrophe, which an import removes; raw leaves formulas as they are", async () => {
  const events = await startEvents();
  const texts = ["=1+1", "@x", "+a", "-b", "'=c", "plain", "it's"];
  await postAll(
    events.url,
    texts.map((language) => eventBody({ language, last_char: "=", file_ext: '"\r\n,' })),
  );
  const exportOf = async (raw: boolean) => (await events.act("export", { format: "csv", filter: {}, raw })).text;
  const csv = await exportOf(false);
  const languages = (text: string) => texts.map((language) => [`,'${language},`, `,${language},`].map((cell) => text.includes(cell)));
  expect(languages(csv)).toEqual([...Array(5).fill([true, false]), ...Array(2).fill([false, true])]);
  const raw = await exportOf(true);
  expect(languages(raw).map(([, asItWas]) => asItWas)).toEqual(texts.map((text) => text !== "'=c"));

  for (const text of [csv, raw]) {
    const other = await startEvents();
    const { id } = await other.act("import.begin", { format: "csv" });
    for (let at = 0; at < text.length; at += 11) await other.act("import.text", { job: id, text: text.slice(at, at + 11) });
    expect(await other.act("import.end", { job: id })).toMatchObject({ done: 7, refused: 0 });
    const { data } = await getPage(other.url, "?limit=7");
    expect(data.map(({ language }) => language)).toEqual(texts.toReversed());
    expect(data[0]).toMatchObject({ last_char: "=", file_ext: '"\r\n,' });
  }
});

it("[EV-92] a CSV with an unclosed quote is refused from that line on", async () => {
  const events = await startEvents();
  const names = Object.keys(eventBody()).join(",");
  const cells = Object.values(eventBody()).map((value) => (Array.isArray(value) ? '"[""IC""]"' : String(value)));
  const { id } = await events.act("import.begin", { format: "csv" });
  await events.act("import.text", { job: id, text: `${names}\r\n${cells}\r\n"never closed,\r\nx\r\n` });
  const report = await events.act("import.end", { job: id });
  expect(report).toMatchObject({ done: 1, refused: 1, refusedLines: [{ line: 3, reason: "a quote is not closed" }] });
});

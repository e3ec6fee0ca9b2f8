import { describe, expect, it } from "vitest";
import { type ConfigField, secretMask } from "../../contract/config.ts";
import type { RateHistory, TrafficPage } from "../../contract/control.ts";
import { type ServiceId, serviceIds } from "../../contract/service.ts";
import type { TrafficRow } from "../../contract/traffic/row.ts";
import { hashOf, parseRoute, servicePage } from "../../renderer/src/app/route.ts";
import { configDrafts } from "../../renderer/src/pages/config/config-drafts.ts";
import { credentialsOf, type Draft, defaultText, draftOf, parseDraft, problemOf } from "../../renderer/src/pages/config/draft.ts";
import { cardNote } from "../../renderer/src/pages/overview/card-note.ts";
import { groupSeries, stack } from "../../renderer/src/pages/overview/traffic-series.ts";
import { createTimelineRows, heldRows, mergeTimeline, timelineId } from "../../renderer/src/pages/timeline/timeline-rows.ts";

describe("routes", () => {
  it.each(["#/overview", "#/timeline", "#/settings", "#/http/live", "#/mqtt/config"])("%s is read and written the same", (hash) => {
    expect(hashOf(parseRoute(hash))).toBe(hash);
  });

  it("that are no page are the Overview; without a tab it is Live", () => {
    expect([parseRoute(""), parseRoute("#/nothing"), parseRoute("#/http"), parseRoute("#/http/<x>")]).toEqual([
      { page: "overview" },
      { page: "overview" },
      servicePage("http"),
      servicePage("http"),
    ]);
  });
});

describe("the traffic plot", () => {
  const historyOf = (bytes: Partial<Record<ServiceId, number[]>>): RateHistory => ({
    stepSeconds: 1,
    at: [1_000, 2_000],
    series: serviceIds.flatMap((service) => {
      const bytesPerSecond = bytes[service];
      return bytesPerSecond ? [{ service, itemsPerSecond: [], bytesPerSecond }] : [];
    }),
  });

  it("draws up to four services apart, the largest first", () => {
    const series = groupSeries(historyOf({ http: [1, 1], grpc: [5, 5], mqtt: [3, 3] }));
    expect(series.map(({ services }) => services)).toEqual([["grpc"], ["mqtt"], ["http"]]);
  });

  it("draws the small ones of many together", () => {
    const series = groupSeries(historyOf({ http: [1, 2], grpc: [9, 9], mqtt: [8, 8], rtsp: [3, 3], events: [1, 1] }));
    expect(series).toEqual([
      { services: ["grpc"], bytesPerSecond: [9, 9] },
      { services: ["mqtt"], bytesPerSecond: [8, 8] },
      { services: ["rtsp", "http", "events"], bytesPerSecond: [5, 6] },
    ]);
  });

  it("stacks each series on those before it", () => {
    expect(
      stack(
        [1_000, 2_000],
        [
          { services: ["http"], bytesPerSecond: [1, 2] },
          { services: ["grpc"], bytesPerSecond: [10, 20] },
        ],
      ),
    ).toEqual([
      [1, 2],
      [1, 2],
      [11, 22],
    ]);
  });
});

describe("the note of a card", () => {
  it("tells when a stopped service ran last, or what it stands in for", () => {
    const from = new Date(2026, 10, 21, 9, 12).getTime();
    expect(cardNote({ purpose: "REST", status: { state: "stopped", lastRun: { from, to: from + 41 * 60_000 } } })).toBe(
      "Last ran 09:12 for 41 m",
    );
    expect(cardNote({ purpose: "REST", status: { state: "stopped" } })).toBe("REST");
  });
});

describe("a field of the form", () => {
  const field = (change: Partial<ConfigField>): ConfigField => ({
    name: "port",
    title: "Port",
    help: "",
    group: "Listening",
    env: [],
    flag: "--http-port",
    type: { kind: "integer", minimum: 0, maximum: 65_535 },
    default: 8080,
    value: 8080,
    source: "default",
    needsRestart: true,
    ...change,
  });
  const list = field({ type: { kind: "list" }, value: ["a", "b"], default: [] });

  it.each<[Draft, ReturnType<typeof parseDraft>]>([
    ["8085", { value: 8085 }],
    [" 0 ", { value: 0 }],
    ["", { problem: "This is a number." }],
    ["80 80", { problem: "This is a number." }],
    ["8080.5", { problem: "This is a whole number." }],
    ["-1", { problem: "At least 0." }],
    ["65536", { problem: "At most 65535." }],
  ])("of a whole number reads %j", (draft, parsed) => {
    expect(parseDraft(field({}), draft)).toEqual(parsed);
  });

  it("of a list is written with commas", () => {
    expect([draftOf(list), parseDraft(list, "a, ,b ,"), parseDraft(list, "")]).toEqual(["a, b", { value: ["a", "b"] }, { value: [] }]);
  });

  it("of a secret begins empty, whatever is set", () => {
    expect(draftOf(field({ type: { kind: "secret" }, value: "••••••••" }))).toBe("");
  });

  it("of credentials is a line a user; a blank row is none, and who has no name or password is marked", () => {
    const users = field({ type: { kind: "credentials" }, value: [`ada:${secretMask}`], default: [] });
    expect(draftOf(users)).toBe(`ada:${secretMask}`);
    expect(credentialsOf(`ada:${secretMask}\nbob:a:b`)).toEqual([
      { name: "ada", secret: secretMask },
      { name: "bob", secret: "a:b" },
    ]);
    expect(parseDraft(users, `ada:${secretMask}\nbob:a:b\n:`)).toEqual({ value: [`ada:${secretMask}`, "bob:a:b"] });
    expect(["bob:", ":x", "ada:1\nada:2", ""].map((draft) => parseDraft(users, draft))).toEqual([
      { problem: "bob needs a password." },
      { problem: "A user needs a name." },
      { problem: "ada stands here twice." },
      { value: [] },
    ]);
  });

  it("says its default in words", () => {
    expect([
      defaultText(field({})),
      defaultText(field({ unit: "ms" })),
      defaultText(list),
      defaultText(field({ type: { kind: "boolean" }, default: false })),
      defaultText(field({ type: { kind: "text" }, default: "" })),
    ]).toEqual(["8080", "8080 ms", "none", "off", "empty"]);
  });

  it("marks a field by what is typed, then by what was refused, then by what is in force", () => {
    const port = field({ type: { kind: "integer", minimum: 0, maximum: 65_535 }, problem: "In force and wrong." });
    expect([
      problemOf(port, undefined, undefined),
      problemOf(port, "70000", "Refused."),
      problemOf(port, "8081", "Refused."),
      problemOf(port, "8081", undefined),
    ]).toEqual(["In force and wrong.", "At most 65535.", "Refused.", undefined]);
  });

  it("keeps drafts for each service and profile", () => {
    configDrafts("http", "Default").set({ port: "9000" });
    expect([configDrafts("http", "Default").get(), configDrafts("http", "Other").get(), configDrafts("mqtt", "Default").get()]).toEqual([
      { port: "9000" },
      {},
      {},
    ]);
  });
});

describe("the timeline", () => {
  const row = (service: ServiceId, id: number, at: number, tone: TrafficRow["tone"] = "ok"): TrafficRow => ({
    id,
    service,
    at,
    kind: "http",
    verb: "GET",
    target: `/${id}`,
    tone,
    outcome: "200",
    bytesIn: 0,
    bytesOut: 0,
    client: "curl",
    peer: "127.0.0.1:1",
    preview: "",
  });
  const page = (rows: readonly TrafficRow[], kept: number): TrafficPage => ({ rows, matching: rows.length, kept, total: kept, dropped: 0 });
  const setUp = (pages: Partial<Record<ServiceId, TrafficPage>>) =>
    createTimelineRows({
      read: async ({ id }) => pages[id] ?? page([], 0),
      onFailure: (error) => expect.fail(String(error)),
      nextFrame: (run) => run(),
    });

  it("puts the rows of all services on one clock, newest first, and replaces a row that ended", () => {
    const rows = mergeTimeline([row("http", 2, 20, "pending"), row("http", 1, 10)], [row("mqtt", 1, 15), row("http", 2, 20, "ok")]);
    expect(rows.map(({ service, id, tone }) => `${service} ${id} ${tone}`)).toEqual(["http 2 ok", "mqtt 1 ok", "http 1 ok"]);
  });

  it("holds a bounded number of rows, the newest", () => {
    const many = Array.from({ length: heldRows + 5 }, (_, index) => row("http", index, index));
    const rows = mergeTimeline([], many);
    expect([rows.length, rows.at(-1)?.id]).toEqual([heldRows, 5]);
  });

  it("tells the rows of different services apart", () => {
    const ids = serviceIds.map((service) => timelineId({ service, id: 1 }));
    expect(new Set(ids).size).toBe(serviceIds.length);
    expect(ids.every(Number.isSafeInteger)).toBe(true);
  });

  it("counts each row once, shown or dropped, and none for a row that only ended", async () => {
    const timeline = setUp({ http: page([row("http", 1, 10)], 7) });
    await timeline.reload(["http"], "");
    timeline.receive([row("http", 1, 10, "ok"), row("http", 2, 20, "pending"), row("http", 2, 20)], 3);
    expect(timeline.view.get()).toMatchObject({ kept: 11, skipped: 3, rows: [{ id: 2 }, { id: 1 }] });
  });

  it("holds the rows while paused, counts what arrives, and reads again on going on", async () => {
    const pages = { http: page([row("http", 1, 10, "pending")], 1) };
    const timeline = setUp(pages);
    await timeline.reload(["http"], "");
    timeline.togglePause();
    timeline.receive([row("http", 1, 10, "ok"), row("http", 2, 20)], 4);
    expect(timeline.view.get()).toMatchObject({ mode: "paused", arrived: 5, rows: [{ id: 1, tone: "ok" }] });
    pages.http = page([row("http", 2, 20), row("http", 1, 10)], 6);
    timeline.togglePause();
    await Promise.resolve();
    await expect.poll(() => timeline.view.get()).toMatchObject({ mode: "following", arrived: 0, kept: 6, rows: [{ id: 2 }, { id: 1 }] });
  });

  it("holds the rows while scrolled away", async () => {
    const timeline = setUp({ http: page([row("http", 1, 10)], 1) });
    await timeline.reload(["http"], "");
    timeline.scrolled(true);
    timeline.receive([row("http", 2, 20)], 0);
    expect(timeline.view.get()).toMatchObject({ mode: "scrolled", arrived: 1, rows: [{ id: 1 }] });
  });

  it("says no more that all are kept once rows have left, or were never handed over", async () => {
    const pages = { http: page([row("http", 1, 10)], 10) };
    const timeline = setUp(pages);
    await timeline.reload(["http"], "");
    timeline.togglePause();
    timeline.receive([row("http", 2, 20)], 4);
    pages.http = page([row("http", 2, 20)], 15);
    await timeline.recount();
    expect(timeline.view.get()).toMatchObject({ kept: 15, allKept: true });
    timeline.receive([], 5);
    pages.http = page([row("http", 7, 20)], 12);
    await timeline.recount();
    timeline.receive([row("http", 8, 30)], 0);
    expect(timeline.view.get()).toMatchObject({ kept: 12, allKept: false, arrived: 11 });
    const losing = setUp({ http: { ...page([], 10), dropped: 2 } });
    await losing.reload(["http"], "");
    expect(losing.view.get().allKept).toBe(false);
  });

  it("shows only live rows that pass the filter", async () => {
    const timeline = setUp({});
    await timeline.reload(["http"], "/7");
    timeline.receive([row("http", 6, 10), row("http", 7, 11)], 0);
    expect(timeline.view.get().rows.map(({ id }) => id)).toEqual([7]);
  });
});

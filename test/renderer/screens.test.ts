import { describe, expect, it } from "vitest";
import { type ConfigField, secretMask } from "../../contract/config.ts";
import type { RateHistory } from "../../contract/control.ts";
import { type ServiceId, serviceIds } from "../../contract/service.ts";
import type { RateSample } from "../../contract/traffic/row.ts";
import { hashOf, parseRoute, servicePage } from "../../renderer/src/app/route.ts";
import {
  configDrafts,
  credentialsOf,
  type Draft,
  defaultText,
  draftOf,
  parseDraft,
  problemOf,
} from "../../renderer/src/pages/config/draft.ts";
import { cardGrid } from "../../renderer/src/pages/overview/overview.tsx";
import { cardNote } from "../../renderer/src/pages/overview/service-card.tsx";
import { decadeSplits, linearBelowBps, trafficLines, whyNoLine } from "../../renderer/src/pages/overview/traffic-series.ts";

describe("routes", () => {
  it.each(["#/overview", "#/timeline", "#/settings", "#/http/live", "#/mqtt/config"])("%s is parsed and written unchanged", (hash) => {
    expect(hashOf(parseRoute(hash))).toBe(hash);
  });

  it("that are unknown open the Overview; without a tab they open Live", () => {
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

  it("[BL-280] has a line for each service with traffic that is not hidden, in the window's order", () => {
    const history = historyOf({ http: [1, 2, 0], grpc: [9, 9, 9], mqtt: [0, 0, 8], rtsp: [0, 0, 0], events: [0, 1, 1] });
    expect(trafficLines(history, ["grpc"]).map(({ service, bytesPerSecond }) => [service, bytesPerSecond])).toEqual([
      ["http", [1, 2, 0]],
      ["mqtt", [null, 0, 8]],
      ["events", [0, 1, 1]],
    ]);
  });

  it("[BL-280] says why it has no line: nothing happened, or without a connection", () => {
    const idle = historyOf({ mqtt: [0, 0] });
    const inside = { ...idle, series: idle.series.map((one) => ({ ...one, itemsPerSecond: [0, 5] })) };
    expect(whyNoLine(idle, ["mqtt"], [])).toMatch(/^No traffic in this time/);
    expect(whyNoLine(inside, ["mqtt"], [])).toMatch(/^No bytes were received or sent in this time/);
    expect(whyNoLine(inside, ["http"], [])).toMatch(/^No traffic in this time/);
    expect(whyNoLine(inside, [], [])).toBe("All services are hidden.");
  });

  it("[BL-465] says that traffic has begun as soon as the rates beside it have it", () => {
    const idle = historyOf({ mqtt: [0, 0] });
    const rate = (bytesInPerSecond: number, itemsPerSecond: number): RateSample => ({
      ...{ service: "mqtt", at: 1, itemsPerSecond, bytesInPerSecond, bytesOutPerSecond: 0, total: 1, dropped: 0, figures: [], note: "" },
    });
    expect(whyNoLine(idle, ["mqtt"], [rate(9, 1)])).toBe("Traffic has begun. Its line begins when a step of 1 s is complete.");
    expect(whyNoLine(idle, ["mqtt"], [rate(0, 1)])).toMatch(/^No bytes were received or sent in this time/);
    expect(whyNoLine(idle, ["http"], [rate(9, 1)])).toMatch(/^No traffic in this time/);
    expect(whyNoLine(idle, ["mqtt"], [rate(0, 0)])).toMatch(/^No traffic in this time/);
  });

  it("[BL-280] labels zero and the powers of ten that fit on its logarithmic scale", () => {
    expect(decadeSplits(100, 2_000_000, 400, 17)).toEqual([0, 1e3, 1e4, 1e5, 1e6]);
    expect(decadeSplits(100, 2_000_000, 60, 17)).toEqual([0, 1e4, 1e6]);
    expect(decadeSplits(1_000, 200_000, 80, 17)).toEqual([0, 1e4, 1e5]);
  });

  it("[BL-280] begins its logarithmic scale below the peak of the quietest service", () => {
    const line = (bytesPerSecond: (number | null)[]) => ({ service: "http", bytesPerSecond }) as const;
    expect([linearBelowBps([line([null, 0, 40_000]), line([2e6, 3e6])]), linearBelowBps([line([null, 3])])]).toEqual([1_000, 100]);
  });
});

describe("the cards of the Overview", () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9])("[BL-225] fill every row, with %i services", (services) => {
    const { columns, lastSpan, rows } = cardGrid(services);
    expect(services + lastSpan).toBe(columns * rows);
    expect(columns).toBeLessThanOrEqual(4);
  });
});

describe("the note of a card", () => {
  it("says when a stopped service last ran, or what it is for", () => {
    const from = new Date(2026, 10, 21, 9, 12).getTime();
    expect(cardNote({ purpose: "REST", status: { state: "stopped", lastRun: { from, to: from + 41 * 60_000 } } })).toBe(
      "Last ran 09:12 for 41 m",
    );
    expect(cardNote({ purpose: "REST", status: { state: "stopped" } })).toBe("REST");
  });

  it("[BL-6] says what a long start does", () => {
    expect(cardNote({ purpose: "REST", status: { state: "starting", since: 1 } })).toBe("Starting");
    expect(cardNote({ purpose: "REST", status: { state: "starting", since: 1, doing: "reading files" } })).toBe("Starting: reading files");
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
    ["", { problem: "Enter a number." }],
    ["80 80", { problem: "Enter a number." }],
    ["8080.5", { problem: "Enter a whole number." }],
    ["-1", { problem: "At least 0." }],
    ["65536", { problem: "At most 65535." }],
  ])("of a whole number reads %j", (draft, parsed) => {
    expect(parseDraft(field({}), draft)).toEqual(parsed);
  });

  it("of a list is written with commas", () => {
    expect([draftOf(list), parseDraft(list, "a, ,b ,"), parseDraft(list, "")]).toEqual(["a, b", { value: ["a", "b"] }, { value: [] }]);
  });

  it("of a secret is empty at first, whatever is set", () => {
    expect(draftOf(field({ type: { kind: "secret" }, value: "••••••••" }))).toBe("");
  });

  it("of credentials has one line per user; a blank row is ignored, and a missing name or password is marked", () => {
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
      { problem: "Duplicate name: ada." },
      { value: [] },
    ]);
  });

  it("shows its default as text", () => {
    expect([
      defaultText(field({})),
      defaultText(field({ unit: "ms" })),
      defaultText(list),
      defaultText(field({ type: { kind: "boolean" }, default: false })),
      defaultText(field({ type: { kind: "text" }, default: "" })),
    ]).toEqual(["8080", "8080 ms", "none", "off", "empty"]);
  });

  it("marks a field for what is typed, then for what was refused, then for what is in use", () => {
    const port = field({ type: { kind: "integer", minimum: 0, maximum: 65_535 }, problem: "In force and wrong." });
    expect([
      problemOf(port, undefined, undefined),
      problemOf(port, { draft: "70000", over: "8080" }, "Refused."),
      problemOf(port, { draft: "8081", over: "8080" }, "Refused."),
      problemOf(port, { draft: "8081", over: "8080" }, undefined),
    ]).toEqual(["In force and wrong.", "At most 65535.", "Refused.", undefined]);
  });

  it("keeps drafts for each service and profile", () => {
    const port = { draft: "9000", over: "8080" };
    configDrafts("http", "Default").set({ port });
    expect([configDrafts("http", "Default").get(), configDrafts("http", "Other").get(), configDrafts("mqtt", "Default").get()]).toEqual([
      { port },
      {},
      {},
    ]);
  });
});

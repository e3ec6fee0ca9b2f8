import { describe, expect, it } from "vitest";
import type { ExportView } from "../../contract/export.ts";
import { exportFigures, exportPercent, exportTitle, stampedName } from "../../renderer/src/app/exports/export-words.ts";

const view = (change: Partial<ExportView>): ExportView => ({
  id: 1,
  name: "events.csv",
  item: "event",
  state: "running",
  startedAt: 0,
  items: 8_214,
  bytes: 2_100_000,
  ...change,
});

describe("the note of an export", () => {
  it.each<[Partial<ExportView>, string, string]>([
    [{ total: 12_480 }, "Exporting events.csv", "8,214 of 12,480 events · 2.1 MB"],
    [{}, "Exporting events.csv", "8,214 events · 2.1 MB"],
    [{ state: "done", items: 0, bytes: 0 }, "Nothing matched: the file has no event", "0 B · events.csv"],
    [{ state: "done" }, "Exported 8,214 events", "2.1 MB · events.csv"],
    [{ state: "done", file: "/home/me/events.csv", items: 1 }, "Exported 1 event", "2.1 MB · /home/me/events.csv"],
    [{ state: "cancelled" }, "Export cancelled", "events.csv"],
    [
      { state: "failed", failure: { code: "STORE_LOCKED", message: "It is locked", hint: "Wait." } },
      "Export failed",
      "It is locked. Wait.",
    ],
  ])("of %o", (change, title, figures) => {
    expect([exportTitle(view(change)), exportFigures(view(change))]).toEqual([title, figures]);
  });

  it("has a percentage if the total is known", () => {
    expect([exportPercent(view({ total: 16_428 })), exportPercent(view({})), exportPercent(view({ total: 0 }))]).toEqual([
      50,
      undefined,
      undefined,
    ]);
  });
});

it("a file is named after its content and the time", () => {
  expect(stampedName("events", "csv", new Date(Date.UTC(2026, 10, 20, 23, 28, 12)))).toBe("events-2026-11-20T23-28-12.csv");
});

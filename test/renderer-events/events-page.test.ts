import { describe, expect, it } from "vitest";
import { type EventJob, eventColumns } from "../../contract/services/events.ts";
import { copyAs } from "../../renderer/src/inspectors/http/copy-as.ts";
import { eventTableColumns } from "../../renderer/src/services/events/event-columns.tsx";
import { eventField, eventTimeText, fieldGroups } from "../../renderer/src/services/events/event-fields.ts";
import { filterAt, filterWords, isFiltering, noFilter, textNote } from "../../renderer/src/services/events/event-filter.ts";
import { newestFirst, orderAfter } from "../../renderer/src/services/events/event-pages.ts";
import { emptyAfter } from "../../renderer/src/services/events/events-empty.tsx";
import { pageWords } from "../../renderer/src/services/events/events-status-line.tsx";
import { exampleEvents } from "../../renderer/src/services/events/example-events.ts";
import { jobFigures, jobPercent, jobTitle, shownJob } from "../../renderer/src/services/events/jobs/job-words.ts";
import { deletionQuestion } from "../../renderer/src/services/events/jobs/use-deletion.ts";
import { postedEvent, replayOfEvent } from "../../renderer/src/services/events/posted-event.ts";
import { completionEvent } from "../../servers/events/completion-event.ts";
import { eventRow } from "./event-row.ts";

const now = Date.UTC(2026, 10, 21, 12);

it("[EV-241] an empty list says that no event is stored, and where the requests are if there were any", () => {
  expect(emptyAfter(0).nothing).toBe("No event is stored yet.");
  expect(emptyAfter(3).nothing).toMatch(/^No event is stored\..* requests below\.$/);
});

describe("the filter", () => {
  it("is sent without empty fields, and with the range relative to now", () => {
    expect(filterAt(noFilter, now)).toEqual({});
    expect(filterAt({ ...noFilter, text: "  rs ", outcome: "ignored", range: "15m" }, now)).toEqual({
      text: "rs",
      outcome: "ignored",
      from: now - 900_000,
    });
  });

  it("ignores a blank text", () => {
    expect([isFiltering(noFilter), isFiltering({ ...noFilter, text: " " }), isFiltering({ ...noFilter, range: "7d" })]).toEqual([
      false,
      false,
      true,
    ]);
  });

  it.each([
    [noFilter, ""],
    [{ ...noFilter, language: "rust" }, "with language rust"],
    [
      { ...noFilter, outcome: "rejected", language: "rust", text: "x", range: "1h" },
      "with outcome rejected, language rust and “x” in their text, of the last hour",
    ],
    [{ ...noFilter, range: "24h" }, "of the last 24 hours"],
  ] as const)("%j in words", (filter, words) => {
    expect(filterWords(filter)).toBe(words);
  });
});

describe("the confirmation of a deletion", () => {
  it("names the filter and the count", () => {
    expect(deletionQuestion({ ...noFilter, outcome: "rejected" }, { matching: 1_204, exact: true })).toMatchObject({
      title: "Delete 1,204 events with outcome rejected?",
      action: "Delete 1,204 events",
    });
    expect(deletionQuestion(noFilter, { matching: 1_204, exact: true }).title).toBe("Delete all 1,204 events?");
  });

  it("states no count if it is unknown", () => {
    expect(deletionQuestion({ ...noFilter, text: "x" }, { matching: 900, exact: false })).toMatchObject({
      title: "Delete at least 900 events with “x” in their text?",
      action: "Delete them",
    });
  });
});

describe("the table", () => {
  it("can show every column of the contract once", () => {
    expect(eventTableColumns.map(({ id }) => id).sort()).toEqual([...eventColumns].sort());
  });

  it("sorts by a column descending, ascending, then by time", () => {
    const down = orderAfter(newestFirst, "line_count");
    const up = orderAfter(down, "line_count");
    expect([down, up, orderAfter(up, "line_count")]).toEqual([
      { column: "line_count", direction: "descending" },
      { column: "line_count", direction: "ascending" },
      newestFirst,
    ]);
    const oldestFirst = orderAfter(newestFirst, "created_at");
    expect([oldestFirst, orderAfter(oldestFirst, "created_at"), orderAfter(newestFirst, "no column")]).toEqual([
      { column: "created_at", direction: "ascending" },
      { column: "created_at", direction: "descending" },
      newestFirst,
    ]);
  });

  it.each([
    [{ rows: [eventRow(9), eventRow(8)], skipped: 0, matching: 12_480, exact: true }, "1 to 2 of 12,480"],
    [{ rows: [eventRow(9)], skipped: 1_000, matching: 900, exact: false }, "1,001 to 1,001 of 1,001+"],
    [{ rows: [eventRow(9)], skipped: 50, matching: 12_480, exact: true, sortedAmong: 10_000 }, "51 to 51 of 10,000"],
    [{ rows: [], skipped: 0, matching: 0, exact: true }, "none"],
    [{ rows: [], skipped: 0, matching: 0, exact: false }, "none so far"],
  ] as const)("shows the position of its page", (view, words) => {
    expect(pageWords({ sortedAmong: undefined, ...view })).toBe(words);
  });

  it("adds the date if it is not today, and the year if it is another", () => {
    const at = (days: number) => new Date(now - days * 86_400_000).toISOString();
    expect([eventTimeText(at(0), now), eventTimeText(at(3), now), eventTimeText(at(400), now), eventTimeText("soon", now)]).toEqual([
      expect.stringMatching(/^\d\d:00:00$/),
      expect.stringMatching(/^1[78] Nov \d\d:00:00$/),
      expect.stringMatching(/^1[678] Oct 2025 \d\d:00:00$/),
      "soon",
    ]);
  });
});

describe("an event in the inspector", () => {
  it("shows every field once", () => {
    expect(fieldGroups.flatMap(({ names }) => names).sort()).toEqual([...eventColumns].sort());
  });

  it("is shown as text, with the stored fields beside it", () => {
    const field = (name: (typeof eventColumns)[number]) => eventField(eventRow(1_995), name, now);
    expect(
      (["id", "after_cursor_ws", "last_char", "recent_actions", "display_duration_ms", "relative_position", "typing_speed"] as const).map(
        (name) => field(name).value,
      ),
    ).toEqual(["1,995", "yes", "space", "IC DC", "1.20 s", "14.3 %", "4.2 characters/s"]);
    expect(field("after_cursor_ws").stored).toBe("1");
  });

  it("is converted back to the body that the service accepts", () => {
    const posted = postedEvent(eventRow(7));
    expect(completionEvent.parse(posted)).toEqual(posted);
    expect(posted).toMatchObject({ after_cursor_ws: true, is_prefetched: false, recent_actions: ["IC", "DC"] });
  });

  it("is copied as the request that would store it again", () => {
    const text = copyAs("curl", replayOfEvent(eventRow(7), "http://127.0.0.1:8082"));
    expect(text).toContain("curl http://127.0.0.1:8082/events");
    expect(text).toContain("-H 'X-Plugin-Version: 0.5.0'");
    expect(text).not.toContain("ip_hash");
  });
});

describe("the examples to try", () => {
  it.each(["accepted", "rejected", "ignored"] as const)("%s is accepted by the service", (name) => {
    expect(completionEvent.safeParse(exampleEvents[name]).success).toBe(true);
  });

  it("the refused one is refused for the intended reason", () => {
    const parsed = completionEvent.safeParse(exampleEvents["refused: 400"]);
    expect(parsed.error?.issues.map(({ path }) => path.join("."))).toEqual(["device_id", "line_count", "recent_actions.0"]);
  });
});

describe("a job", () => {
  const job = (change: Partial<EventJob>): EventJob => ({
    id: 1,
    kind: "import",
    state: "running",
    startedAt: now,
    done: 8_214,
    bytes: 2_100_000,
    format: "jsonl",
    ...change,
  });

  it("shows its kind and progress", () => {
    const running = job({ total: 12_480 });
    expect([jobTitle(running), jobFigures(running), Math.round(jobPercent(running) ?? 0)]).toEqual([
      "Importing JSONL",
      "8,214 of 12,480 · 2.1 MB",
      66,
    ]);
    const sized = job({ size: 5_600_000 });
    expect([jobFigures(sized), jobPercent(sized)]).toEqual(["8,214 events · 37 % of 5.6 MB", 37.5]);
    expect([jobFigures(job({})), jobPercent(job({}))]).toEqual(["8,214 events · 2.1 MB", undefined]);
  });

  it("shows its result", () => {
    const imported = job({ kind: "import", state: "done", done: 1, refused: 6 });
    expect([jobTitle(imported), jobFigures(imported)]).toEqual(["Imported", "1 event · 2.1 MB · 6 lines refused"]);
    const again = job({ kind: "import", state: "done", done: 0, existing: 6_766 });
    expect(jobFigures(again)).toBe("0 events · 6,766 were there already · 2.1 MB");
    const failed = job({
      kind: "delete",
      state: "failed",
      bytes: 0,
      failure: { code: "STORE_FULL", message: "The disk is full", hint: "" },
    });
    expect([jobTitle(failed), jobFigures(failed)]).toEqual(["Deletion failed", "The disk is full · 8,214 events"]);
  });

  it("is shown while it runs or waits for its user; a success disappears after a while", () => {
    const generated = job({ id: 2, kind: "generate", state: "done", endedAt: now });
    const imported = job({ id: 3, state: "done", refused: 2, endedAt: now - 60_000 });
    expect(shownJob([generated, imported], now + 1_000)?.id).toBe(2);
    expect(shownJob([generated, imported], now + 20_000)?.id).toBe(3);
    expect(shownJob([imported, job({ id: 4 })], now)?.id).toBe(4);
    const failure = { code: "IMPORT_ABANDONED", message: "The page that sent the file was closed", hint: "" };
    const abandoned = job({ id: 5, state: "cancelled", failure, endedAt: now - 60_000 });
    expect(shownJob([generated, abandoned], now + 20_000)?.id).toBe(5);
    expect([jobTitle(abandoned), jobFigures(abandoned)]).toEqual([
      "Import cancelled",
      "The page that sent the file was closed · 8,214 events · 2.1 MB",
    ]);
    expect(shownJob([generated], now + 20_000)).toBeUndefined();
  });
});

it("[EV-240] a text that looks like a term with a field is named, and the menus beside the filter", () => {
  expect(textNote("outcome:accepted status:4xx")?.text).toBe("“status:”, “outcome:” are no fields here: use the menus");
  expect(textNote("foo:bar")).toEqual({
    text: "“foo:” is no field here: use the menus",
    title: expect.stringMatching(/^Searched as text\. /),
  });
  expect(["rust", "", "a 12:30", "foo: bar"].map(textNote)).toEqual([undefined, undefined, undefined, undefined]);
});

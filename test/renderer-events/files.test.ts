import { describe, expect, it } from "vitest";
import type { EventJob } from "../../contract/services/events.ts";
import { type EventsAsk, formatOfFile, importFile } from "../../renderer/src/services/events/jobs/import-file.ts";

const job: EventJob = { id: 7, kind: "import", state: "running", startedAt: 0, done: 0, bytes: 0 };

/** Answers like the service, and keeps what it was asked. */
function recorder(answers: Readonly<Record<string, (params: never) => unknown>>) {
  const asked: [string, unknown][] = [];
  const ask = (async (name: string, params: never) => {
    asked.push([name, params]);
    return answers[name]?.(params);
  }) as unknown as EventsAsk;
  return { asked, ask };
}
const fileOf = (text: string, name = "events.jsonl") => new File([text], name);

describe("an import", () => {
  it("is sent in chunks, without splitting a character", async () => {
    const text = `${"é".repeat(90_000)}\n${"ü".repeat(90_001)}`;
    const { asked, ask } = recorder({ "import.begin": () => job, "import.end": () => ({ ...job, state: "done" }) });
    const { sent } = await importFile(ask, fileOf(text));
    expect((await sent)?.state).toBe("done");
    const pieces = asked.filter(([name]) => name === "import.text").map(([, params]) => (params as { text: string }).text);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join("")).toBe(text);
    expect(asked.map(([name]) => name)).toEqual(["import.begin", ...pieces.map(() => "import.text"), "import.end"]);
  });

  it("states its size, and sends several chunks at once, but not all of a large file", async () => {
    const taken: (() => void)[] = [];
    let most = 0;
    const { asked, ask } = recorder({
      "import.begin": () => job,
      "import.text": () =>
        new Promise<void>((resolve) => {
          most = Math.max(most, taken.push(resolve));
        }),
      "import.end": () => job,
    });
    const { sent } = await importFile(ask, fileOf("x".repeat(160 << 14)));
    const ended = sent.then(() => true);
    while (!(await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 1))]))) taken.shift()?.();
    expect([asked[0], most]).toEqual([["import.begin", { format: "jsonl", size: 160 << 14 }], 6]);
  });

  it("that is refused half-way is closed", async () => {
    const { asked, ask } = recorder({
      "import.begin": () => job,
      "import.text": () => {
        throw new Error("cancelled");
      },
    });
    const { sent } = await importFile(ask, fileOf("{}"));
    expect(await sent).toBeUndefined();
    expect(asked.at(-1)).toEqual(["job.cancel", { job: 7 }]);
  });

  it("reports that it was interrupted if there is no job to report it", async () => {
    const { ask } = recorder({
      "import.begin": () => job,
      "import.text": () => Promise.reject(new Error("Events is not running")),
      "job.cancel": () => Promise.reject(new Error("There is no job 7")),
    });
    const { sent } = await importFile(ask, fileOf("{}"));
    await expect(sent).rejects.toMatchObject({
      failure: {
        message: "The import of events.jsonl was interrupted: Events is not running",
        hint: expect.stringContaining("are stored"),
      },
    });
  });

  it.each([
    ["events.csv", "csv"],
    ["EVENTS.CSV", "csv"],
    ["events.jsonl", "jsonl"],
    ["events.json", "jsonl"],
  ])("of %s is read as %s", (name, format) => {
    expect(formatOfFile(name)).toBe(format);
  });
});

import { describe, expect, it } from "vitest";
import type { MqttReplayFile } from "../../contract/mqtt.ts";
import { FailureError } from "../../renderer/src/control/failure-error.ts";
import { type ExportProgress, type ReadExportPage, readExport } from "../../renderer/src/mqtt/read-export.ts";
import { type ReplayReceiver, sendReplayFile } from "../../renderer/src/mqtt/send-replay-file.ts";

const failing = (code: string) => () => Promise.reject(new FailureError({ code, message: "", hint: "" }));

/** Answers like the service, and keeps what it was asked. */
function receiver(answers: Partial<ReplayReceiver> = {}) {
  const asked: unknown[][] = [];
  const asks: ReplayReceiver = {
    begin: async (...params) => {
      asked.push(["begin", ...params]);
      return { id: 7 } as MqttReplayFile;
    },
    text: async (...params) => void asked.push(["text", ...params]),
    end: async (...params) => void asked.push(["end", ...params]),
    ...answers,
  };
  return { asked, asks };
}

describe("a file to replay", () => {
  it("is sent in pieces that a frame holds, with no character cut in two", async () => {
    const text = "é".repeat(200_000);
    const { asked, asks } = receiver();
    await sendReplayFile(asks, new File([text], "recorded.jsonl"));
    expect(asked[0]).toEqual(["begin", "recorded.jsonl", 400_000]);
    expect(asked.at(-1)).toEqual(["end", 7]);
    const pieces = asked.slice(1, -1).map(([, , piece]) => piece as string);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join("")).toBe(text);
  });

  it("ends quietly where it was cancelled, and says what is wrong with it", async () => {
    const file = new File(["{}"], "recorded.jsonl");
    await expect(sendReplayFile(receiver({ text: failing("JOB_UNKNOWN") }).asks, file)).resolves.toBeUndefined();
    await expect(sendReplayFile(receiver({ text: failing("CALL_INVALID") }).asks, file)).rejects.toBeInstanceOf(FailureError);
  });
});

describe("an export", () => {
  const pages: Awaited<ReturnType<ReadExportPage>>[] = [
    { lines: ["1", "2"], after: 2, share: 0.5 },
    { lines: [], after: 9, share: 0.9 },
    { lines: ["3"], share: 1 },
  ];

  it("is read page by page, and tells how far it is", async () => {
    const asked: unknown[] = [];
    const told: ExportProgress[] = [];
    const read: ReadExportPage = async (params) => {
      asked.push(params);
      return pages[asked.length - 1] as (typeof pages)[0];
    };
    const file = await readExport(read, { filter: "#", text: "x" }, (progress) => told.push(progress), new AbortController().signal);
    expect(file?.parts.join("")).toBe("1\n2\n3\n");
    expect(file?.messages).toBe(3);
    expect(asked).toEqual([0, 2, 9].map((after) => ({ filter: "#", text: "x", after })));
    expect(told).toEqual([
      { messages: 2, share: 0.5 },
      { messages: 2, share: 0.9 },
      { messages: 3, share: 1 },
    ]);
  });

  it("gives nothing where it was cancelled", async () => {
    const abort = new AbortController();
    const read: ReadExportPage = async () => {
      abort.abort();
      return pages[0] as (typeof pages)[0];
    };
    expect(await readExport(read, { filter: "#", text: "" }, () => {}, abort.signal)).toBeUndefined();
  });
});

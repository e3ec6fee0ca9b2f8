import { describe, expect, it } from "vitest";
import type { MqttReplayFile } from "../../contract/services/mqtt.ts";
import { FailureError } from "../../renderer/src/control/failure-error.ts";
import { type ReplayReceiver, sendReplayFile } from "../../renderer/src/services/mqtt/publish/replay-dialog.tsx";

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
  it("is sent in chunks that fit in a frame, without splitting a character", async () => {
    const text = "é".repeat(200_000);
    const { asked, asks } = receiver();
    await sendReplayFile(asks, new File([text], "recorded.jsonl"));
    expect(asked[0]).toEqual(["begin", "recorded.jsonl", 400_000]);
    expect(asked.at(-1)).toEqual(["end", 7]);
    const pieces = asked.slice(1, -1).map(([, , piece]) => piece as string);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join("")).toBe(text);
  });

  it("ends without an error if it was cancelled, and reports what is wrong with it", async () => {
    const file = new File(["{}"], "recorded.jsonl");
    await expect(sendReplayFile(receiver({ text: failing("JOB_UNKNOWN") }).asks, file)).resolves.toBeUndefined();
    await expect(sendReplayFile(receiver({ text: failing("CALL_INVALID") }).asks, file)).rejects.toBeInstanceOf(FailureError);
  });
});

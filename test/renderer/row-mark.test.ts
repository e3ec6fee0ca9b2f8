import { expect, it } from "vitest";
import { rowMark } from "../../renderer/src/list/cells/tone-mark.tsx";

it.each([
  ["http", "pending", "", 0, "pending"],
  ["http", "pending", "200", 120, "running"],
  ["websocket", "pending", "101", 0, "running"],
  ["grpc-call", "pending", "", 0, "pending"],
  ["grpc-call", "pending", "", 12, "running"],
  ["grpc-call", "ok", "OK", 12, "ok"],
  ["mqtt-message", "pending", "1 of 2 acknowledged", 0, "pending"],
  ["rtsp", "pending", "401 Unauthorized", 90, "pending"],
  ["rtsp", "pending", "ready", 900, "pending"],
  ["rtsp", "pending", "playing", 900, "running"],
  ["rtsp", "pending", "recording", 900, "running"],
  ["rtsp", "ok", "TEARDOWN", 900, "ended"],
  ["rtsp", "neutral", "the client has disconnected", 900, "ended"],
  ["rtsp", "refused", "461 Unsupported Transport", 90, "refused"],
] as const)("a row of %s that is %s (%j, %i B out) is marked as %s", (kind, tone, outcome, bytesOut, mark) => {
  expect(rowMark({ kind, tone, outcome, bytesOut })).toBe(mark);
});

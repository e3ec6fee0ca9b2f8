import { expect, it, onTestFinished } from "vitest";
import { createLog } from "../../../servers/core/service/log.ts";
import type { TrafficSink } from "../../../servers/core/service/service.ts";
import { watchEngine } from "../../../servers/mqtt/inspector/engine-watch.ts";
import type { MessageRecorder } from "../../../servers/mqtt/inspector/message-recorder.ts";

it("[MQTT-431] connects that come too fast to have a row each are counted", async () => {
  const log = createLog({ level: () => "error", write() {} });
  let rows = 0;
  const recorder = { unrecordedEvents: 0 } as MessageRecorder;
  const traffic = { nextId: () => ++rows, touch() {} } as unknown as TrafficSink;
  const { observer, close } = watchEngine({ traffic, log, recorder, recordCredentials: false });
  onTestFinished(close);
  for (let index = 0; index < 6_000; index++) observer.handshakeFailed?.("127.0.0.1", "no certificate");
  expect([rows, recorder.unrecordedEvents]).toEqual([4_000, 2_000]);
});

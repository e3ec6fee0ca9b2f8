import { Socket } from "node:net";
import { expect, it } from "vitest";
import { Http2Output } from "../../servers/core/http2/http2-output.ts";
import type { Http2Stream } from "../../servers/core/http2/http2-stream.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { onEnd } from "./harness.ts";

it("[GRPC-299] streams that were closed are not kept while a client reads nothing", () => {
  const turns = new WorkTurns();
  const socket = new Socket();
  onEnd(() => {
    turns.close();
    socket.destroy();
  });
  const output = new Http2Output(socket, turns.connection("10.0.0.1"), () => {});
  const streams = Array.from({ length: 1_000 }, (_, id) => ({ id, canSend: () => false }) as unknown as Http2Stream);
  for (const stream of streams) output.ready(stream);
  expect(output.isIdle).toBe(false);
  for (const stream of streams) output.forget(stream);
  expect(output.isIdle).toBe(true);
});

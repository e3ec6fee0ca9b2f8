import { Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { Http2Output } from "../../servers/core/http2/http2-output.ts";
import { Http2Stream } from "../../servers/core/http2/http2-stream.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { onEnd } from "./harness.ts";

it("[GRPC-299] streams that were closed are not kept while a client reads nothing", () => {
  const turns = new WorkTurns();
  const socket = new Socket();
  onEnd(() => {
    turns.close();
    socket.destroy();
  });
  const output = new Http2Output(socket, turns.connection("10.0.0.1"), { onRoom() {}, onSent() {}, onHeld() {} });
  const streams = Array.from({ length: 1_000 }, (_, id) => ({ id, canSend: () => false }) as unknown as Http2Stream);
  for (const stream of streams) output.ready(stream);
  expect(output.isIdle).toBe(false);
  for (const stream of streams) output.forget(stream);
  expect(output.isIdle).toBe(true);
});

function arrayBuffersInUse(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  // The memory of buffers is given back behind the collection that found them.
  collect();
  collect();
  return process.memoryUsage().arrayBuffers;
}

it("[GRPC-303] small answers that wait keep about their own length", () => {
  const owner = { ready() {}, sendReset() {}, sendWindow() {}, closed() {} };
  const before = arrayBuffersInUse();
  const streams = Array.from({ length: 1_000 }, (_, id) => {
    const stream = new Http2Stream(id, { contentLength: undefined, heldBytes: 0 }, { receive: 0, send: 0 }, owner);
    stream.respond({});
    stream.write(Buffer.from("a message"));
    // They are in the same blocks of Node's pool.
    Buffer.from("x".repeat(3_000));
    stream.keepChunks();
    stream.write(Buffer.from("another one"));
    stream.write(Buffer.from("and one more"));
    Buffer.from("x".repeat(3_000));
    stream.keepChunks();
    return stream;
  });
  expect(arrayBuffersInUse() - before).toBeLessThan(1_000_000);
  expect(streams.every(({ unsentBytes }) => unsentBytes === 32)).toBe(true);
});

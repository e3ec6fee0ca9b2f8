import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { expect, it } from "vitest";
import { readFirstBytes } from "../../servers/core/net/first-bytes.ts";

it("[BL-355] first bytes that come one by one are gathered in few pieces of memory", () => {
  const returned: Buffer[] = [];
  const socket = Object.assign(new EventEmitter(), {
    resume() {},
    pause() {},
    unshift: (bytes: Buffer) => void returned.push(bytes),
  }) as unknown as Socket;
  const buffers = new Set<ArrayBufferLike>();
  const found: string[] = [];
  const verdict = (first: Buffer) => {
    buffers.add(first.buffer);
    return first.length === 10_000 ? "all" : undefined;
  };
  readFirstBytes(socket, 60_000, verdict, (verdict) => found.push(verdict));
  for (let index = 0; index < 10_000; index++) socket.emit("data", Buffer.of(index & 0xff));
  expect(found).toEqual(["all"]);
  expect(buffers.size).toBeLessThan(20);
  expect(returned).toEqual([Buffer.from(Array.from({ length: 10_000 }, (_, index) => index & 0xff))]);
});

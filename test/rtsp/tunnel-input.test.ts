import type { Socket } from "node:net";
import { PassThrough } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { type ByteInput, TunnelInput } from "../../servers/rtsp/sessions/http-tunnel.ts";

it("[RTSP-202] what comes by the POSTs of tunnels is decoded in turns, and not while its connection is busy", async () => {
  let nowMs = 0;
  const turns = new WorkTurns(() => nowMs);
  const open = () => {
    const tunnel = {
      address: "127.0.0.1",
      isOpen: true,
      steps: 0,
      bytes: 0,
      busyWith: undefined as ByteInput | undefined,
      pausesAt: -1,
      receiveTunnelled(bytes: Buffer, from: ByteInput) {
        nowMs += 0.125;
        tunnel.steps++;
        tunnel.bytes += bytes.length;
        if (tunnel.steps !== tunnel.pausesAt) return;
        tunnel.busyWith = from;
        from.pause();
      },
    };
    const socket = new PassThrough();
    return { tunnel, socket, input: new TunnelInput(tunnel, socket as unknown as Socket, turns) };
  };
  const opened = Array.from({ length: 20 }, open);
  // Each byte is padded as if it were a request of its own.
  const chunk = Buffer.from("AA==".repeat(8_000));
  const [busy, ...others] = opened;
  if (busy) busy.tunnel.pausesAt = 5;
  for (const { input } of opened) input.receive(chunk);
  const all = () => opened.reduce((sum, { tunnel }) => sum + tunnel.steps, 0);
  expect(all()).toBeLessThan(70);
  expect(opened.every(({ socket }) => socket.isPaused())).toBe(true);
  for (let before = -1; before !== all(); ) {
    before = all();
    await nextTurn();
    expect(all() - before).toBeLessThan(70);
  }
  expect(others.every(({ tunnel, socket }) => tunnel.bytes === 8_000 && !socket.isPaused())).toBe(true);
  expect(busy?.tunnel.steps).toBe(5);
  expect(busy?.socket.isPaused()).toBe(true);
  busy?.tunnel.busyWith?.resume();
  for (let turn = 0; turn < 100; turn++) await nextTurn();
  expect(busy?.tunnel.bytes).toBe(8_000);
  expect(busy?.socket.isPaused()).toBe(false);
  turns.close();
});

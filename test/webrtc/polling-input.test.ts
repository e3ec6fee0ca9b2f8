import { EventEmitter } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Socket } from "socket.io";
import { expect, it } from "vitest";
import { WorkTurns } from "../../servers/core/service/work-turns.ts";
import { takeInTurns } from "../../servers/webrtc/dialects/socketio/polling-input.ts";

it("[WEBRTC-226] the packets of a body of long polling are taken one by one, in turns, and not after its end", async () => {
  let nowMs = 0;
  const turns = new WorkTurns(() => nowMs);
  const open = () => {
    const taken: string[] = [];
    const onData = (text: string) => {
      nowMs += 0.125;
      taken.push(text);
    };
    const transport = { onData };
    const connection = Object.assign(new EventEmitter(), {
      transport,
      isClosed: false,
      close: () => Object.assign(connection, { isClosed: true }),
    });
    takeInTurns(connection as unknown as Socket["conn"], turns.connection("a"), 1_000);
    return { taken, transport, connection };
  };
  const sessions = Array.from({ length: 20 }, open);
  const packets = Array.from({ length: 30 }, (_, index) => `4${index}`);
  for (const { transport } of sessions) transport.onData(packets.join("\x1e"));
  const all = () => sessions.reduce((sum, { taken }) => sum + taken.length, 0);
  expect(all()).toBeLessThan(70);
  const [left, ...others] = sessions;
  left?.connection.emit("close");
  for (let before = -1; before !== all(); ) {
    before = all();
    await nextTurn();
    expect(all() - before).toBeLessThan(70);
  }
  expect(left?.taken.length).toBeLessThan(30);
  expect(others.every(({ taken }) => taken.join() === packets.join())).toBe(true);
  // Too much waits: it posts without end.
  const [flooding] = others;
  for (let post = 0; post < 20; post++) flooding?.transport.onData(packets.join("\x1e"));
  expect(flooding?.connection.isClosed).toBe(true);
});

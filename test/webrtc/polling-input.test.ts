import { EventEmitter } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Socket } from "socket.io";
import { expect, it } from "vitest";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { takeInTurns } from "../../servers/webrtc/dialects/socketio/polling-input.ts";

it("[WEBRTC-226] the packets of a body of long polling are taken one by one, in turns, and not after its end", async () => {
  let nowMs = 0;
  const turns = new WorkTurns(() => nowMs);
  const open = () => {
    const taken: string[] = [];
    const onData = (text: string) => {
      nowMs += 0.125;
      taken.push(text);
      if (text === "1") connection.emit("close");
    };
    const response = Object.assign(new EventEmitter(), {
      answer: "",
      end(body: string) {
        response.answer = body;
      },
    });
    const transport = { onData, dataRes: response };
    const connection = Object.assign(new EventEmitter(), {
      transport,
      isClosed: false,
      close: () => Object.assign(connection, { isClosed: true }),
    });
    takeInTurns(connection as unknown as Socket["conn"], {
      ...{ work: turns.connection("a"), mostPackets: 1_000, mostWaiting: 1_000, onFlood: connection.close },
    });
    // As engine.io answers.
    const post = (text: string) => {
      transport.onData(text);
      response.end("ok");
    };
    return { taken, transport, connection, response, post };
  };
  const sessions = Array.from({ length: 20 }, open);
  const packets = Array.from({ length: 30 }, (_, index) => `4${index}`);
  for (const { post } of sessions) post(packets.join("\x1e"));
  const all = () => sessions.reduce((sum, { taken }) => sum + taken.length, 0);
  expect(all()).toBeLessThan(70);
  // What waits counts as a request that is not answered.
  const isAnswered = ({ taken, response }: (typeof sessions)[number]) => (response.answer === "ok") === (taken.length === packets.length);
  expect(sessions.every(isAnswered)).toBe(true);
  const [left, ...others] = sessions;
  left?.connection.emit("close");
  for (let before = -1; before !== all(); ) {
    before = all();
    await nextTurn();
    expect(all() - before).toBeLessThan(70);
  }
  expect(left?.taken.length).toBeLessThan(30);
  expect(left?.response.answer).toBe("ok");
  expect(others.every(isAnswered)).toBe(true);
  expect(others.every(({ taken }) => taken.join() === packets.join())).toBe(true);
  // Too much waits: it posts without end.
  const [flooding] = others;
  for (let post = 0; post < 20; post++) flooding?.transport.onData(packets.join("\x1e"));
  expect(flooding?.connection.isClosed).toBe(true);
  // Its request is given up: what waits of it counts no more, and goes with its session.
  const [, lost, crowded, closing] = others;
  for (const { post } of others) if (post !== closing?.post) post(packets.join("\x1e"));
  lost?.response.emit("close");
  expect(lost?.connection.isClosed).toBe(true);
  const before = crowded?.taken.length;
  crowded?.post("3\x1e".repeat(1_000));
  expect(crowded?.connection.isClosed).toBe(true);
  expect(crowded?.taken.length).toBe(before);
  if (closing) closing.response.answer = "";
  for (let turn = 0; turn < 100; turn++) await nextTurn();
  closing?.post("1\x1e3");
  expect([closing?.taken.at(-1), closing?.response.answer]).toEqual(["1", "ok"]);
});

import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { closeInTurns } from "../../servers/core/net/close-in-turns.ts";
import { itemsOfTurn, workTime } from "../support/work-time.ts";

it("[BL-375] connections that are cut at once are closed in turns, each once", async () => {
  const connections = 400;
  const { turns, pass } = workTime();
  const closedOfTurns: number[] = [];
  let ofTurn = 0;
  let closed = 0;
  let opened = 0;
  const server = createServer((socket) => {
    opened++;
    closeInTurns(socket, turns.connection("127.0.0.1"));
    socket.on("error", () => {});
    socket.on("close", (hadError) => {
      expect(hadError).toBe(false);
      pass();
      closed++;
      if (ofTurn++ === 0)
        setImmediate(() => {
          closedOfTurns.push(ofTurn);
          ofTurn = 0;
        });
    });
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const sockets = Array.from({ length: connections }, () =>
    connect((server.address() as AddressInfo).port, "127.0.0.1").on("error", () => {}),
  );
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  while (opened < connections) await new Promise(setImmediate);
  for (const socket of sockets) socket.destroy();
  while (closed < connections) await new Promise(setImmediate);
  expect(Math.max(...closedOfTurns)).toBeLessThanOrEqual(2 * itemsOfTurn);
  expect(closedOfTurns.length).toBeGreaterThan(1);
});

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { closeInTurns } from "../../servers/core/net/close-in-turns.ts";
import { startReading } from "../../servers/core/net/socket-reading.ts";
import type { WorkConnection } from "../../servers/core/turns/work-connection.ts";
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

it("[BL-375] a connection that waits for its turn to be closed is not read again, whoever begins to", async () => {
  let closes = () => {};
  const connection = {
    run: (steps: Iterator<void>) => {
      closes = () => void steps.next();
      return new Promise<never>(() => {});
    },
  } as unknown as WorkConnection;
  const taken = Promise.withResolvers<ReadHandle>();
  const server = createServer((socket) => {
    const { _handle: handle } = socket as Socket & { readonly _handle: ReadHandle };
    closeInTurns(socket, connection);
    socket.destroy();
    startReading(socket);
    // As Node's server of HTTP does at a "resume", which may come later.
    handle.readStart();
    taken.resolve(handle);
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1").resume();
  // It is reset, because it has sent what nobody has read.
  client.on("error", () => {});
  const closed = new Promise((resolve) => client.once("close", resolve));
  const handle = await taken.promise;
  await new Promise((resolve) => client.write("x", resolve));
  // Node throws where it is read.
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  expect(handle.bytesRead).toBe(0);
  closes();
  await closed;
});

interface ReadHandle {
  readonly bytesRead: number;
  readStart(): void;
}

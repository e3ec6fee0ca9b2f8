import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { endsBy, openSockets, takeSocket } from "../../servers/core/net/open-sockets.ts";
import { startReading, stopReading } from "../../servers/core/net/socket-reading.ts";
import { listenTcp } from "../../servers/core/net/tcp-listener.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";

async function accept() {
  const turns = new WorkTurns();
  onTestFinished(() => turns.close());
  const accepted = Promise.withResolvers<Socket>();
  const releases: (() => Promise<void>)[] = [];
  const port = await listenTcp({
    port: 0,
    openToLan: false,
    onStop: (release) => releases.push(release),
    createServer: () => createServer((socket) => accepted.resolve(socket)),
  });
  const client = connect(port, "127.0.0.1");
  client.on("error", () => {});
  const socket = await accepted.promise;
  onTestFinished(async () => {
    client.destroy();
    socket.destroy();
    await Promise.all(releases.map((release) => release()));
  });
  const [opened] = [...openSockets()].slice(-1);
  if (!opened) throw new Error("the listener adds what it accepts");
  return { turns, client, socket, opened };
}

it("[BL-436] a connection that is held is not read, whoever starts it, and goes on as it was wanted", async () => {
  const { client, socket, opened } = await accept();
  let received = "";
  socket.on("data", (bytes) => (received += bytes));
  client.write("a");
  await once(socket, "data");
  opened.holdReading(true);
  client.write("b");
  stopReading(socket);
  startReading(socket);
  socket.pause();
  socket.resume();
  await delay(50);
  expect(received).toBe("a");
  opened.holdReading(false);
  await once(socket, "data");
  expect(received).toBe("ab");
  stopReading(socket);
  opened.holdReading(true);
  opened.holdReading(false);
  client.write("c");
  await delay(50);
  expect(received).toBe("ab");
  startReading(socket);
  await once(socket, "data");
  expect(received).toBe("abc");
});

it("[BL-437] a connection that is idle is calm, and one is ended by who knows it, until it is closed", async () => {
  const { turns, client, socket, opened } = await accept();
  expect([opened.isCalm, opened.key, opened.unansweredBytes]).toEqual([true, "127.0.0.1", 0]);
  client.write("asked");
  await once(socket, "data");
  socket.write("no");
  expect(opened.unansweredBytes).toBe(3);
  const work = takeSocket(socket, turns);
  await work.run(
    (function* () {
      while (opened.used <= 1) yield;
    })(),
  );
  expect(opened.isCalm).toBe(false);
  const reasons: string[] = [];
  endsBy(socket, (why) => {
    reasons.push(why);
    socket.destroy();
  });
  opened.end("too much");
  await once(socket, "close");
  expect(reasons).toEqual(["too much"]);
  expect([...openSockets()]).not.toContain(opened);
});

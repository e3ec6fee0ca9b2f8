import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { ConnectionCount } from "../../servers/core/net/connection-count.ts";
import { boundOpenSockets, endsBy } from "../../servers/core/net/open-sockets.ts";
import { listenTcp } from "../../servers/core/net/tcp-listener.ts";
import { until } from "../support/until.ts";

/** A listener that says "open" to those whom it takes. `open` resolves to what a new connection of this computer gets: "open", or nothing. */
async function listener(count?: ConnectionCount) {
  const releases: (() => Promise<void>)[] = [];
  const sockets: Socket[] = [];
  const closed: string[] = [];
  const port = await listenTcp({
    port: 0,
    openToLan: false,
    onStop: (release) => releases.push(release),
    createServer: () => {
      const server = createServer((socket) => {
        endsBy(socket, (why) => {
          closed.push(`${socket.remoteFamily}: ${why}`);
          socket.destroy();
        });
        socket.on("error", () => {}).write("open");
      });
      count?.guard(server);
      return server;
    },
    places: count,
  });
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await Promise.all(releases.map((release) => release()));
  });
  const open = async (address: string) => {
    const socket = connect(port, address).on("error", () => {});
    sockets.push(socket);
    const answer = await Promise.race([once(socket, "data").then(String), once(socket, "close").then(() => "")]);
    socket.resume();
    return { socket, answer };
  };
  const openMany = async (address: string, howMany: number) => {
    const all = [];
    for (let index = 0; index < howMany; index++) all.push(await open(address));
    return all;
  };
  return { open, openMany, closed };
}

it.each(["IPv4", "IPv6"])("[BL-520] who has all connections by two addresses, most of %s, gives way to a third", async (family) => {
  const lines: string[] = [];
  const count = new ConnectionCount({ connections: 10, connectionsPerAddress: 8 }, { write: (line) => lines.push(line) > 0 });
  const { open, openMany, closed } = await listener(count);
  const [most, fewer] = family === "IPv4" ? ["127.0.0.1", "::1"] : ["::1", "127.0.0.1"];
  const held = await openMany(most, 8);
  await openMany(fewer, 1);
  expect((await open(most)).answer).toBe("");
  await openMany(fewer, 1);
  expect(count.open).toBe(10);
  // The others of the second address come in the place of the first one's, until they have as many.
  expect((await open(fewer)).answer).toBe("open");
  expect(closed).toEqual([`${family}: too many connections: this address had most`]);
  await until(() => held.at(-1)?.socket.closed);
  expect(held.filter(({ socket }) => socket.closed)).toHaveLength(1);
  for (let index = 0; index < 5; index++) await open(fewer);
  expect([count.open, closed.length]).toEqual([10, 3]);
  expect(count.refused).toBe(4);
  expect(new Set(lines.map((line) => line.replace(/^A connection of \S+/, "")))).toEqual(
    new Set([
      " was refused: there are too many of this address.",
      " was refused: there are too many.",
      " was closed for one of another address: there are too many.",
    ]),
  );
});

it("[BL-520] the connections of a process, which one address may have, give way to those of another one", async () => {
  let refused = 0;
  onTestFinished(boundOpenSockets(6, () => refused++));
  const { open, openMany, closed } = await listener();
  const held = await openMany("127.0.0.1", 6);
  expect(held.every(({ answer }) => answer === "open")).toBe(true);
  expect((await open("127.0.0.1")).answer).toBe("");
  expect((await open("::1")).answer).toBe("open");
  expect(closed).toEqual(["IPv4: too many connections for this process: this address had most"]);
  await until(() => held.at(-1)?.socket.closed);
  expect(refused).toBe(1);
});

it("[BL-520] nobody gives way to a connection that its service refuses, and one connection makes one give way", async () => {
  let refused = 0;
  onTestFinished(boundOpenSockets(6, () => refused++));
  const other = await listener();
  await other.openMany("127.0.0.1", 4);
  const service = await listener(new ConnectionCount({ connections: 2, connectionsPerAddress: 2 }));
  await service.openMany("127.0.0.1", 2);
  // Both are full: with what gives way to it in the service the process has a place too.
  expect((await service.open("::1")).answer).toBe("open");
  expect((await service.open("::1")).answer).toBe("");
  expect([service.closed, other.closed, refused]).toEqual([["IPv4: too many connections: this address had most"], [], 1]);
  expect((await other.open("::1")).answer).toBe("open");
  expect([...service.closed, ...other.closed]).toHaveLength(2);
});

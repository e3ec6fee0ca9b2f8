import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { boundOpenSockets } from "../../servers/core/net/open-sockets.ts";
import { until } from "../support/until.ts";
import { onEnd, type RtspUnderTest, startRtsp } from "./harness.ts";
import { RawPublisher, rtmpUrl } from "./raw-publisher.ts";

const rtmpPort = (server: RtspUnderTest) => Number(new URL(rtmpUrl(server)).port);

interface Client {
  readonly socket: Socket;
  isAnswered: boolean;
  isClosed: boolean;
}

async function open(port: number, host = "127.0.0.1"): Promise<Client> {
  const socket = connect(port, host);
  const client: Client = { socket, isAnswered: false, isClosed: false };
  socket.on("error", () => {});
  socket.on("data", () => {
    client.isAnswered = true;
  });
  socket.on("close", () => {
    client.isClosed = true;
  });
  onEnd(() => socket.destroy());
  await once(socket, "connect");
  return client;
}

/** It has begun, and is answered: the first part of a handshake. */
async function openRtmp(server: RtspUnderTest, host?: string): Promise<Client> {
  const client = await open(rtmpPort(server), host);
  client.socket.write(Buffer.concat([Buffer.from([3]), Buffer.alloc(1_536)]));
  await until(() => client.isAnswered || client.isClosed);
  return client;
}

function bounded(most: number) {
  const state = { refused: 0 };
  onTestFinished(boundOpenSockets(most, () => state.refused++));
  return state;
}

it("[RTSP-266] connections by RTMP count among those of the process: beyond its bound new ones are closed, until one ends", async () => {
  const state = bounded(3);
  const server = await startRtsp({ rtmp: true, rtmpPort: 0 });
  const clients = [await openRtmp(server), await openRtmp(server), await open(server.port)];
  const last = await openRtmp(server);
  await until(() => last.isClosed);
  const further = await open(server.port);
  await until(() => further.isClosed);
  expect(clients.map(({ isClosed }) => isClosed)).toEqual([false, false, false]);
  expect(state.refused).toBe(2);
  clients[0]?.socket.destroy();
  await until(async () => !(await openRtmp(server)).isClosed);
});

it("[RTSP-266] they give way to those of an address that has fewer, and others to them, and the row of a publisher says why", async () => {
  const state = bounded(4);
  const server = await startRtsp({ rtmp: true, rtmpPort: 0 });
  const held = [await open(server.port), await openRtmp(server), await openRtmp(server)];
  const publisher = await RawPublisher.publish(server, "one");
  const byRtsp = await open(server.port, "::1");
  await until(() => publisher.closed);
  expect(held.some(({ isClosed }) => isClosed)).toBe(false);
  const why = "too many connections for this process: this address had most";
  await until(() => server.rows().some((row) => JSON.stringify(row).includes(why)));
  const byRtmp = await openRtmp(server, "::1");
  await until(() => held.filter(({ isClosed }) => isClosed).length === 1);
  expect([byRtsp.isClosed, byRtmp.isClosed, state.refused]).toEqual([false, false, 0]);
});

it("[RTSP-266] where the worker has ended, its connections have no places any more", async () => {
  const { ThreadSockets } = await import("../../servers/core/net/thread-sockets.ts");
  const state = bounded(2);
  const ended: string[] = [];
  const thread = new ThreadSockets(({ id, why }) => ended.push(`${id}: ${why}`));
  Atomics.store(thread.bound.inThread, 0, 2);
  for (const id of [1, 2]) thread.receive({ type: "opened", id, address: "127.0.0.1" });
  const server = await startRtsp();
  const refused = await open(server.port);
  await until(() => refused.isClosed);
  thread.receive({ type: "opened", id: 3, address: "127.0.0.1" });
  expect([ended, state.refused]).toEqual([["3: too many connections for this process"], 2]);
  thread.close();
  const client = await server.connect();
  expect((await client.request("OPTIONS", server.url)).status).toBe(200);
});

it("[RTSP-266] a burst of connections opens no more sockets than the bound and a few that are ending", async () => {
  bounded(40);
  const server = await startRtsp({ rtmp: true, rtmpPort: 0 });
  const clients = await Promise.all(Array.from({ length: 200 }, () => open(rtmpPort(server))));
  await until(() => clients.filter(({ isClosed }) => isClosed).length === 160);
  const other = await open(rtmpPort(server), "::1");
  await until(() => clients.filter(({ isClosed }) => isClosed).length === 161);
  expect(other.isClosed).toBe(false);
});

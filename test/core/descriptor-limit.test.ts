import { once } from "node:events";
import http, { Agent } from "node:http";
import { connect, createServer, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { configuredConnections, connectionsWithin, limitIn } from "../../servers/core/net/descriptor-limit.ts";
import { boundOpenSockets } from "../../servers/core/net/open-sockets.ts";
import { listenTcp } from "../../servers/core/net/tcp-listener.ts";
import { eventually } from "../support/eventually.ts";
import { httpRequest } from "../support/http-request.ts";
import { headlessHttp, startBacklot } from "../support/start-backlot.ts";

it("[BL-474] the bound is the files that may be opened less what the service needs, and at least half", () => {
  expect([1_048_576, 1_024, 128, 100].map(connectionsWithin)).toEqual([1_048_512, 960, 64, 50]);
  expect(connectionsWithin(Number.POSITIVE_INFINITY)).toBe(Number.POSITIVE_INFINITY);
  const line = (soft: string) =>
    `Limit  Soft Limit  Hard Limit  Units\nMax processes  1  1  processes\nMax open files            ${soft}   4096   files\n`;
  expect([limitIn(line("1024")), limitIn(line("unlimited")), limitIn("")]).toEqual([
    1_024,
    Number.POSITIVE_INFINITY,
    Number.POSITIVE_INFINITY,
  ]);
  expect(configuredConnections({ connections: 10, turnConnections: 5, connectionsPerAddress: 7, label: "connections" })).toBe(15);
});

it("[BL-474] beyond the bound connections are closed, of all listeners together, until one ends", async () => {
  const releases: (() => Promise<void>)[] = [];
  onTestFinished(async () => {
    for (const release of releases) await release();
  });
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  let accepted = 0;
  const listen = () =>
    listenTcp({
      port: 0,
      openToLan: false,
      onStop: (release) => releases.push(release),
      createServer: () => createServer(() => accepted++),
    });
  const [one, other] = [await listen(), await listen()];
  let refused = 0;
  onTestFinished(boundOpenSockets(2, () => refused++));
  const open = async (port: number) => {
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    sockets.push(socket);
    await once(socket, "connect");
    return socket;
  };
  const first = await open(one);
  await open(other);
  await eventually(() => accepted === 2, "two are accepted");
  await once(await open(one), "close");
  await once(await open(other), "close");
  expect([accepted, refused]).toEqual([2, 2]);
  first.destroy();
  // Until the server has seen its end, another one is refused.
  await eventually(async () => {
    await open(other);
    return accepted === 3;
  }, "there is room again");
});

it.runIf(process.platform === "linux")(
  "[BL-474] with few files a service refuses connections and says so, and the others go on",
  async () => {
    const run = startBacklot(headlessHttp, { openFiles: 128 });
    await run.ready();
    const url = (await run.state("http", "running")).endpoints?.[0]?.url ?? "";
    await eventually(() => run.stderr().includes("At most 64 connections are accepted at a time"), "the log says so");
    expect(run.stderr()).toContain("the system lets this process open 128 files (ulimit -n), and 10,000 connections are configured.");
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const bystander = () =>
      new Promise((resolve, reject) => {
        http
          .get(`${url}/health`, { agent }, (response) => response.resume().on("end", () => resolve(response.statusCode)))
          .on("error", reject);
      });
    expect(await bystander()).toBe(200);
    const others = Array.from({ length: 150 }, () => connect(Number(new URL(url).port), "127.0.0.1").on("error", () => {}));
    onTestFinished(() => {
      for (const socket of others) socket.destroy();
    });
    let closed = 0;
    for (const socket of others) socket.resume().on("close", () => closed++);
    await eventually(() => closed === 87, "those beyond 64 are closed");
    expect(await bystander()).toBe(200);
    await eventually(() => run.stderr().includes("A connection was refused: 64 are open"), "the log says it");
    for (const socket of others) socket.destroy();
    await eventually(async () => (await httpRequest(`${url}/health`).catch(() => undefined))?.status === 200, "there is room again");
  },
);

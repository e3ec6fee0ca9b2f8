import { connect } from "node:http2";
import { connect as connectTcp, Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { CallBudgets } from "../../servers/grpc/engine/call-budgets.ts";
import type { CallEvents } from "../../servers/grpc/engine/call-transport.ts";
import { GrpcConnections } from "../../servers/grpc/engine/connections.ts";
import { Http2Call } from "../../servers/grpc/engine/http2-call.ts";
import { until } from "../support/until.ts";
import { itemsOfTurn, workTime } from "../support/work-time.ts";
import { callFields, flags, frameTypes, h2Frame, preface } from "./h2-frames.ts";
import { startGrpc } from "./harness.ts";
import { hostileClient } from "./hostile-http2.ts";

const { headers, rstStream } = frameTypes;

/** Connections with open streams, each of which takes an item of time at its end. */
function openStreams(connections: number, streams: number) {
  const { turns, pass } = workTime();
  const ended: (string | undefined)[] = [];
  const budgets = new CallBudgets({ openCalls: 1_000_000, memoryBytes: 2 ** 40, messageBytes: 1 });
  const times = { handshakeMs: 10_000, keepaliveMs: 0, keepaliveTimeoutMs: 10_000 };
  const limits = { ...times, connectionsPerAddress: connections, concurrentStreams: streams, metadataBytes: 10_000 };
  const of = new GrpcConnections({ ...limits, turns, budgets }, { write() {}, closed() {} } as never);
  const open = h2Frame(headers, flags.endHeaders, 1, callFields("/a.B/C"));
  const sockets = Array.from({ length: connections }, () => {
    const socket = Object.assign(new Socket(), { write: () => true });
    const connection = of.admit(socket);
    if (!connection) throw new Error("no connection");
    of.speaksHttp2(socket, connection, (stream, head) => {
      const call = new Http2Call(stream, head, connection, { largestMessage: 1, metadataBytes: 10_000 });
      call.start({
        onOver({ aborted }: { readonly aborted: string | undefined }) {
          pass();
          ended.push(aborted);
        },
      } as CallEvents);
    });
    socket.emit("data", preface);
    for (let stream = 0; stream < streams; stream++) {
      open.writeUInt32BE(2 * stream + 1, 5);
      socket.emit("data", Buffer.from(open));
    }
    return socket;
  });
  return { of, sockets, ended };
}

/** How many have ended in the turn with most of them. */
async function mostInTurn(ended: readonly unknown[], all: number): Promise<number> {
  let most = ended.length;
  while (ended.length < all) {
    const before = ended.length;
    await nextTurn();
    most = Math.max(most, ended.length - before);
  }
  return most;
}

it("[GRPC-192] the calls of connections that are lost at once end in the turns of all clients", async () => {
  const { of, sockets, ended } = openStreams(40, 250);
  for (const socket of sockets) socket.destroy();
  expect(await mostInTurn(ended, 40 * 250)).toBeLessThanOrEqual(2 * itemsOfTurn);
  expect(new Set(ended)).toEqual(new Set(["client left"]));
  await until(() => of.count === 0);
});

it("[GRPC-196] calls whose streams are reset at once end in the turns of all clients", async () => {
  const { sockets, ended } = openStreams(40, 250);
  const code = Buffer.from([0, 0, 0, 8]);
  const resets = Buffer.concat(Array.from({ length: 250 }, (_, index) => h2Frame(rstStream, 0, 2 * index + 1, code)));
  for (const socket of sockets) socket.emit("data", resets);
  expect(await mostInTurn(ended, 40 * 250)).toBeLessThanOrEqual(2 * itemsOfTurn);
  expect(new Set(ended)).toEqual(new Set(["client cancelled"]));
  for (const socket of sockets) socket.destroy();
});

it("[GRPC-192] calls and refusals of a lost connection of HTTP/2 are rows of a client that left, on both ports", async () => {
  const service = await startGrpc();
  for (const [port, type] of [
    [service.port, "application/grpc"],
    [Number(new URL(service.webUrl).port), "application/grpc-web"],
  ] as const) {
    const before = service.rows().length;
    const socket = connectTcp(port, "127.0.0.1");
    const session = connect(`http://127.0.0.1:${port}`, { createConnection: () => socket, settings: { initialWindowSize: 0 } });
    session.on("error", () => {});
    for (const path of ["/example.EchoService/EchoBidiStream", "/grpc.health.v1.Health/Watch"])
      session.request({ ":method": "POST", ":path": path, "content-type": type }).on("error", () => {});
    // Its answer has no room in the window.
    session.request({ ":method": "POST", ":path": "/x", "content-type": "text/plain" }).on("error", () => {});
    const rows = () => service.rows().slice(before);
    await until(() => rows().length === 3);
    socket.resetAndDestroy();
    await until(() => rows().every(({ tone }) => tone !== "pending"));
    expect(
      rows()
        .map(({ outcome }) => outcome)
        .sort(),
    ).toEqual([expect.stringMatching(/^HTTP 4/), "client left", "client left"]);
  }
});

it.each([
  [11, "stream closed (ENHANCE_YOUR_CALM)"],
  [99, "stream closed (99)"],
])("[GRPC-332] the row of a call whose stream was reset with code %i says so", async (code, outcome) => {
  const service = await startGrpc();
  const path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
  const client = hostileClient(service);
  await client.write(Buffer.concat([preface, h2Frame(headers, flags.endHeaders, 1, callFields(path))]));
  await expect.poll(() => service.rows().some(({ target }) => target === path)).toBe(true);
  await client.write(h2Frame(rstStream, 0, 1, Buffer.from([0, 0, 0, code])));
  expect((await service.ended(({ target }) => target === path)).outcome).toBe(outcome);
});

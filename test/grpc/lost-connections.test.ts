import { EventEmitter } from "node:events";
import { connect } from "node:http2";
import { connect as connectTcp, Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { type BudgetedCall, CallBudgets } from "../../servers/grpc/engine/call-budgets.ts";
import type { CallEvents } from "../../servers/grpc/engine/call-transport.ts";
import { type GrpcConnection, GrpcConnections } from "../../servers/grpc/engine/connections.ts";
import { Http2Call, type OpenedStream } from "../../servers/grpc/engine/http2-call.ts";
import { SessionReadings } from "../../servers/grpc/engine/session-reading.ts";
import { until } from "../support/until.ts";
import { itemsOfTurn, workTime } from "../support/work-time.ts";
import { startGrpc } from "./harness.ts";

it("[GRPC-192] the calls of connections that are lost at once end in the turns of all clients, and then the connections", async () => {
  const { turns, pass } = workTime();
  const budgets = new CallBudgets({ openCalls: 1_000_000, metadataBytes: 1_000, messageBytes: 1_000, unreadBytes: 1_000 });
  const connections = new GrpcConnections({ connectionsPerAddress: 100, turns, readings: new SessionReadings(turns), budgets }, {
    write() {},
    closed() {},
  } as never);
  let lost = 0;
  let isRead = true;
  const bystander = new Socket();
  Object.assign(bystander, {
    _handle: { writeQueueSize: 0, readStart: () => (isRead = true), readStop: () => (isRead = false), close() {} },
  });
  const other = connections.admit(bystander);
  if (other) connections.speaksHttp2(bystander, other);
  const sockets = Array.from({ length: 40 }, () => {
    const socket = new Socket();
    const connection = connections.admit(socket);
    if (!connection) throw new Error("no connection");
    connections.speaksHttp2(socket, connection);
    for (let index = 0; index < 250; index++) {
      const call = {
        places: { listener: 0, connection: 0 },
        transport: {
          lose() {
            pass();
            lost++;
            connection.openCalls.delete(call);
          },
        },
      } as unknown as BudgetedCall;
      connection.openCalls.add(call);
    }
    return socket;
  });
  for (const socket of sockets) socket.destroy();
  expect(lost).toBeLessThanOrEqual(itemsOfTurn);
  // What else is lost is found in the next poll.
  expect(isRead).toBe(false);
  await nextTurn();
  expect(isRead).toBe(true);
  let most = 0;
  while (lost < 40 * 250) {
    const before = lost;
    await nextTurn();
    most = Math.max(most, lost - before);
  }
  expect(most).toBeLessThanOrEqual(2 * itemsOfTurn);
  bystander.destroy();
  await until(() => connections.count <= 1);
});

it("[GRPC-196] calls whose streams are reset at once end in the turns of all clients", async () => {
  const { turns, pass } = workTime();
  let over = 0;
  const streams = Array.from({ length: 40 }, () => {
    const shares = { received: { add() {} } };
    const connection = { work: turns.connection("10.0.0.1"), shares, calls: 0 } as unknown as GrpcConnection;
    return Array.from({ length: 250 }, () => {
      const stream = Object.assign(new EventEmitter(), { rstCode: 8, session: { destroyed: false } });
      const opened = { stream, headers: {}, rawHeaders: [] } as unknown as OpenedStream;
      const call = new Http2Call(opened, connection, { largestMessage: 1, malformed: "INTERNAL", metadataBytes: 1_000 });
      const events = {
        onOver({ aborted }: { readonly aborted: string | undefined }) {
          pass();
          if (aborted === "client cancelled") over++;
        },
      };
      call.start(events as CallEvents);
      return stream;
    });
  }).flat();
  for (const stream of streams) stream.emit("close");
  expect(over).toBeLessThanOrEqual(itemsOfTurn);
  let most = 0;
  while (over < 40 * 250) {
    const before = over;
    await nextTurn();
    most = Math.max(most, over - before);
  }
  expect(most).toBeLessThanOrEqual(2 * itemsOfTurn);
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

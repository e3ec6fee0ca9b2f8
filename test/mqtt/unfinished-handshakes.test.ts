import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { expect, it, onTestFinished } from "vitest";
import { startBroker } from "./harness.ts";

it("[MQTT-308] connections that have not finished their handshake keep nobody out", async () => {
  // So few clients leave 64 connections.
  const broker = await startBroker({ tls: true, clients: 1 });
  const url = new URL(Object.values(broker.urls).find((one) => one.startsWith("mqtts:")) ?? "");
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  const address = { host: "127.0.0.1", port: Number(url.port) };
  for (let count = 0; count < 100; count++) {
    const socket = connect(address).on("error", () => {});
    sockets.push(socket);
    await once(socket, "connect");
  }
  const other = connectTls({ ...address, rejectUnauthorized: false });
  sockets.push(other);
  await once(other, "secureConnect");
  expect(other.destroyed).toBe(false);
});

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { expect, it } from "vitest";
import { onEnd } from "../support/start-service.ts";
import { startTurn, testCertificates } from "./turn-harness.ts";

it("[BL-520] connections to TURN that have not finished their handshake keep nobody out", async () => {
  const tls = { port: 0, certificates: await testCertificates(), tlsHandshakes: 100 };
  const server = await startTurn({ tls, streams: { connections: 4, connectionsPerAddress: 4 } });
  const address = { host: "127.0.0.1", port: server.tlsPort };
  const sockets: Socket[] = [];
  onEnd(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (let count = 0; count < 8; count++) {
    const socket = connect(address).on("error", () => {});
    sockets.push(socket);
    await once(socket, "connect");
  }
  const other = connectTls({ ...address, rejectUnauthorized: false });
  sockets.push(other);
  await once(other, "secureConnect");
  expect(other.destroyed).toBe(false);
});

import { once } from "node:events";
import { connect } from "node:net";
import { Duplex } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { closeOf, type Target } from "./hostile-service.ts";

/** Many connections each send data of one byte in records of its own (RFC 8446 §5.1), all of them at once. Reads and drops the answers. */
export async function throwRecordsOfOneByte(target: Target, connections: number, records: number): Promise<void> {
  const made = await Promise.all(Array.from({ length: connections }, () => recordsOf(target, records)));
  const closed = Promise.all(made.map(({ socket }) => closeOf(socket)));
  for (const { socket, bytes } of made) socket.write(bytes);
  await Promise.race([closed, delay(target.holdMs)]);
  for (const { socket } of made) socket.destroy();
  await closed;
}

/** Opens a connection, and encrypts what it is to send. */
async function recordsOf({ port }: Target, records: number) {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  const bytes: Buffer[] = [];
  let isOpen = false;
  const below = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      if (isOpen) bytes.push(chunk);
      else socket.write(chunk);
      done();
    },
  });
  socket.on("data", (chunk) => below.push(chunk));
  const client = connectTls({ socket: below, rejectUnauthorized: false });
  client.on("error", () => {});
  await once(client, "secureConnect");
  isOpen = true;
  for (let sent = 0; sent < records; sent++) await new Promise((resolve) => client.write("x", resolve));
  return { socket, bytes: Buffer.concat(bytes) };
}

import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import { createDatagramSender } from "../../servers/core/net/datagram-sender.ts";
import { until } from "../support/until.ts";

async function open(host: string): Promise<Socket> {
  const socket = createSocket(host.includes(":") ? "udp6" : "udp4");
  onTestFinished(() => new Promise<void>((resolve) => socket.close(() => resolve())));
  socket.bind(0, host);
  await once(socket, "listening");
  return socket;
}

/** Without the inside of a socket of Node. */
const outsideOf = (socket: Socket): Socket =>
  ({ send: socket.send.bind(socket), getSendQueueSize: socket.getSendQueueSize.bind(socket) }) as unknown as Socket;

describe("datagram sender", () => {
  it.each([
    ["by the handle", (socket: Socket) => socket],
    ["by the socket", outsideOf],
  ] as const)("sends data, with and without a prefix, %s", async (_how, seenAs) => {
    const [from, to] = [await open("127.0.0.1"), await open("127.0.0.1")];
    const received: string[] = [];
    to.on("message", (data) => received.push(data.toString("latin1")));
    const sender = createDatagramSender(seenAs(from));
    const { port } = to.address();
    for (const text of ["one", ""]) expect(sender.send(Buffer.from(text), port, "127.0.0.1")).toBeUndefined();
    expect(sender.sendPrefixed(0x41424344, Buffer.from("two"), port, "127.0.0.1")).toBeUndefined();
    expect(sender.sendPrefixed(0x61626364, Buffer.alloc(0), port, "127.0.0.1")).toBeUndefined();
    await until(() => received.length === 4);
    expect(received).toEqual(["one", "", "ABCDtwo", "abcd"]);
  });

  it("names the error of a datagram that is too large, and sends the next one", async () => {
    const [from, to] = [await open("127.0.0.1"), await open("127.0.0.1")];
    const sender = createDatagramSender(from);
    const { port } = to.address();
    expect(sender.send(Buffer.alloc(70_000), port, "127.0.0.1")).toBe("EMSGSIZE");
    const received = once(to, "message");
    expect(sender.send(Buffer.from("small"), port, "127.0.0.1")).toBeUndefined();
    expect(String((await received)[0])).toBe("small");
  });

  it("keeps what the system does not take at once", async () => {
    const [from, to] = [await open("127.0.0.1"), await open("127.0.0.1")];
    from.setSendBufferSize(2_048);
    const received: string[] = [];
    to.on("message", (data) => received.push(data.toString("latin1", 0, 8)));
    const sender = createDatagramSender(from);
    const filling = Buffer.alloc(500, "x");
    for (let count = 0; count < 40; count++) sender.sendPrefixed(0x30303030 + count, filling, to.address().port, "127.0.0.1");
    await until(() => received.length === 40);
    expect(new Set(received).size).toBe(40);
  });
});

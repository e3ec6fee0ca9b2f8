import { once } from "node:events";
import { createConnection } from "node:net";
import { expect, it } from "vitest";
import { WebSocket } from "ws";
import { onEnd } from "../support/start-service.ts";
import { startWebrtc, type WebrtcUnderTest } from "./webrtc-harness.ts";

const kibibyte = 1 << 10;
const limits = { messageBytes: 400 * kibibyte, allRequestBytes: 1_000 * kibibyte };

/** A WebSocket whose message lacks its end. */
async function begin({ port }: WebrtcUnderTest, target: string, bytes: number) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${target}`);
  onEnd(() => socket.terminate());
  socket.on("error", () => {});
  const closed = new Promise<number>((resolve) => socket.once("close", resolve));
  const answers: string[] = [];
  socket.on("message", (data) => answers.push(String(data)));
  await once(socket, "open");
  socket.send(Buffer.alloc(bytes, " "), { fin: false, binary: false });
  return {
    closed,
    answers,
    /** It has arrived. */
    async ping() {
      socket.ping();
      await once(socket, "pong");
    },
    end: () => socket.send("{}", { fin: true }),
  };
}

/** The body of a POST of long polling that lacks its end. Resolves when the service has begun its row; `closed` when its connection ends. */
async function beginPost({ port, rows }: WebrtcUnderTest, bytes: number) {
  const target = "/socket.io/?EIO=4&transport=polling";
  const { sid } = JSON.parse((await (await fetch(`http://127.0.0.1:${port}${target}`)).text()).slice(1)) as { sid: string };
  const socket = createConnection({ host: "127.0.0.1", port });
  onEnd(() => socket.destroy());
  socket.on("error", () => {});
  const closed = once(socket, "close");
  socket.write(`POST ${target}&sid=${sid} HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: ${bytes + 1}\r\n\r\n`);
  socket.write(Buffer.alloc(bytes, "x"));
  await expect.poll(() => rows().some(({ verb }) => verb === "POST")).toBe(true);
  return { closed };
}

it.each(["/ws", "/socket.io/?EIO=4&transport=websocket"])(
  "[WEBRTC-129] where begun messages of all clients have more than the limit, the largest is closed with 1013: %s",
  async (target) => {
    const service = await startWebrtc(limits);
    const small = await begin(service, "/ws", 300 * kibibyte);
    const most = await begin(service, target, 390 * kibibyte);
    await Promise.all([small.ping(), target === "/ws" && most.ping()]);
    const last = await begin(service, "/ws", 380 * kibibyte);
    expect(await most.closed).toBe(1_013);
    for (const { end, answers } of [small, last]) {
      end();
      await expect.poll(() => answers.some((text) => text.includes("bad-message"))).toBe(true);
    }
  },
);

it("[WEBRTC-129] begun bodies of long polling count too", async () => {
  const service = await startWebrtc(limits);
  const most = await beginPost(service, 390 * kibibyte);
  const [one, other] = [await begin(service, "/ws", 300 * kibibyte), await begin(service, "/ws", 380 * kibibyte)];
  await most.closed;
  for (const { end, answers } of [one, other]) {
    end();
    await expect.poll(() => answers.some((text) => text.includes("bad-message"))).toBe(true);
  }
});

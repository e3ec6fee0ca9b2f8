import { once } from "node:events";
import { connect as connectTcp } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { encodePacket } from "../../../servers/mqtt/codec/encode-packet.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import {
  type Broker,
  connectPacket,
  connectWire,
  openWire,
  openWireWebSocket,
  publishPacket,
  seen,
  startBroker,
  type WireClient,
} from "../harness.ts";
import { type Hostile, hostile } from "./hostile-bytes.ts";
import { closing, hostileFrames } from "./hostile-frames.ts";

/** How the broker answered: the reason in its last packet, or "close". */
async function provoke(client: WireClient, { when, version, bytes, name }: Hostile): Promise<number | "close"> {
  if (when === "connected") {
    client.send(connectPacket(version, `hostile ${name}`));
    await client.expect("connack");
  }
  // Nothing behind the mistake counts any more.
  client.write(Buffer.concat([bytes, encodePacket(publishPacket("behind/the/mistake", name), version)]));
  const last = await client.expectClose();
  return last?.type === "disconnect" || last?.type === "connack" ? last.reason : "close";
}

async function judge(broker: Broker, open: (version: 4 | 5) => Promise<WireClient>) {
  const witness = await connectWire(broker, 5, { clientId: "witness" });
  await witness.subscribe("#");
  const wrong: string[] = [];
  let next = 0;
  const work = async () => {
    for (let item = hostile[next++]; item; item = hostile[next++]) {
      const reason = await provoke(await open(item.version), item);
      const format = (value: number | "close") => (value === "close" ? value : `0x${value.toString(16)}`);
      if (reason !== item.reason)
        wrong.push(`${item.version} ${item.when}: ${item.name}: ${format(reason)} instead of ${format(item.reason)}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  expect(wrong).toEqual([]);
  // Nothing of it was forwarded, and the broker goes on.
  await broker.act("publish", { topic: "alive", payload: "yes" });
  expect(seen(await witness.expect("publish"))).toMatchObject({ topic: "alive", payload: "yes" });
  expect((await broker.act("client.list", { connected: true })).matching).toBe(1);
}

it("[MQTT-3] there are many broken byte sequences for both versions", () => {
  expect(hostile.length).toBeGreaterThan(450);
  expect(hostile.filter(({ version }) => version === 4).length).toBeGreaterThan(100);
  expect(new Set(hostile.map(({ version, when, name }) => `${version} ${when} ${name}`)).size).toBe(hostile.length);
});

it("[MQTT-3] every broken byte sequence gets its reason code, or a close", async () => {
  const broker = await startBroker();
  await judge(broker, (version) => openWire(broker, version));
});

it("[MQTT-3] the same over WebSocket", async () => {
  const broker = await startBroker({ webSocket: true });
  await judge(broker, (version) => openWireWebSocket(broker.urls.WS ?? "", version));
});

it("[MQTT-3] the same one byte at a time", async () => {
  const broker = await startBroker();
  await judge(broker, async (version) => {
    const client = await openWire(broker, version);
    const whole = client.write.bind(client);
    let last = Promise.resolve();
    client.write = (bytes) => {
      last = last.then(async () => {
        for (const byte of bytes) {
          if (client.closed) return;
          whole(Buffer.from([byte]));
          await new Promise(setImmediate);
        }
      });
    };
    return client;
  });
});

it.each(hostileFrames)("[MQTT-3] over WebSocket: $name closes that connection with $closeCode", async ({ bytes, closeCode }) => {
  const broker = await startBroker({ webSocket: true });
  const witness = await connectWire(broker, 5);
  const url = new URL(broker.urls.WS ?? "");
  const socket = connectTcp(Number(url.port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  let answer = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    answer = Buffer.concat([answer, chunk]);
  });
  socket.write(
    `GET / HTTP/1.1\r\nHost: ${url.host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: mqtt\r\n\r\n`,
  );
  await expect.poll(() => answer.includes("\r\n\r\n")).toBe(true);
  socket.write(bytes);
  const closed = once(socket, "close");
  await expect.poll(() => answer.indexOf("\r\n\r\n") + 4 < answer.length).toBe(true);
  // Its own, for which the broker waits where the frames themselves were whole.
  socket.write(closing(closeCode));
  await closed;
  const frames = answer.subarray(answer.indexOf("\r\n\r\n") + 4);
  expect([frames[0], frames.readUInt16BE(2)]).toEqual([0x88, closeCode]);
  await witness.expectNothing();
});

it("[MQTT-4] seeded noise on live connections does no harm to others", async () => {
  const broker = await startBroker();
  const random = seededRandom(7);
  for (let round = 0; round < 60; round++) {
    const version = random.chance(0.5) ? 5 : 4;
    const client = await connectWire(broker, version, { clientId: `noise-${round}` });
    const noise = Buffer.from(Array.from({ length: 1 + random.below(300) }, () => random.below(256)));
    client.write(noise);
    client.destroy();
  }
  const client = await connectWire(broker, 5);
  await client.expectNothing();
  expect(broker.logs.filter((line) => line.includes("An error"))).toEqual([]);
});

it("[MQTT-123] every protocol error has one log line, at any stage", async () => {
  const broker = await startBroker();
  const noSession = await openWire(broker, 4);
  noSession.hex("30 02 00 00");
  await noSession.expectClose();
  const refused = await openWire(broker, 5);
  refused.hex("10 09 00 04 4d 51 54 54 05 03 00 00 00");
  await refused.expectClose();
  const connected = await connectWire(broker, 5, { clientId: "broken" });
  connected.hex("f0 00 f0 00");
  await connected.expectClose();
  const lines = () => broker.logs.filter((line) => / (violated|was refused|left)\b/.test(line));
  await expect
    .poll(lines)
    .toEqual([
      expect.stringMatching(/ violated the protocol: .*protocol error/i),
      expect.stringMatching(/^A client from .* was refused: /),
      expect.stringMatching(/^broken violated the protocol and was disconnected: /),
    ]);
});

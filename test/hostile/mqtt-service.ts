import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { connectAsync } from "mqtt";
import { encodePacket } from "../../servers/mqtt/codec/encode-packet.ts";
import type { ConnectPacket, Packet, PublishPacket } from "../../servers/mqtt/codec/packet.ts";
import { hostile } from "../mqtt/hostile/hostile-bytes.ts";
import {
  type Addresses,
  type Bystander,
  type HostileService,
  httpAttacks,
  httpRequest,
  overEndpoint,
  randomBytes,
  repeated,
  type Target,
  throwAt,
} from "./hostile-service.ts";

const connectPacket = (clientId: string, more: Partial<ConnectPacket> = {}): ConnectPacket => ({
  type: "connect",
  version: 5,
  cleanStart: true,
  keepAliveSeconds: 0,
  clientId,
  ...more,
});
const publishPacket = (topic: string, payload: string): PublishPacket => ({
  type: "publish",
  topic,
  payload: Buffer.from(payload),
  qos: 0,
  retain: false,
  dup: false,
  packetId: 0,
  properties: undefined,
});

const bytesOf = (...packets: readonly Packet[]): Buffer => Buffer.concat(packets.map((packet) => encodePacket(packet, 5)));
/** Without a name, so that connections do not take over each other's sessions. */
const opening = bytesOf(connectPacket(""));
const all = { qos: 1, noLocal: false, retainAsPublished: false, retainHandling: 0 } as const;
const subscribeFan = bytesOf({ type: "subscribe", packetId: 1, subscriptions: [{ filter: "fan/#", ...all }] });
const subscribeAll = bytesOf({ type: "subscribe", packetId: 1, subscriptions: [{ filter: "#", ...all }] });

/** Publishes to itself: an answer is the message. */
async function openBystander({ port }: Addresses): Promise<Bystander> {
  const client = await connectAsync(`mqtt://127.0.0.1:${port}`, { protocolVersion: 5, clientId: "bystander" });
  // Otherwise its PUBLISH waits until the PUBACK before it was acknowledged by TCP, which takes up to 40 ms.
  (client.stream as unknown as Socket).setNoDelay(true);
  const waiting = new Map<string, () => void>();
  client.on("message", (_topic, payload) => {
    waiting.get(payload.toString())?.();
    waiting.delete(payload.toString());
  });
  await client.subscribeAsync("bystander/echo", { qos: 1 });
  let asked = 0;
  return {
    async ask() {
      const text = String(++asked);
      const arrived = new Promise<void>((resolve) => waiting.set(text, resolve));
      await client.publishAsync("bystander/echo", text, { qos: 1 });
      await arrived;
    },
    close: () => client.endAsync(true),
  };
}

/** Clients that read what others publish when they have subscribed. */
async function toSubscribers(target: Target, subscribers: number, messages: readonly PublishPacket[], publishers: number): Promise<void> {
  const holdMs = target.holdMs / 2;
  await Promise.all([
    throwAt(target, subscribers, Buffer.concat([opening, subscribeFan]), "all"),
    delay(holdMs).then(() => throwAt({ ...target, holdMs }, publishers, Buffer.concat([opening, bytesOf(...messages)]), "all")),
  ]);
}

/** Each byte of MQTT is a WebSocket message. */
async function sendSingleBytes(target: Target): Promise<void> {
  const upgrade = httpRequest("GET", "/", {
    headers:
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: mqtt\r\n",
  });
  const pings = Buffer.concat([opening, repeated(bytesOf({ type: "pingreq" }), 10_000)]);
  // Masked with zeros.
  const frames = Buffer.concat(Array.from(pings, (byte) => Buffer.from([0x82, 0x81, 0, 0, 0, 0, byte])));
  await throwAt(target, 10, Buffer.concat([upgrade, frames]), "all");
}

export const mqttService: HostileService = {
  flags: ["--mqtt-web-socket-port", "0", "--mqtt-tls", "false"],
  config: { webSocketPort: 0, tls: false },
  openBystander,
  attacks: {
    "subscribers of # that read nothing, and messages": async (target) => {
      const large = bytesOf(...Array.from({ length: 50 }, (_, index) => publishPacket(`flood/${index}`, "x".repeat(60_000))));
      await Promise.all([
        throwAt(target, 20, Buffer.concat([opening, subscribeAll]), "nothing"),
        throwAt(target, 2, Buffer.concat([opening, large]), "all"),
      ]);
    },
    "250 kB to 200 subscribers": (target) => toSubscribers(target, 200, [publishPacket("fan/large", "x".repeat(250_000))], 4),
    "thousands of tiny messages to 100 subscribers": (target) =>
      toSubscribers(
        target,
        100,
        Array.from({ length: 3_000 }, () => publishPacket("fan/tiny", "")),
        2,
      ),
    "300 connections at once": (target) => throwAt(target, 300, opening, "all"),
    "20,000 pings": (target) => throwAt(target, 10, Buffer.concat([opening, repeated(bytesOf({ type: "pingreq" }), 20_000)]), "nothing"),
    "5,000 new topics": (target) =>
      throwAt(
        target,
        2,
        Buffer.concat([
          opening,
          bytesOf(
            ...Array.from({ length: 5_000 }, () =>
              publishPacket(Array.from({ length: 6 }, () => target.random.below(1_000)).join("/"), ""),
            ),
          ),
        ]),
        "all",
      ),
    "the longest client identifier": (target) =>
      throwAt(target, 20, bytesOf(connectPacket("x".repeat(65_535), { properties: { requestResponseInformation: 1 } })), "all"),
    "every broken packet": async (target) => {
      for (const { when, version, bytes } of hostile) {
        const before =
          when === "connected"
            ? encodePacket(connectPacket(`hostile ${target.random.below(1_000)}`, { version }), version)
            : Buffer.alloc(0);
        await throwAt({ ...target, holdMs: 20 }, 1, Buffer.concat([before, bytes]), "all");
      }
    },
    "random bytes": (target) => throwAt(target, 20, Buffer.concat([opening, randomBytes(target, 2_000)]), "all"),
    "filters that search all retained messages": async (target) => {
      const retained = Array.from({ length: 5_000 }, (_, index) => ({ ...publishPacket(`r/${index}/x/y`, "kept"), retain: true }));
      await throwAt(target, 1, Buffer.concat([opening, bytesOf(...retained)]), "all");
      const subscriptions = Array.from({ length: 1_000 }, () => ({ filter: "+/+/+/none", ...all }));
      await throwAt(target, 2, Buffer.concat([opening, bytesOf({ type: "subscribe", packetId: 1, subscriptions })]), "all");
    },
    "a tree of filters, and long topics": async (target) => {
      const levels = Array.from({ length: 60 }, () => "a");
      const filters = levels.map((_, index) => `${levels.with(index, "+").join("/")}/z`);
      const subscriptions = filters.map((filter) => ({ filter, ...all }));
      const topics = Array.from({ length: 200 }, (_, index) => `${levels.join("/")}/${index}${"x".repeat(1_100)}`);
      const publishes = bytesOf(...topics.map((topic) => publishPacket(topic, "")));
      await throwAt(target, 2, Buffer.concat([opening, bytesOf({ type: "subscribe", packetId: 1, subscriptions }), publishes]), "all");
    },
    "50 clients with 9,999 filters each, then gone": async (target) => {
      const subscriptions = Array.from({ length: 9_999 }, (_, index) => ({ filter: `f/${index}`, ...all }));
      await throwAt(target, 50, Buffer.concat([opening, bytesOf({ type: "subscribe", packetId: 1, subscriptions })]), "all");
    },
    "topics of 60 kB that begin alike": (target) =>
      throwAt(
        target,
        4,
        () =>
          Buffer.concat([
            opening,
            bytesOf(...Array.from({ length: 300 }, () => publishPacket(`${"x".repeat(60_000)}${1e6 + target.random.below(1e6)}`, ""))),
          ]),
        "all",
      ),
    "300 sessions that come back to 1,000 messages each": async (target) => {
      const back = (index: number) =>
        bytesOf(connectPacket(`away ${index}`, { cleanStart: false, properties: { sessionExpiryInterval: 60 } }));
      const subscribe = bytesOf({ type: "subscribe", packetId: 1, subscriptions: [{ filter: "away", ...all }] });
      const holdMs = target.holdMs / 2;
      let next = 0;
      await throwAt({ ...target, holdMs }, 300, () => Buffer.concat([back(next++), subscribe]), "all");
      const messages = Array.from({ length: 1_000 }, (_, index) => ({
        ...publishPacket("away", "x"),
        qos: 1 as const,
        packetId: 1 + index,
      }));
      await throwAt({ ...target, holdMs }, 1, Buffer.concat([opening, bytesOf(...messages)]), "all");
      next = 0;
      await throwAt({ ...target, holdMs }, 300, () => back(next++), "all");
    },
    ...overEndpoint("WS", { ...httpAttacks("/"), "messages of one byte": sendSingleBytes }),
  },
};

import { once } from "node:events";

import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, onTestFinished } from "vitest";
import type { PublishPacket } from "../../../servers/mqtt/codec/packet.ts";
import { hasRedis, missing, type RealServer, startRedis } from "../../support/real-servers.ts";

import { temporaryDir } from "../../support/temporary-dir.ts";
import { type Broker, type Connected, startBroker, type WireClient } from "../harness.ts";
import { type SpawnedBroker, spawnBroker } from "../spawned-broker.ts";

/** A machine with other work can suspend a broker for a second. */
const clusterTimeoutMs = 2_000;

/** The tests get the URL of a database of a real Redis, each its own. */
export function describeCluster(name: string, tests: (nextUrl: () => string) => void): void {
  describe.skipIf(missing("Redis", "redis-server", hasRedis()))(name, () => {
    let redis: RealServer;
    let database = 0;
    beforeAll(async () => {
      redis = await startRedis();
    });
    afterAll(() => redis.stop());
    tests(() => `${redis.url}/${database++}`);
  });
}

/** A client of the Redis itself. */
export async function openRedis(url: string): Promise<Redis> {
  const redis = new Redis(url, { lazyConnect: true, enableOfflineQueue: false, retryStrategy: () => null });
  await redis.connect();
  onTestFinished(() => redis.disconnect());
  return redis;
}

/** Options of a CONNECT for a session that is kept. */
export const kept = (clientId: string, more = {}) => ({ clientId, cleanStart: false, properties: { sessionExpiryInterval: 600 }, ...more });

export const startMember = (url: string, config: Record<string, unknown> = {}): Promise<Broker> =>
  startBroker({ cluster: url, clusterTimeoutMs, ...config });

/** Two brokers that share a database of Redis. */
export const startPair = async (url: string, config: Record<string, unknown> = {}): Promise<readonly [Broker, Broker]> => [
  await startMember(url, config),
  await startMember(url, config),
];

export interface SpawnedMember extends SpawnedBroker {
  kill(): Promise<void>;
}

/** A broker in a process of its own, to be killed. */
export async function spawnMember(url: string, config: Record<string, unknown> = {}): Promise<SpawnedMember> {
  const broker = await spawnBroker(temporaryDir(), { cluster: url, clusterTimeoutMs, ...config });
  const { child } = broker;
  const kill = async () => {
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  };
  return { ...broker, kill };
}

/** Says goodbye, so that its session waits. */
export async function leave(client: WireClient): Promise<void> {
  client.send({ type: "disconnect", reason: 0 });
  await client.expectClose();
}

/** Acknowledged by the broker: the others know of it, or can. */
export async function publishAcknowledged(
  client: Connected,
  topic: string,
  payload: string,
  options: Parameters<WireClient["publish"]>[2] = {},
): Promise<void> {
  const qos = options?.qos ?? 1;
  client.publish(topic, payload, { packetId: 1, ...options, qos });
  if (qos === 1) await client.expect("puback");
  if (qos < 2) return;
  await client.expect("pubrec");
  client.send({ type: "pubrel", packetId: options?.packetId ?? 1, reason: 0 });
  await client.expect("pubcomp");
}

/** Takes and acknowledges every message as the standard wants it, for as long as the connection lasts. */
export class Inbox {
  readonly messages: PublishPacket[] = [];
  readonly ended: Promise<void>;

  constructor(client: WireClient) {
    this.ended = this.take(client);
  }

  private async take(client: WireClient): Promise<void> {
    for (let packet = await client.next(); packet; packet = await client.next()) {
      if (packet.type === "pubrel") client.send({ type: "pubcomp", packetId: packet.packetId, reason: 0 });
      if (packet.type !== "publish") continue;
      this.messages.push(packet);
      const { packetId, qos } = packet;
      if (qos > 0) client.send({ type: qos === 1 ? "puback" : "pubrec", packetId, reason: 0 });
    }
  }

  get payloads(): string[] {
    return this.messages.map(({ payload }) => payload.toString());
  }
}

/** A client that keeps its side of the session over its connections: a QoS 2 message whose identifier it holds is the same one again. */
export class Receiver {
  readonly received: string[] = [];
  private readonly held = new Map<number, string>();

  async take(client: WireClient): Promise<void> {
    for (let packet = await client.next(); packet; packet = await client.next()) {
      if (packet.type === "pubrel") {
        this.held.delete(packet.packetId);
        client.send({ type: "pubcomp", packetId: packet.packetId, reason: 0 });
      }
      if (packet.type !== "publish") continue;
      const { packetId, qos } = packet;
      const payload = packet.payload.toString();
      if (qos > 0) client.send({ type: qos === 1 ? "puback" : "pubrec", packetId, reason: 0 });
      if (qos === 2 && this.held.get(packetId) === payload) continue;
      if (qos === 2) this.held.set(packetId, payload);
      this.received.push(payload);
    }
  }
}

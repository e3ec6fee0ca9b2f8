import AsyncRedisPersistence from "aedes-persistence-redis/asyncPersistence.js";
import type { Redis } from "ioredis";
import type { Qos } from "../codec/packet.ts";
import { decodeForwarded } from "../codec/properties.ts";
import { isSystemTopic, isTopicName } from "../codec/topic.ts";
import { Message } from "../engine/routing/message.ts";
import { fromComputerTime, toComputerTime } from "../engine/steady-clock.ts";
import { keyPrefix } from "./cluster-scripts.ts";
import type { RedisOperation } from "./redis-operation.ts";

const topicsAtOnce = 500;

/** $SYS topics are not shared. */
export const isShared = (topic: string): boolean => !isSystemTopic(topic);

export interface LoadedRetained {
  readonly messages: readonly Message[];
  /** Number of stored values that cannot be decoded. */
  readonly broken: number;
}

/** A message as aedes-persistence-redis stores it; `forwarded`, `expiresAt` and `publisherId` are our additions. */
interface RetainedPacket {
  readonly cmd: "publish";
  readonly topic: string;
  readonly payload: Buffer;
  readonly qos: number;
  readonly retain: true;
  readonly forwarded: Buffer;
  readonly expiresAt: number;
  readonly publisherId: string;
}

/**
 * Retained messages in Redis, in the format of aedes-persistence-redis. Its writes are intercepted and committed with
 * the frame for the other brokers, so that all see the same last message of a topic.
 */
export class SharedRetained {
  private readonly commands: Redis;
  private readonly persistence: AsyncRedisPersistence;
  private written: readonly [command: "HSET" | "HDEL", key: string, topic: string, value?: Uint8Array] | undefined = undefined;

  constructor(commands: Redis) {
    this.commands = commands;
    this.persistence = new AsyncRedisPersistence({
      conn: {
        hset: async (key, topic, value) => {
          this.written = ["HSET", key, topic, value];
        },
        hdel: async (key, topic) => {
          this.written = ["HDEL", key, topic];
        },
        hgetBuffer: (key, topic) => commands.hgetBuffer(keyPrefix + key, topic),
      },
    });
  }

  /** An empty payload removes the stored message. */
  operation(message: Message): RedisOperation {
    const { command, key, topic, value } = this.write(message);
    return { type: "call", values: [command, key, topic, ...(value ? [value] : [])] };
  }

  /** Removes the message if no newer one has replaced it. */
  removal(message: Message): RedisOperation {
    const { key, topic, value } = this.write(message);
    return { type: "remove", key, field: topic, value: value ?? Buffer.alloc(0) };
  }

  private write({ topic, payload, qos, forwarded, expiresAt, publisherId }: Message) {
    const packet: RetainedPacket = {
      cmd: "publish",
      topic,
      payload,
      qos,
      retain: true,
      forwarded,
      expiresAt: toComputerTime(expiresAt),
      publisherId,
    };
    // aedes-persistence-redis issues the command synchronously.
    void this.persistence.storeRetained(packet);
    if (!this.written) throw new Error("aedes-persistence-redis did not store a retained message synchronously");
    const [command, key, , value] = this.written;
    this.written = undefined;
    return { command, key: keyPrefix + key, topic, value: value && Buffer.from(value.buffer, value.byteOffset, value.byteLength) };
  }

  async load(): Promise<LoadedRetained> {
    const topics = await this.commands.hkeys(`${keyPrefix}retained`);
    const messages: Message[] = [];
    let broken = 0;
    for (let at = 0; at < topics.length; at += topicsAtOnce) {
      for (const message of await Promise.all(topics.slice(at, at + topicsAtOnce).map((topic) => this.read(topic)))) {
        if (message) messages.push(message);
        else broken++;
      }
    }
    return { messages, broken };
  }

  private async read(topic: string): Promise<Message | undefined> {
    if (!isTopicName(topic)) return undefined;
    try {
      for await (const packet of this.persistence.createRetainedStream(topic)) return toMessage(topic, packet);
    } catch (error) {
      // A lost connection must not be counted as a damaged message.
      if (this.commands.status !== "ready") throw error;
    }
    return undefined;
  }
}

function toMessage(topic: string, packet: unknown): Message | undefined {
  if (typeof packet !== "object" || packet === null) return undefined;
  const { payload, qos, forwarded, expiresAt, publisherId } = packet as Record<string, unknown>;
  if (!Buffer.isBuffer(payload) || payload.length === 0 || (qos !== 0 && qos !== 1 && qos !== 2)) return undefined;
  const properties = Buffer.isBuffer(forwarded) ? forwarded : undefined;
  if (properties) decodeForwarded(properties);
  return new Message({
    topic,
    payload,
    qos: qos as Qos,
    retain: true,
    forwarded: properties,
    expiresAt: typeof expiresAt === "number" && expiresAt >= 0 ? fromComputerTime(expiresAt) : 0,
    publisherId: typeof publisherId === "string" ? publisherId : "",
  });
}

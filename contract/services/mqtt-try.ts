/** The client of the MQTT page's Try tab: an ordinary one, which the service holds. */
import { z } from "zod";
import { operation } from "../operation.ts";
import { type MqttMessageProperties, publishParams, qos, text, topicFilter, topicName } from "../traffic/mqtt.ts";
import type { MqttSubscription } from "./mqtt-client.ts";

/** What the broker answered to the client of the Try tab. */
export interface MqttTryAnswer {
  readonly ok: boolean;
  /** "PUBACK", "DISCONNECT"; absent if there was no answer: QoS 0, or a lost connection. */
  readonly packet?: string;
  /** A reason code; in 3.1.1 a return code. */
  readonly reason?: number;
  /** What it means: "no matching subscribers". */
  readonly meaning: string;
  /** The broker's reason string. */
  readonly text?: string;
  readonly tookMs: number;
}

/** A message as the client of the Try tab received it. */
export interface MqttReceived {
  /** Counts up from 1. */
  readonly place: number;
  readonly at: number;
  readonly topic: string;
  readonly qos: number;
  readonly retain: boolean;
  readonly dup: boolean;
  readonly bytes: number;
  /** Base64; shorter than `bytes` where it was cut. */
  readonly payload: string;
  /** Long user properties are cut, and say so. */
  readonly properties: MqttMessageProperties;
  /** Further user properties, which are not kept. */
  readonly leftUserProperties?: number;
  readonly subscriptionIdentifiers?: readonly number[];
}

/** The client of the Try tab: an ordinary one, in the service, over TCP. */
export interface MqttTryState {
  readonly state: "away" | "connecting" | "connected";
  readonly clientId: string;
  readonly version: 4 | 5;
  readonly username?: string;
  /** How the last connection, or the attempt, ended. */
  readonly ended?: MqttTryAnswer;
  /** With the QoS that was granted. */
  readonly subscriptions: readonly MqttSubscription[];
  /** Since the last clearing. */
  readonly received: number;
}

const tryConnect = z.strictObject({
  version: z.union([z.literal(4), z.literal(5)]).default(5),
  clientId: text.default("dashboard"),
  username: text.optional(),
  password: text.optional(),
  cleanStart: z.boolean().default(true),
  /** Of 5.0; in 3.1.1 a session that is not clean is kept for ever. */
  sessionExpirySeconds: z.int().min(0).max(0xffff_ffff).default(0),
  will: z
    .strictObject({
      topic: topicName,
      payload: text.default(""),
      qos: qos.default(0),
      retain: z.boolean().default(false),
      /** Of 5.0. */
      delaySeconds: z.int().min(0).max(0xffff_ffff).default(0),
    })
    .optional(),
});
export type MqttTryConnect = z.output<typeof tryConnect>;

const trySubscribe = z.strictObject({
  filter: topicFilter,
  qos: qos.default(0),
  /** The rest is of 5.0. */
  noLocal: z.boolean().default(false),
  retainAsPublished: z.boolean().default(false),
  retainHandling: z.union([z.literal(0), z.literal(1), z.literal(2)]).default(0),
  /** 0 without. */
  identifier: z.int().min(0).max(268_435_455).default(0),
});
export type MqttTrySubscribe = z.output<typeof trySubscribe>;

export const mqttTryActions = {
  /** The client of the Try tab: one, which stays connected while any page of Backlot is open. */
  "try.connect": operation<MqttTryAnswer>()(tryConnect),
  /** `with will`: the broker publishes the will; `cut` closes the connection without a DISCONNECT. */
  "try.disconnect": operation<null>()(z.strictObject({ how: z.enum(["normal", "with will", "cut"]).default("normal") })),
  /** Resolves when the broker has acknowledged it. */
  "try.publish": operation<MqttTryAnswer>()(publishParams),
  "try.subscribe": operation<MqttTryAnswer>()(trySubscribe),
  "try.unsubscribe": operation<MqttTryAnswer>()(z.strictObject({ filter: topicFilter })),
  /** The newest ones, newest first, as many as are kept; `received` of them came in all. */
  "try.received": operation<{ readonly messages: readonly MqttReceived[]; readonly received: number }>()(
    z.strictObject({
      /** Only with a larger place. */
      after: z.int().min(0).default(0),
      limit: z.int().min(1).max(500).default(200),
    }),
  ),
  "try.clear": operation<null>()(z.strictObject({})),
};

/** MQTT control packets, decoded. */
import type { Properties } from "./properties.ts";

/** 3 is MQTT 3.1, 4 is 3.1.1, 5 is 5.0. */
export type ProtocolVersion = 3 | 4 | 5;
export type Qos = 0 | 1 | 2;

export interface Will {
  readonly topic: string;
  readonly payload: Buffer;
  readonly qos: Qos;
  readonly retain: boolean;
  readonly properties?: Properties | undefined;
}

export interface ConnectPacket {
  readonly type: "connect";
  readonly version: ProtocolVersion;
  /** Set by a mosquitto bridge. */
  readonly bridge?: boolean;
  /** Clean session in 3.1.1. */
  readonly cleanStart: boolean;
  readonly keepAliveSeconds: number;
  readonly properties?: Properties | undefined;
  readonly clientId: string;
  readonly will?: Will | undefined;
  readonly username?: string | undefined;
  readonly password?: Buffer | undefined;
}

export interface ConnackPacket {
  readonly type: "connack";
  readonly sessionPresent: boolean;
  /** A reason code in 5.0, a return code in older versions. */
  readonly reason: number;
  readonly properties?: Properties | undefined;
}

export interface PublishPacket {
  readonly type: "publish";
  readonly dup: boolean;
  readonly qos: Qos;
  readonly retain: boolean;
  readonly topic: string;
  /** 0 for QoS 0. */
  readonly packetId: number;
  readonly properties: Properties | undefined;
  /** A view of the bytes received. */
  readonly payload: Buffer;
}

export interface AckPacket {
  readonly type: "puback" | "pubrec" | "pubrel" | "pubcomp";
  readonly packetId: number;
  readonly reason: number;
  readonly properties?: Properties | undefined;
}

export interface SubscriptionRequest {
  readonly filter: string;
  readonly qos: Qos;
  readonly noLocal: boolean;
  readonly retainAsPublished: boolean;
  readonly retainHandling: 0 | 1 | 2;
}

interface IdentifiedPacket {
  readonly packetId: number;
  readonly properties?: Properties | undefined;
}

export interface SubscribePacket extends IdentifiedPacket {
  readonly type: "subscribe";
  readonly subscriptions: readonly SubscriptionRequest[];
}

export interface SubackPacket extends IdentifiedPacket {
  readonly type: "suback" | "unsuback";
  /** Empty in an UNSUBACK of versions before 5.0. */
  readonly reasons: readonly number[];
}

export interface UnsubscribePacket extends IdentifiedPacket {
  readonly type: "unsubscribe";
  readonly filters: readonly string[];
}

export interface PingPacket {
  readonly type: "pingreq" | "pingresp";
}

export interface DisconnectPacket {
  readonly type: "disconnect" | "auth";
  readonly reason: number;
  readonly properties?: Properties | undefined;
}

export type Packet =
  | ConnectPacket
  | ConnackPacket
  | PublishPacket
  | AckPacket
  | SubscribePacket
  | SubackPacket
  | UnsubscribePacket
  | PingPacket
  | DisconnectPacket;

/** MQTT §2.1.2: the high four bits of the first byte. */
export const packetTypes = [
  "reserved",
  "connect",
  "connack",
  "publish",
  "puback",
  "pubrec",
  "pubrel",
  "pubcomp",
  "subscribe",
  "suback",
  "unsubscribe",
  "unsuback",
  "pingreq",
  "pingresp",
  "disconnect",
  "auth",
] as const;

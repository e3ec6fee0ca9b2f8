import { connect as connectTcp, type Socket } from "node:net";
import mqtt, { type IClientOptions, type MqttClient } from "mqtt";
import { onTestFinished } from "vitest";
import WebSocket from "ws";
import type { MqttActions, MqttViews } from "../../contract/services/mqtt.ts";
import type { TrafficRow } from "../../contract/traffic/row.ts";
import { readLogs } from "../../servers/core/service/log.ts";
import type { RunningService } from "../../servers/core/service/run-service.ts";
import type { Counters } from "../../servers/core/service/service.ts";
import { encodePacket } from "../../servers/mqtt/codec/encode-packet.ts";
import type { ConnackPacket, ConnectPacket, Packet, PublishPacket, SubscriptionRequest } from "../../servers/mqtt/codec/packet.ts";
import { PacketDecoder } from "../../servers/mqtt/codec/packet-decoder.ts";
import type { Properties } from "../../servers/mqtt/codec/properties.ts";
import { mqttService } from "../../servers/mqtt/mqtt-service.ts";
import { rowsOfBatch } from "../support/records.ts";
import { type ServiceUnderTest, startService } from "../support/start-service.ts";
import { temporaryDir } from "../support/temporary-dir.ts";

interface MqttContract {
  readonly actions: MqttActions;
  readonly views: MqttViews;
}

export interface Broker extends Pick<ServiceUnderTest<MqttContract>, "views" | "act" | "stop" | "detail"> {
  readonly service: RunningService;
  readonly port: number;
  /** By label, as the service gives them. */
  readonly urls: Readonly<Record<string, string>>;
  readonly rows: TrafficRow[];
  readonly logs: string[];
  readonly counters: Counters[];
}

const quiet = { port: 0, webSocket: false, tls: false, sysIntervalSeconds: 0, webSocketPort: 0, tlsPort: 0, secureWebSocketPort: 0 };

/** A broker on free ports, without WebSocket, TLS and $SYS unless asked for; stopped after the test. */
export async function startBroker(config: Record<string, unknown> = {}, dataDir = temporaryDir()): Promise<Broker> {
  const rows: TrafficRow[] = [];
  const logs: string[] = [];
  const counters: Counters[] = [];
  const { running, endpoints, views, act, detail, stop } = await startService<MqttContract>(mqttService, {
    config: { ...quiet, ...config },
    dataDir,
    onCounters: (figures) => counters.push(figures),
    onBatch(batch) {
      rows.push(...rowsOfBatch(batch).map((row) => ({ service: "mqtt" as const, ...row })));
      logs.push(...readLogs(batch.logs).map(({ text }) => text));
    },
  });
  const urls = Object.fromEntries(endpoints.map(({ label, url }) => [label, url]));
  return {
    service: running,
    urls,
    rows,
    logs,
    views,
    counters,
    act,
    detail,
    stop,
    port: Number(new URL(urls.MQTT ?? "").port),
  };
}

/** MQTT.js, connected; ended after the test. */
export async function connectMqttJs(url: string, options: IClientOptions = {}): Promise<MqttClient> {
  const client = await mqtt.connectAsync(url, { reconnectPeriod: 0, ...options });
  onTestFinished(() => client.endAsync(true));
  client.on("error", () => {});
  return client;
}

export type Version = 4 | 5;
export const versions: readonly Version[] = [4, 5];
export const versionName = { 4: "3.1.1", 5: "5.0" } as const;

/** The members of the union that may have this type. */
type PacketOf<Type extends Packet["type"]> = Packet extends infer One
  ? One extends Packet
    ? Type extends One["type"]
      ? One
      : never
    : never
  : never;

/** A client that says exactly what the test wants said, and shows whole packets. */
export class WireClient {
  readonly received: Packet[] = [];
  readonly bytes: Buffer[] = [];
  closed = false;
  readonly version: Version;
  readonly socket: Socket | WebSocket;
  private readonly decoder = new PacketDecoder(1 << 28);
  private taken = 0;
  private wake: () => void = () => {};

  constructor(socket: Socket | WebSocket, version: Version) {
    this.socket = socket;
    this.version = version;
    this.decoder.version = version;
    const onData = (chunk: Buffer) => {
      this.bytes.push(chunk);
      this.decoder.append(chunk);
      for (let packet = this.decoder.next(); packet; packet = this.decoder.next()) {
        // The decoder's payload is a view of the chunk.
        this.received.push(packet.type === "publish" ? { ...packet, payload: Buffer.from(packet.payload) } : packet);
      }
      this.wake();
    };
    socket.on(socket instanceof WebSocket ? "message" : "data", onData);
    socket.on("error", () => {});
    socket.on("close", () => {
      this.closed = true;
      this.wake();
    });
    onTestFinished(() => this.destroy());
  }

  destroy(): void {
    if (this.socket instanceof WebSocket) this.socket.terminate();
    else this.socket.destroy();
  }

  write(bytes: Buffer): void {
    if (this.socket instanceof WebSocket) this.socket.send(bytes);
    else this.socket.write(bytes);
  }

  send(packet: Packet): this {
    this.write(encodePacket(packet, this.version));
    return this;
  }

  hex(text: string): this {
    this.write(Buffer.from(text.replaceAll(/\s/g, ""), "hex"));
    return this;
  }

  /** The next packet that came; undefined once the connection is closed and all are taken. */
  async next(): Promise<Packet | undefined> {
    while (this.taken >= this.received.length) {
      if (this.closed) return undefined;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    return this.received[this.taken++];
  }

  async expect<Type extends Packet["type"]>(type: Type): Promise<PacketOf<Type>> {
    const packet = await this.next();
    if (packet?.type !== type) throw new Error(`expected ${type}, got ${packet ? JSON.stringify(packet) : "the close"}`);
    return packet as PacketOf<Type>;
  }

  /** Nothing was sent before the answer to a ping. */
  async expectNothing(): Promise<void> {
    this.send({ type: "pingreq" });
    await this.expect("pingresp");
  }

  /** Resolves with the DISCONNECT before the close, if there was one. */
  async expectClose(): Promise<Packet | undefined> {
    let last: Packet | undefined;
    for (let packet = await this.next(); packet; packet = await this.next()) last = packet;
    return last;
  }

  subscribe(filter: string, options: Partial<SubscriptionRequest> = {}, properties?: Properties, packetId = 1) {
    const request = { filter, qos: 0 as const, noLocal: false, retainAsPublished: false, retainHandling: 0 as const, ...options };
    this.send({ type: "subscribe", packetId, subscriptions: [request], properties });
    return this.expect("suback");
  }

  publish(topic: string, payload: string, options: Partial<PublishPacket> = {}): this {
    return this.send({ ...publishPacket(topic, payload), ...options });
  }
}

export const publishPacket = (topic: string, payload: string): PublishPacket => ({
  type: "publish",
  topic,
  payload: Buffer.from(payload),
  qos: 0,
  retain: false,
  dup: false,
  packetId: 0,
  properties: undefined,
});

/** A socket that has said nothing yet. */
export async function openWire(broker: Pick<Broker, "port">, version: Version = 5): Promise<WireClient> {
  const socket = connectTcp(broker.port, "127.0.0.1");
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  return new WireClient(socket, version);
}

export async function openWireWebSocket(url: string, version: Version = 5): Promise<WireClient> {
  const socket = new WebSocket(url, "mqtt", { rejectUnauthorized: false });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  return new WireClient(socket, version);
}

export const connectPacket = (version: Version, clientId: string, more: Partial<ConnectPacket> = {}): ConnectPacket => ({
  type: "connect",
  version,
  cleanStart: true,
  keepAliveSeconds: 0,
  clientId,
  ...more,
});

let named = 0;

export interface Connected extends WireClient {
  readonly connack: ConnackPacket;
}

/** Connected, with the CONNACK taken. */
export async function connectWire(
  broker: Pick<Broker, "port">,
  version: Version = 5,
  more: Partial<ConnectPacket> = {},
): Promise<Connected> {
  const client = await openWire(broker, version);
  client.send(connectPacket(version, `client-${++named}`, more));
  return Object.assign(client, { connack: await client.expect("connack") });
}

/** What a receiver sees of a message. */
export const seen = ({ topic, payload, qos, retain, dup }: PublishPacket) => ({ topic, payload: payload.toString(), qos, retain, dup });

import type { MqttSubscription } from "../../../contract/services/mqtt-client.ts";
import type { MqttTryAnswer, MqttTryConnect, MqttTryState, MqttTrySubscribe } from "../../../contract/services/mqtt-try.ts";
import type { MqttParsedPublish } from "../../../contract/traffic/mqtt.ts";
import type { ConnackPacket, ConnectPacket, Packet, PublishPacket, Qos } from "../codec/packet.ts";
import { reasonName } from "../codec/reason-code.ts";
import { createReceivedMessages, type ReceivedMessages } from "./received-messages.ts";
import { openTryConnection, type TryConnection } from "./try-connection.ts";

/** Timeout for answers of the broker, which runs on the same computer. */
const answerWithinMs = 5_000;
const keepAliveSeconds = 60;

export interface TryClient {
  readonly state: MqttTryState;
  readonly received: ReceivedMessages;
  /** Replaces an earlier connection. */
  connect(options: MqttTryConnect): Promise<MqttTryAnswer>;
  disconnect(how: "normal" | "with will" | "cut"): void;
  publish(params: MqttParsedPublish): Promise<MqttTryAnswer>;
  subscribe(options: MqttTrySubscribe): Promise<MqttTryAnswer>;
  unsubscribe(filter: string): Promise<MqttTryAnswer>;
  /** Disconnects, and shows why. Whether it was connected. */
  leave(why: string): boolean;
  /** Resolves when its socket is closed. */
  close(): Promise<void>;
}

interface Open {
  readonly connection: TryConnection;
  readonly version: 4 | 5;
  /** By packet identifier; 0 is the CONNACK. */
  readonly awaited: Map<number, { readonly since: number; readonly settle: (answer: MqttTryAnswer) => void }>;
  readonly closed: Promise<void>;
  /** The broker holds the session when the connection is gone. */
  readonly keepsSession: boolean;
  lastPacketId: number;
  /** The broker's last packet before it closed. */
  lastPacket: Packet | undefined;
  pinging: NodeJS.Timeout | undefined;
}

const lost = (meaning: string, tookMs: number): MqttTryAnswer => ({ ok: false, meaning, tookMs });
const tookMs = (since: number): number => Math.round((performance.now() - since) * 100) / 100;

/**
 * An ordinary client of the broker, for the dashboard's Try tab: the broker treats it as any other client.
 * Not MQTT.js, which refuses invalid topics before the broker sees them and gives an error where the tab shows the packet.
 */
export function createTryClient({ port, onChange }: { port: () => number; onChange: () => void }): TryClient {
  const received = createReceivedMessages();
  let open: Open | undefined;
  let state: Omit<MqttTryState, "received"> = { state: "away", clientId: "dashboard", version: 5, subscriptions: [] };

  function change(next: Partial<typeof state>): void {
    state = { ...state, ...next };
    onChange();
  }

  function onClosed(mine: Open): void {
    clearInterval(mine.pinging);
    const { lastPacket, version, awaited } = mine;
    const ended = lastPacket ? tryAnswer(lastPacket, version, 0) : lost("the connection was closed", 0);
    for (const { since, settle } of awaited.values()) settle({ ...ended, tookMs: tookMs(since) });
    awaited.clear();
    if (open !== mine) return;
    open = undefined;
    change({ state: "away", ended, ...(!mine.keepsSession && { subscriptions: [] }) });
  }

  function onPacket(mine: Open, packet: Packet): void {
    switch (packet.type) {
      case "connack":
        onConnack(mine, packet);
        return;
      case "pubrec":
        if (packet.reason < 0x80) mine.connection.send({ type: "pubrel", packetId: packet.packetId, reason: 0 });
        else settle(mine, packet.packetId, packet);
        return;
      case "puback":
      case "pubcomp":
      case "suback":
      case "unsuback":
        settle(mine, packet.packetId, packet);
        return;
      case "disconnect":
        mine.lastPacket = packet;
        return;
      default:
    }
  }

  function onConnack(mine: Open, packet: ConnackPacket): void {
    if (packet.reason === 0) {
      const pingSeconds = (packet.properties?.serverKeepAlive ?? keepAliveSeconds) * 0.75;
      mine.pinging = setInterval(() => mine.connection.send({ type: "pingreq" }), pingSeconds * 1_000);
      const assigned = packet.properties?.assignedClientIdentifier;
      if (open === mine) {
        change({
          state: "connected",
          ended: undefined,
          ...(assigned !== undefined && { clientId: assigned }),
          ...(!packet.sessionPresent && { subscriptions: [] }),
        });
      }
    } else mine.lastPacket = packet;
    settle(mine, 0, packet);
  }

  function settle(mine: Open, packetId: number, packet: Packet): void {
    const waiting = mine.awaited.get(packetId);
    mine.awaited.delete(packetId);
    waiting?.settle(tryAnswer(packet, mine.version, tookMs(waiting.since)));
  }

  /** Sends a packet and waits for the broker's answer. */
  function ask(mine: Open, packetId: number, packet: Packet): Promise<MqttTryAnswer> {
    return new Promise((resolve) => {
      const since = performance.now();
      const timer = setTimeout(() => {
        mine.awaited.delete(packetId);
        resolve(lost("no answer within 5 s", tookMs(since)));
      }, answerWithinMs);
      const settled = (answer: MqttTryAnswer) => {
        clearTimeout(timer);
        resolve(answer);
      };
      mine.awaited.set(packetId, { since, settle: settled });
      mine.connection.send(packet);
    });
  }

  function nextPacketId(mine: Open): number {
    do mine.lastPacketId = (mine.lastPacketId % 0xffff) + 1;
    while (mine.awaited.has(mine.lastPacketId));
    return mine.lastPacketId;
  }

  function askConnected(packetOf: (packetId: number, version: 4 | 5) => Packet): Promise<MqttTryAnswer> {
    if (!open || state.state !== "connected") return Promise.resolve(lost("not connected", 0));
    const packetId = nextPacketId(open);
    return ask(open, packetId, packetOf(packetId, open.version));
  }

  function disconnect(how: "normal" | "with will" | "cut"): void {
    const mine = open;
    open = undefined;
    if (!mine) return;
    const { version, connection } = mine;
    // 0x04 exists only in 5.0; in 3.1.1 the will is published only if the connection is cut.
    if (how === "cut" || (how === "with will" && version === 4)) connection.cut();
    else {
      connection.send({ type: "disconnect", reason: how === "with will" ? 0x04 : 0 });
      connection.end();
    }
    change({ state: "away", ended: undefined, ...(!mine.keepsSession && { subscriptions: [] }) });
  }

  return {
    received,
    get state() {
      return { ...state, received: received.count };
    },
    connect(options) {
      disconnect("normal");
      const { version, clientId, username } = options;
      const closing = Promise.withResolvers<void>();
      const connection = openTryConnection({
        port: port(),
        version,
        onMessage: (packet) => received.add(packet),
        onPacket: (packet) => onPacket(mine, packet),
        onClose: () => {
          onClosed(mine);
          closing.resolve();
        },
      });
      const mine: Open = {
        connection,
        version,
        awaited: new Map(),
        closed: closing.promise,
        keepsSession: version === 5 ? options.sessionExpirySeconds > 0 : !options.cleanStart,
        lastPacketId: 0,
        lastPacket: undefined,
        pinging: undefined,
      };
      open = mine;
      const { username: _, ended: __, ...rest } = state;
      state = { ...rest, clientId, version, ...(username !== undefined && { username }) };
      change({ state: "connecting" });
      return ask(mine, 0, connectPacket(options));
    },
    disconnect,
    publish(params) {
      if (params.qos > 0) return askConnected((packetId, version) => publishPacket(params, packetId, version));
      if (!open || state.state !== "connected") return Promise.resolve(lost("not connected", 0));
      open.connection.send(publishPacket(params, 0, open.version));
      return Promise.resolve({ ok: true, meaning: "sent; QoS 0 is not acknowledged", tookMs: 0 });
    },
    async subscribe({ identifier, ...request }) {
      const answer = await askConnected((packetId, version) => ({
        type: "subscribe",
        packetId,
        properties: version === 5 && identifier > 0 ? { subscriptionIdentifiers: [identifier] } : undefined,
        subscriptions: [version === 5 ? request : { ...request, noLocal: false, retainAsPublished: false, retainHandling: 0 }],
      }));
      if (answer.ok && answer.reason !== undefined) {
        const granted: MqttSubscription = { ...request, qos: answer.reason as Qos, identifier };
        change({ subscriptions: [...state.subscriptions.filter(({ filter }) => filter !== request.filter), granted] });
      }
      return answer;
    },
    async unsubscribe(filter) {
      const answer = await askConnected((packetId) => ({ type: "unsubscribe", packetId, filters: [filter] }));
      if (answer.ok) change({ subscriptions: state.subscriptions.filter((subscription) => subscription.filter !== filter) });
      return answer;
    },
    leave(why) {
      if (!open) return false;
      disconnect("normal");
      change({ ended: lost(`disconnected: ${why}`, 0) });
      return true;
    },
    async close() {
      const mine = open;
      disconnect("normal");
      // The broker may be frozen by a client fault and not read it.
      mine?.connection.cut();
      await mine?.closed;
    },
  };
}

function connectPacket({ version, clientId, username, password, cleanStart, sessionExpirySeconds, will }: MqttTryConnect): ConnectPacket {
  const isV5 = version === 5;
  return {
    type: "connect",
    version,
    clientId,
    cleanStart,
    keepAliveSeconds,
    username,
    password: password === undefined ? undefined : Buffer.from(password),
    properties: isV5 && sessionExpirySeconds > 0 ? { sessionExpiryInterval: sessionExpirySeconds } : undefined,
    will: will && {
      topic: will.topic,
      payload: Buffer.from(will.payload),
      qos: will.qos,
      retain: will.retain,
      properties: isV5 && will.delaySeconds > 0 ? { willDelayInterval: will.delaySeconds } : undefined,
    },
  };
}

function publishPacket(params: MqttParsedPublish, packetId: number, version: 4 | 5): PublishPacket {
  const { topic, payload, encoding, qos, retain, correlationData, userProperties, ...properties } = params;
  return {
    type: "publish",
    dup: false,
    topic,
    qos,
    retain,
    packetId,
    payload: Buffer.from(payload, encoding === "base64" ? "base64" : "utf8"),
    properties:
      version === 4
        ? undefined
        : {
            ...properties,
            ...(correlationData !== undefined && { correlationData: Buffer.from(correlationData, "base64") }),
            ...(userProperties && { userProperties: [...userProperties] }),
          },
  };
}

/** MQTT 3.1.1 §3.2.2.3. */
const returnNames = [
  "accepted",
  "unacceptable protocol version",
  "identifier rejected",
  "server unavailable",
  "bad user name or password",
  "not authorized",
];

/** A packet of the broker as readable text. */
function tryAnswer(packet: Packet, version: 4 | 5, tookMs: number): MqttTryAnswer {
  const name = packet.type.toUpperCase();
  const reason = reasonOf(packet);
  const text = "properties" in packet ? packet.properties?.reasonString : undefined;
  const more = { tookMs, ...(text !== undefined && { text }) };
  if (reason === undefined) return { ok: true, packet: name, meaning: "acknowledged", ...more };
  const isReturnCode = packet.type === "connack" && version === 4;
  const ok = isReturnCode ? reason === 0 : reason < 0x80 && packet.type !== "disconnect";
  const meaning = isReturnCode ? (returnNames[reason] ?? "refused") : meaningOf(packet, reason, version);
  return { ok, packet: name, reason, meaning, ...more };
}

function reasonOf(packet: Packet): number | undefined {
  switch (packet.type) {
    case "suback":
    case "unsuback":
      return packet.reasons[0];
    case "connack":
    case "disconnect":
    case "auth":
    case "puback":
    case "pubrec":
    case "pubrel":
    case "pubcomp":
      return packet.reason;
    default:
      return undefined;
  }
}

function meaningOf(packet: Packet, reason: number, version: 4 | 5): string {
  if (packet.type === "suback" && reason < 3) return `QoS ${reason} granted`;
  if (packet.type === "suback" && version === 4) return "refused";
  if (packet.type === "disconnect" && reason === 0) return "disconnected by the broker";
  return reasonName(reason);
}

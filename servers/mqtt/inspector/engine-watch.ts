import type { Log } from "../../core/service/log.ts";
import { countOf, countText } from "../../core/service/quantity.ts";
import type { TrafficSink } from "../../core/service/service.ts";
import { reasonName } from "../codec/reason-code.ts";
import { type EngineObserver, type ObservedClient, orderlyEnds } from "../engine/engine-observer.ts";
import type { MessageRecorder } from "./message-recorder.ts";
import { type MqttEventFacts, mqttEvent } from "./mqtt-event.ts";
import { connectFields, disconnectFields, type PacketFields, subscribeFields, unsubscribeFields, versionNames } from "./packet-fields.ts";
import { TalliedWarnings } from "./tallied-warnings.ts";

/** Most rows, and most log lines, a second for connects and disconnects; further ones are only counted. */
const rowsPerSecond = 4_000;
const linesPerSecond = 500;
const orderly: ReadonlySet<string> = new Set(orderlyEnds.values());
/** Interval of the warning about a full topic tree. */
const treeFullEveryMs = 60_000;

export interface WatchOptions {
  readonly traffic: TrafficSink;
  readonly log: Log;
  readonly recorder: MessageRecorder;
  readonly recordCredentials: boolean;
}

interface ShownEvent extends Omit<MqttEventFacts, "id" | "text" | "fields"> {
  /** Asked only where there is a row: thousands of clients may connect in a second. */
  readonly fields?: () => PacketFields;
}

/** Turns the engine's events into rows, log lines and records. */
export function watchEngine({ traffic, log, recorder, recordCredentials }: WatchOptions): { observer: EngineObserver; close: () => void } {
  let rowsLeft = rowsPerSecond;
  let linesLeft = linesPerSecond;
  let unlogged = 0;
  const dropped = new TalliedWarnings(
    log,
    (clientId, why, _, count) => `${countOf(count, "message")} dropped for ${shortName(clientId)}: ${why}`,
    (kinds) => `Messages were dropped for ${kinds} more clients.`,
  );
  const refusedMessages = new TalliedWarnings(
    log,
    (clientId, why, topic, count) =>
      count === 1
        ? `A message of ${shortName(clientId)} on ${shortName(topic)} was refused: ${why}`
        : `${countText(count)} messages of ${shortName(clientId)} were refused, the last on ${shortName(topic)}: ${why}`,
    (kinds) => `Messages of ${kinds} more clients were refused.`,
  );
  const counted = { turnedAway: 0, connectTimedOut: 0, notRetained: 0, retainedGaveWay: 0, gaveWay: 0 };
  const countedLines: Readonly<Record<keyof typeof counted, string>> = {
    turnedAway: "connections were closed: the limit of open connections is reached.",
    connectTimedOut: "connections were closed: no CONNECT came in time.",
    gaveWay:
      "sessions of absent clients ended for those of other clients: the limit of sessions (MQTT_SESSIONS) or of their memory (MQTT_MEMORY_BYTES) is reached.",
    retainedGaveWay:
      "retained messages were removed to make room for those of clients that have fewer: the limit of retained messages is reached.",
    notRetained: "messages were routed and not retained: the limit of retained messages is reached.",
  };
  function logCounted() {
    for (const [what, line] of Object.entries(countedLines) as [keyof typeof counted, string][]) {
      if (counted[what] > 0) log.warning(`${countText(counted[what])} ${line}`);
      counted[what] = 0;
    }
  }
  const timer = setInterval(() => {
    if (unlogged > 0) log.warning(`${countText(unlogged)} more clients connected, disconnected or violated the protocol within a second.`);
    unlogged = 0;
    rowsLeft = rowsPerSecond;
    linesLeft = linesPerSecond;
    dropped.flush();
    refusedMessages.flush();
    logCounted();
    logTreeFull();
  }, 1_000);

  let treeFullLoggedAt = Number.NEGATIVE_INFINITY;
  let uncountedLogged = 0;
  function logTreeFull() {
    const { uncounted, size } = recorder.tree;
    // Reset by a clear.
    if (uncounted < uncountedLogged) uncountedLogged = 0;
    if (uncounted === uncountedLogged || performance.now() - treeFullLoggedAt < treeFullEveryMs) return;
    const messages = countText(uncounted - uncountedLogged);
    log.warning(`${messages} messages are missing in the topic tree: it is full with ${countText(size)} topics.`);
    treeFullLoggedAt = performance.now();
    uncountedLogged = uncounted;
  }

  /** False if no more rows may be made in this second. */
  function mayRecord(): boolean {
    if (rowsLeft === 0) {
      recorder.unrecordedEvents++;
      return false;
    }
    rowsLeft--;
    return true;
  }

  function show(level: "info" | "warning", line: string, { fields, ...event }: ShownEvent): void {
    if (linesLeft > 0) {
      linesLeft--;
      log[level](line);
    } else unlogged++;
    if (mayRecord()) traffic.touch(mqttEvent({ id: traffic.nextId(), text: line, ...event, ...(fields && { fields: fields() }) }));
  }

  /** Violations of the standard, kept until the disconnect is logged. */
  const broken = new WeakMap<ObservedClient, string>();

  const observer: EngineObserver = {
    published: (message, publisher, packet) => recorder.published(message, publisher, packet),
    routed: (message) => recorder.routed(message),
    connected({ clientId, origin }, packet) {
      const { version, cleanStart, keepAliveSeconds } = packet;
      const facts = `MQTT ${versionNames[version]}, ${origin.transport}, keep alive ${keepAliveSeconds} s${cleanStart ? ", clean start" : ""}`;
      show("info", `${shortName(clientId)} connected from ${origin.peer} (${facts})`, {
        verb: "CONNECT",
        target: origin.transport,
        tone: "ok",
        outcome: `MQTT ${versionNames[version]}`,
        clientId,
        peer: origin.peer,
        fields: () => connectFields(packet, recordCredentials),
      });
    },
    connectRefused(client, why) {
      const { clientId, origin, asked } = client;
      broken.delete(client);
      show("warning", `${shortName(clientId) || "A client"} from ${origin.peer} was refused: ${why}`, {
        verb: "CONNECT",
        target: origin.transport,
        tone: "refused",
        outcome: why,
        clientId,
        peer: origin.peer,
        ...(asked && { fields: () => connectFields(asked, recordCredentials) }),
      });
    },
    disconnected(client, why, wasConnected) {
      const { clientId, origin, goodbye } = client;
      const fault = broken.get(client);
      if (!wasConnected) {
        if (fault === undefined) return;
        show("warning", `${shortName(clientId) || origin.peer} violated the protocol: ${fault}`, {
          verb: "CONNECT",
          target: origin.transport,
          tone: "refused",
          outcome: fault,
          clientId,
          peer: origin.peer,
        });
        return;
      }
      const how = fault === undefined ? `left: ${why}` : `violated the protocol and was disconnected: ${fault}`;
      show(fault === undefined ? "info" : "warning", `${shortName(clientId)} ${how}`, {
        verb: "DISCONNECT",
        target: origin.transport,
        tone: orderly.has(why) ? "ok" : "aborted",
        outcome: why,
        clientId,
        peer: origin.peer,
        ...(goodbye && { fields: () => disconnectFields(goodbye) }),
      });
    },
    subscribed({ clientId, origin }, requests, reasons, properties) {
      const isRefused = reasons.some((reason) => reason >= 0x80);
      const target = shortList(requests.map(({ filter }) => filter));
      const outcome = shortList(
        reasons.slice(0, 100).map((reason) => (reason < 3 ? `QoS ${reason}` : reasonName(reason))),
        200,
      );
      show(isRefused ? "warning" : "info", `${shortName(clientId)} subscribed to ${target}${isRefused ? `: ${outcome}` : ""}`, {
        verb: "SUBSCRIBE",
        target,
        tone: isRefused ? "refused" : "ok",
        outcome,
        clientId,
        peer: origin.peer,
        fields: () => subscribeFields(requests, reasons, properties),
      });
    },
    unsubscribed({ clientId, origin }, filters, properties) {
      const target = shortList(filters);
      show("info", `${shortName(clientId)} unsubscribed from ${target}`, {
        verb: "UNSUBSCRIBE",
        target,
        tone: "ok",
        outcome: "",
        clientId,
        peer: origin.peer,
        fields: () => unsubscribeFields(filters, properties),
      });
    },
    dropped: (clientId, why) => dropped.count(clientId, why),
    publishRefused: ({ clientId }, topic, why) => refusedMessages.count(clientId, why, topic),
    notRetained: () => void counted.notRetained++,
    retainedGaveWay: () => void counted.retainedGaveWay++,
    gaveWay: () => void counted.gaveWay++,
    handshakeFailed(peer, why) {
      if (!mayRecord()) return;
      const text = `A TLS handshake from ${peer} failed: ${why}.`;
      traffic.touch(
        mqttEvent({ id: traffic.nextId(), verb: "CONNECT", target: "tls", tone: "refused", outcome: why, clientId: "", peer, text }),
      );
    },
    turnedAway: () => void counted.turnedAway++,
    connectTimedOut: () => void counted.connectTimedOut++,
    refused: (client, error) => void broken.set(client, `${error.message} (${reasonName(error.reason)})`),
  };
  return { observer, close: () => clearInterval(timer) };
}

const shownName = 200;
/** A client identifier and a topic may have 65,535 bytes. */
const shortName = (clientId: string) => (clientId.length > shownName ? `${clientId.slice(0, shownName)}…` : clientId);

/** One packet may name 300,000 filters. */
const shortList = (names: readonly string[], length = 1_000) => names.slice(0, length).join(", ").slice(0, length);

import type { Log } from "../../core/log.ts";
import type { TrafficSink } from "../../core/service.ts";
import { reasonName } from "../codec/reason-code.ts";
import type { EngineObserver } from "../engine/engine-options.ts";
import type { MessageRecorder } from "./message-recorder.ts";
import { type MqttEventFacts, mqttEvent } from "./mqtt-event.ts";

const versionNames: Readonly<Record<number, string>> = { 3: "3.1", 4: "3.1.1", 5: "5.0" };
/** Rows and lines of clients coming and going; a storm of connects is counted and not told one by one. */
const eventsPerSecond = 500;
/** A second's losses are told of so many clients, and counted for so many. */
const droppedLines = 5;
const droppedClients = 10_000;
/** A full topic tree stays full: it is told now and then. */
const treeFullEveryMs = 60_000;

export interface WatchOptions {
  readonly traffic: TrafficSink;
  readonly log: Log;
  readonly recorder: MessageRecorder;
}

/** Turns what the engine does into rows, log lines and records. */
export function watchEngine({ traffic, log, recorder }: WatchOptions): { observer: EngineObserver; close: () => void } {
  let budget = eventsPerSecond;
  let untold = 0;
  const timer = setInterval(() => {
    if (untold > 0) log.warning(`${untold.toLocaleString("en")} more clients came or went within a second.`);
    untold = 0;
    budget = eventsPerSecond;
    tellDropped();
    tellTreeFull();
  }, 1_000);

  /** Within the last second, by client and reason. */
  const dropped = new Map<string, number>();
  let notRetained = 0;
  function tellDropped() {
    const most = [...dropped].sort(([, one], [, other]) => other - one);
    for (const [what, count] of most.slice(0, droppedLines)) log.warning(`${count.toLocaleString("en")} messages dropped for ${what}`);
    if (most.length > droppedLines) log.warning(`Messages were dropped for ${most.length - droppedLines} more clients.`);
    dropped.clear();
    if (notRetained > 0)
      log.warning(`${notRetained.toLocaleString("en")} messages were routed and not retained: the limit of retained messages is reached.`);
    notRetained = 0;
  }

  let treeFullToldAt = Number.NEGATIVE_INFINITY;
  let uncountedTold = 0;
  function tellTreeFull() {
    const { uncounted, size } = recorder.tree;
    // After a clear it begins anew.
    if (uncounted < uncountedTold) uncountedTold = 0;
    if (uncounted === uncountedTold || performance.now() - treeFullToldAt < treeFullEveryMs) return;
    const messages = (uncounted - uncountedTold).toLocaleString("en");
    log.warning(`${messages} messages are missing in the topic tree: it is full with ${size.toLocaleString("en")} topics.`);
    treeFullToldAt = performance.now();
    uncountedTold = uncounted;
  }

  function tell(level: "info" | "warning", line: string, event: Omit<MqttEventFacts, "id" | "text">): void {
    if (budget === 0) {
      untold++;
      return;
    }
    budget--;
    log[level](line);
    traffic.touch(mqttEvent({ id: traffic.nextId(), text: line, ...event }));
  }

  const observer: EngineObserver = {
    published: (message, connection, packet) => recorder.published(message, connection, packet),
    routed: (message) => recorder.routed(message),
    connected({ clientId, origin }, { version, cleanStart, keepAliveSeconds }) {
      const facts = `MQTT ${versionNames[version]}, ${origin.transport}, keep alive ${keepAliveSeconds} s${cleanStart ? ", clean start" : ""}`;
      tell("info", `${clientId} connected from ${origin.peer} (${facts})`, {
        verb: "CONNECT",
        target: origin.transport,
        tone: "ok",
        outcome: `MQTT ${versionNames[version]}`,
        clientId,
        peer: origin.peer,
      });
    },
    connectRefused({ clientId, origin }, why) {
      tell("warning", `${clientId || "A client"} from ${origin.peer} was refused: ${why}`, {
        verb: "CONNECT",
        target: origin.transport,
        tone: "refused",
        outcome: why,
        clientId,
        peer: origin.peer,
      });
    },
    disconnected({ clientId, origin, session }, why) {
      if (!session) return;
      tell("info", `${clientId} left: ${why}`, {
        verb: "DISCONNECT",
        target: origin.transport,
        tone: why === "disconnected" ? "ok" : "aborted",
        outcome: why,
        clientId,
        peer: origin.peer,
      });
    },
    subscribed({ clientId, connection }, requests, reasons) {
      const refused = reasons.filter((reason) => reason >= 0x80);
      tell(
        refused.length > 0 ? "warning" : "info",
        `${clientId} subscribed to ${requests
          .map(({ filter }) => filter)
          .join(", ")
          .slice(0, 1_000)}`,
        {
          verb: "SUBSCRIBE",
          target: requests.map(({ filter }) => filter).join(", "),
          tone: refused.length > 0 ? "refused" : "ok",
          outcome: reasons
            .map((reason) => (reason < 3 ? `QoS ${reason}` : reasonName(reason)))
            .join(", ")
            .slice(0, 200),
          clientId,
          peer: connection?.origin.peer ?? "",
        },
      );
    },
    unsubscribed({ clientId, connection }, filters) {
      tell("info", `${clientId} unsubscribed from ${filters.join(", ").slice(0, 1_000)}`, {
        verb: "UNSUBSCRIBE",
        target: filters.join(", "),
        tone: "ok",
        outcome: "",
        clientId,
        peer: connection?.origin.peer ?? "",
      });
    },
    dropped(clientId, why) {
      const what = `${clientId}: ${why}`;
      const count = dropped.get(what);
      // As many absent clients as there may be must not fill the memory of a second.
      if (count !== undefined || dropped.size < droppedClients) dropped.set(what, (count ?? 0) + 1);
    },
    notRetained() {
      notRetained++;
    },
    refused({ clientId, origin }, error) {
      log.warning(`${clientId || origin.peer} broke the standard: ${error.message} (${reasonName(error.reason)})`);
    },
  };
  return { observer, close: () => clearInterval(timer) };
}

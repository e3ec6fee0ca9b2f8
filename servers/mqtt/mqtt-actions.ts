import type { Handlers } from "../../contract/operation.ts";
import { type MqttActions, type MqttCertificate, type MqttSampleParams, mqttDisconnectReasons } from "../../contract/services/mqtt.ts";
import { hashedLines } from "../core/credentials/users.ts";
import type { SampleSwitch } from "../core/traffic/sample-switch.ts";
import { messageOfParams } from "./demo/recorded-line.ts";
import type { Repeats } from "./demo/repeats.ts";
import type { Replay } from "./demo/replay.ts";
import type { ReplayFile } from "./demo/replay-file.ts";
import type { ReplyRules } from "./demo/reply-rules.ts";
import type { Engine } from "./engine/engine.ts";
import type { RetainedTree } from "./engine/retained/retained-tree.ts";
import { Message } from "./engine/routing/message.ts";
import type { RetainedStore } from "./engine/routing/message-bus.ts";
import type { ClientFaults } from "./inspector/client-faults.ts";
import { describeClient, findClients } from "./inspector/client-list.ts";
import { historyHandlers } from "./inspector/history-actions.ts";
import type { MessageRecorder } from "./inspector/message-recorder.ts";
import type { PageViews } from "./inspector/page-views.ts";
import type { TryClient } from "./try/try-client.ts";

export interface MqttParts {
  readonly engine: Engine;
  readonly retained: RetainedTree;
  readonly recorder: MessageRecorder;
  readonly clientFaults: ClientFaults;
  readonly sample: Pick<SampleSwitch<MqttSampleParams>, "actions">;
  readonly replies: ReplyRules;
  readonly repeats: Repeats;
  readonly replayFile: ReplayFile;
  readonly tryClient: TryClient;
  readonly replay: Replay;
  /** Publishes in the name of the dashboard. */
  readonly publish: (message: Message) => void;
  readonly certificate: () => MqttCertificate | undefined;
  readonly views: Pick<PageViews, "showSmall" | "showClients">;
}

export function mqttHandlers(parts: MqttParts): Handlers<MqttActions> {
  const { engine, retained, recorder, clientFaults, views, publish, certificate } = parts;
  const { sample, replies, repeats, replayFile, replay, tryClient } = parts;
  const isRetained = (topic: string) => retained.get(topic) !== undefined;
  const connectionOf = (clientId: string) => engine.clients.get(clientId);

  return {
    ...tryHandlers(tryClient, views.showSmall),
    async publish(params) {
      const message = messageOfParams(params);
      publish(message);
      await engine.broadcasts.delivered(message);
      return { matched: message.matched, ...(engine.cluster && { cluster: true as const }) };
    },

    "client.list": (query) => engine.scheduler.inTurns(findClients(engine, clientFaults, query)),
    "client.read"({ clientId }) {
      const session = engine.sessions.get(clientId);
      return session ? describeClient(engine, session, clientFaults) : null;
    },
    "client.disconnect"({ clientId, reason, text, abrupt }) {
      const connection = connectionOf(clientId);
      if (!connection) return { disconnected: false };
      if (abrupt) connection.cutOff("Cut off from the dashboard.");
      else connection.disconnect(mqttDisconnectReasons[reason], text);
      return { disconnected: true };
    },
    "client.freeze"({ clientId, forMs }) {
      const connection = connectionOf(clientId);
      if (connection) clientFaults.freeze(connection, forMs);
      views.showClients();
      return { frozen: connection !== undefined };
    },
    "client.delay"({ clientId, delayMs, forMs }) {
      const connection = connectionOf(clientId);
      if (connection) clientFaults.delay(connection, delayMs, forMs);
      views.showClients();
      return { delayed: connection !== undefined };
    },
    "client.release"({ clientId }) {
      const released = clientFaults.release(clientId);
      views.showClients();
      return { released };
    },
    "client.forget"({ clientId }) {
      const session = engine.sessions.get(clientId);
      if (!session) return { forgotten: false };
      session.will = undefined;
      connectionOf(clientId)?.disconnect(mqttDisconnectReasons["administrative action"], "The session was removed from the dashboard.");
      if (engine.sessions.has(clientId)) engine.endSession(session);
      return { forgotten: true };
    },

    ...historyHandlers(recorder, isRetained, (work) => engine.scheduler.inTurns(work)),
    "tls.certificate": () => certificate() ?? null,
    "retained.count": ({ filter }) => engine.scheduler.inTurns(countRetained(engine.bus.retained, filter)),
    "retained.clear": ({ filter }) => engine.scheduler.inTurns(clearRetained(engine.bus.retained, filter)),

    async "replay.begin"({ name, sizeBytes }) {
      await replay.stop();
      return replayFile.begin(name, sizeBytes);
    },
    "replay.text": ({ file, text }) => replayFile.add(file, text).finally(views.showSmall),
    "replay.end": ({ file }) => replayFile.end(file).finally(views.showSmall),
    async "replay.discard"() {
      await replay.stop();
      await replayFile.discard();
      views.showSmall();
      return null;
    },
    "replay.start"({ speed }) {
      replay.start(speed);
      views.showSmall();
      return { messages: replayFile.state?.messages ?? 0 };
    },
    async "replay.stop"() {
      await replay.stop();
      views.showSmall();
      return null;
    },
    "repeat.start"({ message, everyMs, sent }) {
      const started = repeats.start(message, everyMs, sent);
      views.showSmall();
      return started;
    },
    "repeat.stop"({ id }) {
      const stopped = repeats.stop(id);
      views.showSmall();
      return { stopped };
    },
    ...sample.actions,
    "reply.save": (rule) => replies.save(rule).finally(views.showSmall),
    async "reply.remove"({ id }) {
      return { removed: await replies.remove(id).finally(views.showSmall) };
    },
    async "user.hash"({ name, password }) {
      return { lines: await hashedLines([`${name}:${password}`]) };
    },
  };
}

function* countRetained(retained: RetainedStore, filter: string): Generator<unknown, { readonly count: number }> {
  let count = 0;
  for (const message of retained.search(filter, retained.order)) {
    if (message) count++;
    yield;
  }
  return { count };
}

function* clearRetained(retained: RetainedStore, filter: string): Generator<unknown, { readonly cleared: number }> {
  let cleared = 0;
  for (const message of retained.search(filter, retained.order)) {
    if (message) {
      retained.store(new Message({ topic: message.topic, payload: Buffer.alloc(0), qos: 0, retain: true }));
      cleared++;
    }
    yield;
  }
  return { cleared };
}

type TryActions = { [Name in keyof MqttActions as Name extends `try.${string}` ? Name : never]: MqttActions[Name] };

const tryHandlers = (tryClient: TryClient, onChange: () => void): Handlers<TryActions> => ({
  "try.connect": (options) => tryClient.connect(options),
  "try.disconnect"({ how }) {
    tryClient.disconnect(how);
    return null;
  },
  "try.publish": (params) => tryClient.publish(params),
  "try.subscribe": (options) => tryClient.subscribe(options),
  "try.unsubscribe": ({ filter }) => tryClient.unsubscribe(filter),
  "try.received": (query) => ({ messages: tryClient.received.newest(query), received: tryClient.received.count }),
  "try.clear"() {
    tryClient.received.clear();
    onChange();
    return null;
  },
});

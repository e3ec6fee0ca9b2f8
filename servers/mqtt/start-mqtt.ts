import { readFile } from "node:fs/promises";
import path from "node:path";
import type { TlsOptions } from "node:tls";
import type { MqttActions, MqttFigures, MqttViews } from "../../contract/mqtt.ts";
import type { Endpoint } from "../../contract/service.ts";
import type { ServiceContext } from "../core/service.ts";
import { ServiceError } from "../core/service-error.ts";
import { readTlsMaterial, selfMadeTlsMaterial } from "../core/tls-material.ts";
import { createAccessControl } from "./access/access-control.ts";
import { parseTopicRule } from "./access/topic-rules.ts";
import { loadUsers } from "./access/users.ts";
import { answerCommand } from "./demo/command-device.ts";
import { createReplay } from "./demo/replay.ts";
import { createReplyRules } from "./demo/reply-rules.ts";
import { createSensorDemo } from "./demo/sensor-demo.ts";
import { createAedesBus } from "./engine/aedes-bus.ts";
import { Engine } from "./engine/engine.ts";
import type { EngineLimits } from "./engine/engine-limits.ts";
import type { Message } from "./engine/message.ts";
import { RetainedTree } from "./engine/retained-tree.ts";
import type { SessionStore } from "./engine/session-store.ts";
import { listClients } from "./inspector/client-list.ts";
import { watchEngine } from "./inspector/engine-watch.ts";
import { createHindrances } from "./inspector/hindrances.ts";
import { MessageRecorder } from "./inspector/message-recorder.ts";
import { startListeners } from "./listeners/mqtt-listeners.ts";
import { mqttHandlers } from "./mqtt-actions.ts";
import type { MqttConfig } from "./mqtt-config.ts";
import { listenerPorts, mqttEndpoints } from "./mqtt-endpoints.ts";
import { startSysTopics } from "./sys-topics.ts";

const viewIntervalMs = 500;
const viewedClients = 200;
const viewedTopics = 500;

export async function startMqtt(context: ServiceContext<MqttConfig, MqttActions>): Promise<readonly Endpoint[]> {
  const { config, log, onStop } = context;
  const access = createAccessControl({
    anonymous: config.anonymous,
    users: await loadUsers([...config.users, ...(await readLines(config.passwordFile, "passwordFile"))]),
    rules: config.topicRules.flatMap((text) => parseTopicRule(text) ?? []),
  });

  const recorder = new MessageRecorder(context.traffic, config);
  onStop(() => recorder.close());
  const watch = watchEngine({ traffic: context.traffic, log, recorder });
  onStop(watch.close);
  const retained = new RetainedTree();
  const store = config.persistence ? await openStore(context.dataDir()) : undefined;
  onStop(() => store?.close());
  const state = store?.load();
  for (const message of state?.retained ?? []) retained.set(message);
  const bus = await createAedesBus({ retained, store });
  onStop(() => bus.close());

  const limits = limitsOf(config);
  const engine = new Engine({ limits, access, bus, store, restored: state?.sessions ?? [], log, observer: watch.observer });
  const publish = (message: Message) => void engine.publishOwn(message);
  const replies = createReplyRules(publish);
  onStop(replies.close);
  const replay = createReplay(publish);
  onStop(replay.stop);
  const demo = createSensorDemo(publish);
  onStop(demo.stop);
  const hindrances = createHindrances();
  bus.onMessage((message) => {
    replies.onMessage(message);
    const answer = config.demoDevice && message.publisherId !== "" ? answerCommand(message) : undefined;
    if (answer) publish(answer);
  });

  const view = <Name extends keyof MqttViews>(name: Name, value: MqttViews[Name]) => context.view(name, value);
  const showViews = () => {
    view("demo", { running: demo.running, messagesPerSecond: demo.messagesPerSecond });
    view("replies", { rules: replies.list() });
  };
  context.handle(mqttHandlers({ engine, retained, recorder, hindrances, demo, replies, replay, showViews }));

  const ports = await startListeners({
    engine,
    openToLan: config.openToLan,
    onStop,
    tls: () => tlsOptions(context),
    ports: listenerPorts(config),
  });
  // Runs before the listeners close: they wait for the connections to end.
  onStop(() => {
    hindrances.close();
    engine.stop();
  });

  if (config.sysIntervalSeconds > 0) onStop(startSysTopics(engine, { intervalSeconds: config.sysIntervalSeconds, version: "Backlot" }));
  if (config.demo) demo.start(config.demoMessagesPerSecond);
  showViews();
  let shownAt = "";
  const timer = setInterval(() => {
    const figures = figuresOf(engine, recorder);
    // Nothing moved since: nothing to show.
    const now = JSON.stringify(figures);
    if (now === shownAt) return;
    shownAt = now;
    view("figures", figures);
    view("clients", listClients(engine, hindrances, { text: "", offset: 0, limit: viewedClients }));
    view(
      "tree",
      recorder.tree.children(undefined, { offset: 0, limit: viewedTopics }, (topic) => retained.get(topic) !== undefined),
    );
    view("replay", replay.state);
  }, viewIntervalMs);
  onStop(() => clearInterval(timer));
  context.counters(() => {
    const { figures, connectedClients, scheduler } = engine;
    const dropped = figures.droppedInAll;
    const notes = [
      `${figures.messagesOut.toLocaleString("en")} sent`,
      `${retained.count.toLocaleString("en")} retained`,
      ...(dropped > 0 ? [`${dropped.toLocaleString("en")} dropped`] : []),
    ];
    return {
      items: figures.messagesIn,
      unit: "msg/s",
      bytesIn: figures.bytesIn,
      bytesOut: scheduler.bytesOut,
      clients: connectedClients,
      note: notes.join(" · "),
    };
  });
  return mqttEndpoints(ports, config.openToLan);
}

/** SQLite is loaded only where it is asked for. */
async function openStore(folder: string): Promise<SessionStore> {
  const { openSqliteSessionStore } = await import("./persistence/sqlite-session-store.ts");
  return openSqliteSessionStore(path.join(folder, "sessions.sqlite"));
}

function limitsOf(config: MqttConfig): EngineLimits {
  const { packetBytes, ...limits } = config;
  return { ...limits, maximumPacketSize: packetBytes };
}

function figuresOf(engine: Engine, recorder: MessageRecorder): MqttFigures {
  const { figures, bus, scheduler } = engine;
  let subscriptions = 0;
  let queued = 0;
  for (const session of engine.sessions.values()) {
    subscriptions += session.subscriptions.size;
    queued += session.queue.length;
  }
  return {
    clients: engine.connectedClients,
    sessions: engine.sessions.size,
    subscriptions,
    topics: recorder.tree.size,
    retained: bus.retained.count,
    retainedBytes: bus.retained.bytes,
    messagesIn: figures.messagesIn,
    messagesOut: figures.messagesOut,
    bytesIn: figures.bytesIn,
    bytesOut: scheduler.bytesOut,
    queued,
    dropped: { ...figures.dropped },
    unrecorded: recorder.unrecorded,
  };
}

async function tlsOptions({ config, dataDir }: ServiceContext<MqttConfig, MqttActions>): Promise<TlsOptions> {
  const own = config.certificateFile !== "" || config.keyFile !== "";
  const material = own
    ? await readTlsMaterial(config.certificateFile, config.keyFile)
    : await selfMadeTlsMaterial(path.join(dataDir(), "tls"));
  const ca = (await readLines(config.clientCaFile, "clientCaFile")).join("\n");
  return {
    ...material,
    ...(ca !== "" && { ca, requestCert: true, rejectUnauthorized: config.requireClientCertificate }),
  };
}

/** Of a file of the user's; none where there is no file. Throws CONFIG_INVALID. */
async function readLines(file: string, field: string): Promise<string[]> {
  if (file === "") return [];
  try {
    return (await readFile(file, "utf8")).split(/\r?\n/);
  } catch (cause) {
    throw new ServiceError("CONFIG_INVALID", `${file} cannot be read`, "Correct the path, or leave it empty.", {
      cause,
      field: { name: field, problem: "cannot be read" },
    });
  }
}

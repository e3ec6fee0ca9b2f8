import type { Endpoint } from "../../contract/service.ts";
import type { MqttActions, MqttCertificate, MqttViews } from "../../contract/services/mqtt.ts";
import type { MqttOwnPublisher } from "../../contract/traffic/mqtt.ts";
import { configuredFile, readConfiguredFile } from "../core/config/configured-file.ts";
import { createFailureLimits } from "../core/credentials/failure-limits.ts";
import { loadUsers } from "../core/credentials/users.ts";
import type { Log } from "../core/service/log.ts";
import { longStep } from "../core/service/long-step.ts";
import { countOf } from "../core/service/quantity.ts";
import type { ServiceContext } from "../core/service/service.ts";
import { ServiceError } from "../core/service/service-error.ts";
import { createAccessControl } from "./access/access-control.ts";
import { parseTopicRule } from "./access/topic-rules.ts";
import { brokerTls } from "./broker-tls.ts";
import { isSystemTopic } from "./codec/topic.ts";
import { answerCommand } from "./demo/command-device.ts";
import { messageOfParams } from "./demo/recorded-line.ts";
import { createRepeats } from "./demo/repeats.ts";
import { createReplay } from "./demo/replay.ts";
import { createReplayFile } from "./demo/replay-file.ts";
import { createReplyRulesFile, openReplyRules } from "./demo/reply-rules.ts";
import { Engine } from "./engine/engine.ts";
import { limitsOfConfig, openFileLimit } from "./engine/engine-limits.ts";
import { faultText } from "./engine/engine-observer.ts";
import { RetainedTree } from "./engine/retained/retained-tree.ts";
import { createAedesBus } from "./engine/routing/aedes-bus.ts";
import type { Message } from "./engine/routing/message.ts";
import { countAnswer } from "./engine/routing/route-message.ts";
import { createClientFaults } from "./inspector/client-faults.ts";
import { watchEngine } from "./inspector/engine-watch.ts";
import { MessageRecorder, recorderLimits } from "./inspector/message-recorder.ts";
import { startPageViews } from "./inspector/page-views.ts";
import { startListeners } from "./listeners/mqtt-listeners.ts";
import { mqttHandlers } from "./mqtt-actions.ts";
import { type MqttConfig, mqttConfig } from "./mqtt-config.ts";
import { type ListenerPorts, listenerPorts, mqttEndpoints } from "./mqtt-endpoints.ts";
import { openStorage } from "./open-storage.ts";
import { createMqttSampleTraffic } from "./sample-traffic.ts";
import { startSysTopics } from "./sys-topics.ts";
import { createTryClient } from "./try/try-client.ts";

export async function startMqtt(context: ServiceContext<MqttConfig, MqttActions, MqttViews>): Promise<readonly Endpoint[]> {
  const { config, log, onStop } = context;
  const lines = config.users.concat(await passwordLines(config));
  const users = await longStep(context, "hashing passwords", loadUsers(lines));
  if (!config.anonymous && users.count === 0 && config.clientCaFile === "")
    log.warning("Every client is refused: anonymous access is off, and there is no user. Add one, or name a password file.");
  const access = createAccessControl({
    anonymous: config.anonymous,
    users,
    rules: config.topicRules.flatMap((text) => parseTopicRule(text) ?? []),
    failures: createFailureLimits({ failures: config.loginFailures, windowMs: config.loginWindowSeconds * 1_000 }),
  });

  const retained = new RetainedTree();
  const recorder = new MessageRecorder(context.traffic, { ...recorderLimits(config), retained, sessionsAreRestored: true });
  onStop(() => recorder.close());
  const watch = watchEngine({ traffic: context.traffic, log, recorder, recordCredentials: config.recordCredentials });
  onStop(watch.close);
  const limits = limitsOfConfig(config, openFileLimit(), log);
  const { store, sessions, cluster } = await openStorage(context, { retained, limits, traceOf: recorder.traceOfEarlier });
  const bus = await createAedesBus({ retained, store });
  onStop(() => bus.close());

  const engine = new Engine({ limits, access, bus, store, cluster, log, observer: watch.observer });
  onStop(() => engine.stop());
  await engine.restore(sessions);
  cluster?.attach(engine);
  const checkStore = () => {
    if (engine.storeFailing) throw new ServiceError("STORE_UNREACHABLE", "Published messages cannot be stored", "The log says why.");
  };
  const publishAs = (source: MqttOwnPublisher) => (message: Message) => {
    checkStore();
    message.internalSource = source;
    engine.publishInternal(message);
  };
  /** For messages published by timers: failures are logged. */
  const sendAs = (source: MqttOwnPublisher) => (message: Message) => {
    if (engine.storeFailing) return;
    try {
      publishAs(source)(message);
    } catch (error) {
      log.error(`A message of the ${source} could not be published: ${faultText(error)}`);
    }
  };
  const answerAs = (source: MqttOwnPublisher) => (answer: Message, message: Message) => {
    sendAs(source)(answer);
    countAnswer(message, answer);
  };
  const replies = await openReplyRules({
    file: createReplyRulesFile(context.dataDir(), log),
    publish: answerAs("reply rule"),
    scheduler: engine.scheduler,
    broadcasts: engine.broadcasts,
    mostBytes: limits.allReplyBytes,
    mostPayloadBytes: limits.maximumPacketSize,
    log,
  });
  onStop(replies.close);
  const replayFile = createReplayFile({ folder: context.dataDir, longestLine: Math.max(8 << 20, 2 * config.packetBytes) });
  onStop(replayFile.discard);
  const replay = createReplay(replayFile, sendAs("replay"));
  onStop(replay.stop);
  const repeats = createRepeats({
    messageOf: messageOfParams,
    publish: sendAs("dashboard"),
    show: (list) => context.view("repeated", { list }),
  });
  onStop(repeats.close);
  const sample = createMqttSampleTraffic({
    publish: sendAs("sample traffic"),
    check: checkStore,
    show: (view) => context.view("sample", view),
  });
  onStop(sample.stop);
  const clientFaults = createClientFaults();
  bus.onMessage((message) => {
    // The broker at which it was published answers it.
    if (message.fromElsewhere) return;
    replies.onMessage(message);
    const answer = config.demoDevice ? answerCommand(message) : undefined;
    if (answer) answerAs("device")(answer, message);
  });

  let listening: ListenerPorts | undefined;
  let certificate: MqttCertificate | undefined;
  const tryClient = createTryClient({ port: () => listening?.mqtt ?? 0, onChange: () => views.showSmall() });
  const views = startPageViews({
    engine,
    recorder,
    clientFaults,
    small: {
      history: () => ({ kept: recorder.kept }),
      replies: () => ({ rules: replies.list() }),
      repeats: () => ({ list: repeats.list() }),
      replay: () => replay.state,
      try: () => tryClient.state,
    },
    isWatched: context.isWatched,
    view: context.view,
  });
  onStop(views.close);
  context.handle(
    mqttHandlers({
      engine,
      retained,
      recorder,
      clientFaults,
      sample,
      replies,
      repeats,
      replayFile,
      tryClient,
      replay,
      views,
      publish: publishAs("dashboard"),
      certificate: () => certificate,
    }),
  );

  await cluster?.join();
  const ports = await startListeners({
    engine,
    openToLan: config.openToLan,
    allowedOrigins: config.allowedOrigins,
    onStop,
    tls: async () => {
      const tls = await brokerTls(config, context.certificates);
      certificate = tls.certificate;
      return tls.source;
    },
    ports: listenerPorts(config),
    tlsHandshakes: config.tlsHandshakes,
  });
  listening = ports;
  // Runs before the listeners close: they wait for the connections to end.
  onStop(() => {
    clientFaults.close();
    return engine.stop();
  });
  onStop(tryClient.close);
  context.onPagesLeft((why) => {
    if (tryClient.leave(why)) log.info(`The client of Try was disconnected: ${why}`);
  });
  if (!store) onStop(() => noteWhatEnds(engine, retained, log));
  // First of all, so that the clients of this run remain as the last known state.
  onStop(views.close);

  if (config.sysIntervalSeconds > 0) onStop(startSysTopics(engine, { intervalSeconds: config.sysIntervalSeconds, version: "Backlot" }));
  // In the background: a long history must not delay the start.
  recorder
    .restoreFrom(context.kept, (work) => engine.scheduler.inTurns(work))
    .catch((error: unknown) => log.error(`The history of the earlier run could not be read: ${faultText(error)}`));
  context.counters(() => {
    const { counters, clients, scheduler } = engine;
    const dropped = counters.droppedInAll;
    return {
      items: counters.messagesRouted,
      bytesIn: counters.bytesIn,
      bytesOut: scheduler.bytesOut,
      clients: clients.size,
      figures: [
        { label: "sent", value: counters.messagesOut, unit: "msg/s", perSecond: true },
        { label: "retained", value: retained.count - retained.systemCount, unit: "" },
        ...(dropped > 0 ? [{ label: "dropped", value: dropped, unit: "" }] : []),
      ],
      note: cluster?.summary ?? "",
    };
  });
  return mqttEndpoints(ports, config.openToLan);
}

/** Nothing outlives the process: who expects that it does, as with other brokers, is to know. */
function noteWhatEnds({ sessions }: Pick<Engine, "sessions">, retained: RetainedTree, log: Log): void {
  let messages = 0;
  let ofSample = 0;
  for (const { topic, internalSource } of retained.values()) {
    if (isSystemTopic(topic)) continue;
    if (internalSource === "sample traffic") ofSample++;
    else messages++;
  }
  const kept = [...sessions.values()].filter(({ expirySeconds }) => expirySeconds > 0);
  const queued = kept.reduce((sum, { queue }) => sum + queue.length, 0);
  const parts = [
    ...(messages > 0
      ? [`${countOf(messages, "retained message")}${ofSample > 0 ? ` (besides ${ofSample} of the sample traffic)` : ""}`]
      : []),
    ...(kept.length > 0 ? [`${countOf(kept.length, "session")} with ${countOf(queued, "queued message")}`] : []),
  ];
  if (parts.length > 0)
    log.notable(`The stop ends ${parts.join(" and ")}: with Keep on disk (MQTT_PERSISTENCE) they would be there after the next start.`);
}

/** Empty if no file is configured. Throws CONFIG_INVALID. */
async function passwordLines(config: MqttConfig): Promise<string[]> {
  const file = configuredFile(mqttConfig.shape, config, "passwordFile");
  return file.path === "" ? [] : (await readConfiguredFile(file)).split(/\r?\n/);
}

import path from "node:path";
import { type ChannelCredentials, credentials } from "@grpc/grpc-js";
import type { Endpoint } from "../../contract/service.ts";
import type { GrpcActions, GrpcResend, GrpcViews } from "../../contract/services/grpc.ts";
import { readAuthorities } from "../core/certificates/configured-certificate.ts";
import { configuredFile } from "../core/config/configured-file.ts";
import { budgetOf } from "../core/http/connections/body-budget.ts";
import { createOriginCheck } from "../core/net/allowed-origins.ts";
import type { TlsSource } from "../core/net/tls-listener.ts";
import type { ServiceContext } from "../core/service/service.ts";
import { WorkTurns } from "../core/turns/work-turns.ts";
import { resendCall } from "./clients/resend-call.ts";
import { createGrpcTryClient } from "./clients/try-client.ts";
import { CallBudgets } from "./engine/call-budgets.ts";
import type { GrpcConnections } from "./engine/connections.ts";
import { createDetailReader } from "./engine/error-details.ts";
import { listenGrpc } from "./engine/grpc-server.ts";
import { JsonThread } from "./engine/json-thread.ts";
import { bytesOfValue } from "./engine/message-values.ts";
import { OpenCalls } from "./engine/open-calls.ts";
import { createGrpcActions } from "./grpc-actions.ts";
import { type GrpcConfig, grpcConfig } from "./grpc-config.ts";
import { grpcEndpoints } from "./grpc-endpoints.ts";
import { createCallMetrics, createCallsView } from "./observe/call-metrics.ts";
import { createCallRecorder } from "./observe/call-recorder.ts";
import { listenMetrics } from "./observe/metrics-server.ts";
import { loadOwnProtos } from "./protos/own-protos.ts";
import { openReplies, type RepliesOptions } from "./replies/replies.ts";
import { createGrpcSampleTraffic } from "./sample-traffic.ts";
import { chat } from "./services/chat.ts";
import { echo } from "./services/echo.ts";
import { greeter } from "./services/greeter.ts";
import { Health, healthService } from "./services/health.ts";
import { reflection } from "./services/reflection.ts";
import { ServedProtos } from "./services/served-protos.ts";
import { stream } from "./services/stream.ts";
import { refuseUnusable, serveUserProtos } from "./user-protos/serve-user-protos.ts";
import { createConnectErrors } from "./web/connect-error.ts";
import { listenWeb } from "./web/web-server.ts";

export async function startGrpc(context: ServiceContext<GrpcConfig, GrpcActions, GrpcViews>): Promise<readonly Endpoint[]> {
  const { config, log, traffic, onStop } = context;
  const own = await loadOwnProtos();
  const turns = new WorkTurns();
  onStop(() => turns.close());
  const health = new Health(() => showHealth());
  const showHealth = () => context.view("health", { states: health.states() });
  const handlers = {
    ...greeter({ serverId: config.serverId, mostItems: config.streamItems }),
    ...echo(),
    ...chat(own),
    ...stream({ mostPayloadBytes: config.messageBytes }),
    ...healthService(health, own),
    ...reflection(own, () => served.pool),
  };
  const replies = await openReplies({
    ...repliesFile(context),
    limits: {
      bytes: config.replyFileBytes,
      rules: config.replyRules,
      steps: config.replySteps,
      heldBytes: config.replyHeldBytes,
      messageValues: mostValuesOf(config),
      metadataBytes: config.metadataBytes,
    },
    served: () => served.current,
    turns,
    log,
    onStop,
    show: context.view,
  });
  /** Pages, watchers of health and reply rules are told when all protocol files of the start are served: until then some are missing. */
  let isComplete = false;
  const announce = async () => {
    if (!isComplete) return;
    const { view, revision } = served.current;
    health.serve(view.map(({ name }) => name));
    context.view("services", { services: view, revision });
    await replies.serve();
  };
  const served = new ServedProtos(own, { handlers, replies: [replies.methodReplies] }, () => void announce());
  const protos = await serveUserProtos(context, own, served, turns);
  refuseUnusable(protos);
  isComplete = true;
  await announce();
  showHealth();

  const metrics = createCallMetrics();
  const recorder = createCallRecorder({
    traffic,
    log,
    metrics,
    messageLimit: config.recordedMessageBytes,
    messageBudget: budgetOf(config.recordedMessageRate),
  });
  const metricsPort = await listenMetrics(metrics, {
    port: config.metricsPort,
    openToLan: config.openToLan,
    allowsOrigin: createOriginCheck(config.allowedOrigins),
    turns,
    onStop,
  });
  const jsonThread = new JsonThread(config);
  onStop(() => jsonThread.close());
  const openCalls = new OpenCalls();
  const common = {
    openToLan: config.openToLan,
    methods: served,
    recorder,
    openCalls,
    log,
    onStop,
    largestMessage: config.messageBytes,
    budgets: new CallBudgets(config),
    concurrentStreams: config.concurrentStreams,
    connectionsPerAddress: config.connectionsPerAddress,
    metadataBytes: config.metadataBytes,
    handshakeMs: config.handshakeMs,
    requestMs: config.requestMs,
    keepaliveMs: config.keepaliveMs,
    keepaliveTimeoutMs: config.keepaliveTimeoutMs,
    unreadMs: config.unreadMs,
    graceMs: config.graceMs,
    jsonThread,
    coding: config.compression,
    turns,
    limits: {
      highWaterBytes: 64 << 10,
      unreadBytes: config.unreadBytes,
      messageValues: mostValuesOf(config),
    },
    behaviour: { longestDelayMs: config.delaySeconds * 1_000, readDetails: createDetailReader(() => served.pool) },
    tls: config.tls
      ? {
          certificates: await tlsSource(context),
          tlsHandshakes: config.tlsHandshakes,
          requireClientCertificate: config.clientCertificates === "required",
        }
      : undefined,
  };
  let { webPort } = config;
  const server = await listenGrpc({ ...common, port: config.port, webPort: () => webPort });
  const web = await listenWeb({
    ...common,
    port: config.webPort,
    corsOrigins: config.corsOrigins,
    errors: createConnectErrors(() => served.pool),
    grpcPort: () => server.port,
  });
  webPort = web.port;
  onStop(async () => void (await Promise.all([server.drain(), web.drain()])));
  // Clients that watch are told before their calls end.
  onStop(() => health.stop());
  const showCalls = createCallsView(metrics, (view) => context.view("calls", view));
  context.counters(() => {
    showCalls();
    replies.showCounts();
    return recorder.counters(bothConnections(server.connections, web.connections));
  });

  const ownClient = { port: server.port, channel: () => channelCredentials(context) };
  const sample = createGrpcSampleTraffic({ ...ownClient, show: (view) => context.view("sample", view) });
  onStop(sample.stop);
  const tries = createGrpcTryClient({ ...ownClient, served: () => served.current, show: (view) => context.view("try", view) });
  onStop(tries.stop);
  context.onPagesLeft((why) => {
    if (tries.leave(why)) log.info(`The call of Try was cancelled: ${why}`);
  });
  const resend = (call: GrpcResend) => resendCall(ownClient, call);
  context.handle(createGrpcActions({ health, sample, tries, history: recorder.history, resend, replies, openCalls, served, protos }));
  return grpcEndpoints({ ...config, port: server.port, webPort: web.port, metricsPort });
}

function repliesFile({ config, dataDir }: ServiceContext<GrpcConfig, GrpcActions, GrpcViews>): Pick<RepliesOptions, "file" | "configured"> {
  const configured = configuredFile(grpcConfig.shape, config, "repliesFile");
  if (configured.path === "") return { file: path.join(dataDir(), "replies.jsonc"), configured: undefined };
  return { file: path.resolve(configured.path), configured };
}

/** Of our own clients: they trust the installation's authority, and show its certificate where one is required. */
async function channelCredentials({
  config,
  certificates,
}: ServiceContext<GrpcConfig, GrpcActions, GrpcViews>): Promise<ChannelCredentials> {
  if (!config.tls) return credentials.createInsecure();
  const { authority, options } = await certificates();
  return credentials.createSsl(Buffer.from(authority.cert), Buffer.from(options.key), Buffer.from(options.cert));
}

const bothConnections = (one: GrpcConnections, other: GrpcConnections): Pick<GrpcConnections, "bytes" | "count"> => ({
  count: one.count + other.count,
  bytes() {
    const [first, second] = [one.bytes(), other.bytes()];
    return { read: first.read + second.read, written: first.written + second.written };
  },
});

/** This computer's certificate, and the authority that client certificates are verified with. */
async function tlsSource({ config, certificates }: ServiceContext<GrpcConfig, GrpcActions, GrpcViews>): Promise<TlsSource> {
  const own = await certificates();
  const file = configuredFile(grpcConfig.shape, config, "clientCaFile");
  const ca = file.path === "" ? own.authority.cert : await readAuthorities(file);
  return {
    get options() {
      return { ...own.options, ca };
    },
    onChange: own.onChange,
  };
}

const mostValuesOf = ({ messageBytes }: GrpcConfig): number => Math.ceil(messageBytes / bytesOfValue);

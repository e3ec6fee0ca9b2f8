import type { BinaryTopics } from "../../contract/binary.ts";
import type { Endpoint } from "../../contract/service.ts";
import type { webrtcProvided } from "../../contract/services/rtsp-media.ts";
import type { WebrtcActions, WebrtcViews } from "../../contract/services/webrtc.ts";
import { createFailureLimits } from "../core/credentials/failure-limits.ts";
import { budgetOf } from "../core/http/connections/body-budget.ts";
import { createHttpRecorder } from "../core/http/record/http-recorder.ts";
import { SharedBudget } from "../core/limits/shared-budget.ts";
import { createOriginCheck } from "../core/net/allowed-origins.ts";
import { FaultLog } from "../core/net/fault-log.ts";
import { countOf } from "../core/service/quantity.ts";
import type { Counters, ServiceContext } from "../core/service/service.ts";
import { WorkTurns } from "../core/turns/work-turns.ts";
import { ClientSessions } from "./dialects/client-sessions.ts";
import { openDialects } from "./dialects/open-dialects.ts";
import { WebSocketClients } from "./dialects/web-socket-clients.ts";
import { faultRoutes } from "./faults/fault-routes.ts";
import { WebrtcFaults } from "./faults/webrtc-faults.ts";
import { createIceServers, iceUrls } from "./ice/ice-servers.ts";
import { startTurn } from "./ice/start-turn.ts";
import { keptTurnSecret } from "./ice/turn-secret.ts";
import { IceChecks } from "./ice-check/ice-checks.ts";
import { RequestHistory } from "./ice-check/request-history.ts";
import { restoreEvidence } from "./ice-check/restore-evidence.ts";
import { keptSignals, passedSignal, SignalHistory } from "./ice-check/signal-history.ts";
import { type Media, startMedia } from "./media/start-media.ts";
import { showViews } from "./observe/page-views.ts";
import { outcomeOf } from "./observe/signal-outcome.ts";
import { SignallingRecorder } from "./observe/signalling-recorder.ts";
import { signallingRedaction, withoutKeyPassword } from "./observe/signalling-redaction.ts";
import { TurnRecorder } from "./observe/turn-recorder.ts";
import { createWebrtcSampleTraffic } from "./sample-traffic.ts";
import { WebrtcCluster } from "./signalling/cluster/webrtc-cluster.ts";
import { Hub } from "./signalling/hub.ts";
import { localHostOf } from "./signalling/peer.ts";
import { describeTestPage } from "./test-page/describe-test-page.ts";
import { testPageRoutes } from "./test-page/test-page-routes.ts";
import { TryCalls } from "./try/try-calls.ts";
import { joinObservers } from "./turn/turn-observer.ts";
import { listenWeb } from "./web/web-listener.ts";
import type { WebRoutes } from "./web/web-routes.ts";
import { createWebrtcActions } from "./webrtc-actions.ts";
import type { WebrtcConfig } from "./webrtc-config.ts";
import { webrtcEndpoints } from "./webrtc-endpoints.ts";

export async function startWebrtc(
  context: ServiceContext<WebrtcConfig, WebrtcActions, WebrtcViews, BinaryTopics, typeof webrtcProvided>,
): Promise<readonly Endpoint[]> {
  const { config, log, traffic, onStop } = context;
  const { openToLan } = config;
  const certificates = await context.certificates();
  const turns = new WorkTurns();
  const faults = new FaultLog(log);
  onStop(() => faults.flush());

  const secret = config.turnSecret || (await keptTurnSecret(context.dataDir(), log));
  // Requests of TURN may come before there are peers.
  let peers: Pick<Hub, "find"> | undefined;
  const turnRecorder = new TurnRecorder(traffic, (user) => peers?.find(user)?.name || undefined);
  const requests = new RequestHistory({
    allocations: () => turn?.engine.allocations() ?? [],
    isPeer: (user) => peers?.find(user) !== undefined,
  });
  const observer = joinObservers(turnRecorder, requests, {
    onClosed: (allocation) => demanded.relayClosed(allocation.id),
  });
  const turn = config.turn ? await startTurn({ config, secret, certificates, observer, turns, log, onStop }) : undefined;
  const demanded = new WebrtcFaults({
    turn: turn?.engine,
    placeOf(id) {
      const peer = hub.find(id);
      return peer && (peer.isElsewhere ? "elsewhere" : "here");
    },
    mostHeldBytes: config.faultBytes,
    turns,
    show: (view) => context.view("faults", view),
    onStop,
  });
  const iceServers = createIceServers({
    turn,
    publicAddress: config.relayAddress,
    secret,
    credentialSeconds: config.credentialSeconds,
  });

  const signals = new SignalHistory(keptSignals, (peer) => hub.find(peer)?.name);
  const messageBudget = budgetOf(config.recordedMessageRate);
  const recorder = new SignallingRecorder({
    traffic,
    log,
    messageLimit: config.recordedMessageBytes,
    messageBudget,
    hub: { find: (id) => hub.find(id) },
    onRecorded(row, fact, at) {
      const kept = signals.add(passedSignal(row, fact, at, hub));
      fact.held?.whenOver(() => signals.settle(kept, outcomeOf(fact)));
    },
    onLeft(peer, row, reason, at) {
      iceChecks.noteLeft(peer);
      signals.noteEnd(row, peer, reason, at);
    },
  });
  const failures = createFailureLimits({ failures: config.loginFailures, windowMs: config.loginWindowSeconds * 1_000 });
  const hub = new Hub({
    limits: config,
    observer: {
      onConnected: (peer) => recorder.onConnected(peer),
      onMessage: (fact) => recorder.onMessage(fact),
      onDisconnected(peer, reason, by) {
        recorder.onDisconnected(peer, reason, by);
        demanded.peerLeft(peer.id);
      },
    },
    path: demanded.signals,
    turns,
    failures: passwordFailures(failures),
    iceServers: (peer) => iceServers(localHostOf(peer), peer.id),
  });
  peers = hub;

  if (config.cluster !== "") {
    const cluster = await WebrtcCluster.join({ ...config, url: config.cluster, timeoutMs: config.clusterTimeoutMs, hub, log, turns });
    onStop(() => cluster.close());
  }
  const media = config.media
    ? await startMedia({ config, services: context.services, traffic, log, onStop, iceServers, turns })
    : undefined;
  context.provide(media?.handlers ?? noMedia);

  const addresses = { port: turn?.port ?? config.turnPort, tlsPort: turn?.tlsPort || undefined };
  const iceChecks = new IceChecks({ hub, signals, requests, addresses, turns });
  await restoreEvidence(context.kept, { signals, requests, checks: iceChecks });
  const lastLeft = (most: number) => iceChecks.lastLeft(most);

  const httpRecorder = createHttpRecorder({
    traffic,
    log,
    bodyLimit: config.recordedMessageBytes,
    bodyBudget: messageBudget,
    redaction: signallingRedaction(config.recordCredentials),
    maskPath: withoutKeyPassword,
    turns,
  });
  const held = new SharedBudget(config.allRequestBytes);
  const limits = { ...config, heartbeatMs: config.heartbeatSeconds * 1_000 };
  const webSockets = new WebSocketClients({ limits, faults, held, sessions: new ClientSessions(config), unsent: hub.unsent, turns });
  const dialects = openDialects({ hub, webSockets, iceServers, config, faults, held, turns });
  onStop(dialects.close);
  const describePage = () => describeTestPage({ port, openToLan, calls: config.testPageCalls, authority: certificates.authority.cert });
  const routes: readonly WebRoutes[] = [
    ...(media ? [media.routes] : []),
    { http: testPageRoutes({ describe: () => describePage(), authority: () => certificates.authority.cert }) },
    { http: faultRoutes(demanded) },
    // The last ones: PeerJS takes every path of two parts that ends with /id or /peers.
    ...dialects.routes,
  ];
  const port = await listenWeb({
    port: config.port,
    openToLan,
    certificates,
    routes,
    recorder: httpRecorder,
    turns,
    held,
    faults,
    log,
    onStop,
    allowsOrigin: createOriginCheck(config.allowedOrigins),
    limits: {
      ...config,
      headersTimeoutMs: Math.min(10, config.requestSeconds) * 1_000,
      requestTimeoutMs: config.requestSeconds * 1_000,
      keepAliveTimeoutMs: config.keepAliveSeconds * 1_000,
      unreadTimeoutMs: config.unreadSeconds * 1_000,
    },
  });
  onStop(() => webSockets.close());
  onStop(() => hub.close());

  context.view("testPage", describePage());
  const ports = { ...config, port, turnPort: turn?.port ?? config.turnPort, turnsPort: turn?.tlsPort || config.turnsPort };
  const endpoints = webrtcEndpoints(ports);
  const originsOf = (scheme: string) => endpoints.flatMap(({ url }) => (url.startsWith(scheme) ? [new URL(url).origin] : []));
  context.view("offers", {
    origins: originsOf("ws:"),
    secureOrigins: originsOf("wss:"),
    iceServers: iceUrls(turn, "127.0.0.1").map((urls) => ({ urls })),
    realm: config.turnRealm,
    credentialSeconds: config.credentialSeconds,
    turnUsers: config.turnUsers.map((line) => line.slice(0, line.indexOf(":"))),
    openToLan,
  });
  const tryCalls = new TryCalls({ url: `ws://127.0.0.1:${port}/ws` });
  onStop(() => tryCalls.stop());
  const sample = createWebrtcSampleTraffic({ port, show: (view) => context.view("sample", view) });
  onStop(sample.stop);
  context.counters((): Counters => {
    recorder.tick();
    const allocations = turn?.engine.allocations() ?? [];
    turnRecorder.tick(allocations);
    requests.tick(allocations);
    context.view("signals", { total: signals.total, version: signals.version });
    showViews({ hub, recorder, turnRecorder, turn: turn?.engine, lastLeft, isWatched: context.isWatched(), view: context.view });
    context.view("media", media?.view() ?? { sessions: [], more: 0 });
    const http = httpRecorder.counters();
    const played = media?.bytes();
    const relayed = turn?.engine.statistics();
    return {
      items: hub.messages + http.items + turnRecorder.requests,
      bytesIn: http.bytesIn + (relayed?.toPeers.bytes ?? 0) + (played?.received ?? 0),
      bytesOut: http.bytesOut + (relayed?.fromPeers.bytes ?? 0) + (played?.sent ?? 0),
      clients: hub.peerCount,
      figures: [],
      note: noteOf(hub.peerCount, hub.roomCount, relayed?.allocations ?? 0),
    };
  });
  context.handle(
    createWebrtcActions({ hub, turn: turn?.engine, turnRecorder, faults: demanded, iceServers, media, iceChecks, tryCalls, sample }),
  );
  return endpoints;
}

/** Without WHIP there are no publishers. */
const noMedia: Media["handlers"] = {
  calls: { keyFrame: () => null, publishEnded: () => null },
  streams: { published: () => {} },
};

const noteOf = (peers: number, rooms: number, relays: number): string =>
  `${countOf(peers, "peer")} in ${countOf(rooms, "room")} · ${countOf(relays, "relay")}`;

const passwordFailures = (failures: ReturnType<typeof createFailureLimits>) => ({
  isBlocked: (address: string) => failures.stateOf(address).remaining === 0,
  count: failures.count,
});

import { rootCertificates } from "node:tls";
import type { Endpoint } from "../../contract/service.ts";
import type { RtspActions, RtspBinary, RtspViews } from "../../contract/services/rtsp.ts";
import type { rtspProvided } from "../../contract/services/rtsp-media.ts";
import { loadDigestUsers } from "../core/credentials/digest-users.ts";
import { createFailureLimits } from "../core/credentials/failure-limits.ts";
import { assetFile } from "../core/files/asset-file.ts";
import { budgetOf } from "../core/http/connections/body-budget.ts";
import { SharedBudget } from "../core/limits/shared-budget.ts";
import { createOriginCheck } from "../core/net/allowed-origins.ts";
import type { ServiceContext } from "../core/service/service.ts";
import { WorkTurns } from "../core/turns/work-turns.ts";
import { parsePull } from "./client/pull-line.ts";
import { TryPlayer } from "./client/try-player.ts";
import { ClipLibrary } from "./clips/clip-library.ts";
import { createFaultControl } from "./faults/fault-control.ts";
import { Faults } from "./faults/faults.ts";
import { faultRoutes } from "./management/fault-routes.ts";
import { type HlsOutputOptions, HlsOutputs } from "./management/hls-outputs.ts";
import { HttpReaders } from "./management/http-readers.ts";
import { managementRoutes } from "./management/management-routes.ts";
import { listenManagement } from "./management/management-server.ts";
import { createRtspMetrics } from "./management/rtsp-metrics.ts";
import { Snapshots } from "./management/snapshots.ts";
import { openClip } from "./media/mp4/open-clip.ts";
import { createPageViews } from "./observe/page-views.ts";
import { Previews } from "./observe/previews.ts";
import { SessionRecorder, serviceStops } from "./observe/session-recorder.ts";
import { RtmpIngest } from "./rtmp/rtmp-ingest.ts";
import { createRtspActions } from "./rtsp-actions.ts";
import type { RtspConfig } from "./rtsp-config.ts";
import { rtspEndpoints, testPaths } from "./rtsp-endpoints.ts";
import { createRtspSampleTraffic } from "./sample-traffic.ts";
import { createAccess } from "./sessions/access.ts";
import { HttpTunnels } from "./sessions/http-tunnel.ts";
import { MulticastGroups, type MulticastOptions } from "./sessions/multicast-groups.ts";
import { parsePathRule, realm } from "./sessions/path-rules.ts";
import { createRequestHandler } from "./sessions/request-handlers.ts";
import { listenRtsp } from "./sessions/rtsp-server.ts";
import type { RtspSession, SessionLimits } from "./sessions/rtsp-session.ts";
import { SessionTable } from "./sessions/session-table.ts";
import { UdpPorts } from "./sessions/udp-ports.ts";
import { ClipSource } from "./streams/clip-source.ts";
import { Paths } from "./streams/paths.ts";
import { PulledSource } from "./streams/pulled-source.ts";
import { WaitingPlaces } from "./streams/waiting-readers.ts";
import { WebMedia } from "./web/web-media.ts";

export async function startRtsp(
  context: ServiceContext<RtspConfig, RtspActions, RtspViews, RtspBinary, typeof rtspProvided>,
): Promise<readonly Endpoint[]> {
  const { config, log, traffic, onStop } = context;
  const media = new SharedBudget(config.allMediaBytes);
  const limits = sessionLimits(config, media);
  const turns = new WorkTurns();
  const paths = new Paths({ mostPaths: config.paths, replacePublishers: config.replacePublishers });
  onStop(() => paths.closeAll(serviceStops));
  const asset = (name: string) => openClip(assetFile("rtsp", `${name}.mp4`));
  for (const name of testPaths)
    paths.add(
      name,
      new ClipSource({ title: `${name}.mp4`, clip: asset(name), webSound: asset("sound-opus"), limits, work: turns.background(""), log }),
    );
  const places = new WaitingPlaces(config.sessions);
  const tls = async () => ({ ca: [...rootCertificates, (await context.certificates()).authority.cert] });
  let pulledBytes = 0;
  for (const line of config.pulls) {
    const { path, url } = parsePull(line) ?? {};
    if (path === undefined || url === undefined) continue;
    const times = { waitMs: config.pullWaitSeconds * 1_000, idleMs: config.pullIdleSeconds * 1_000 };
    const onReceived = (bytes: number) => {
      pulledBytes += bytes;
    };
    paths.add(path, new PulledSource({ ...limits, ...times, name: path, url, tls, turns, places, onReceived, log }));
  }

  const clips = new ClipLibrary({
    dataDir: context.dataDir(),
    mostBytes: config.fileBytes,
    paths,
    limits,
    turns,
    log,
    show: (files) => context.view("files", { files }),
  });
  onStop(() => clips.close());
  await clips.restore();

  const recorder = new SessionRecorder({
    traffic,
    log,
    messageLimit: config.recordedMessageBytes,
    messageBudget: budgetOf(config.recordedMessageRate),
  });
  const faults = new Faults();
  const sessions = new SessionTable({
    turns,
    sessions: config.sessions,
    sessionsPerAddress: config.sessionsPerAddress,
    onEnd: (session, reason, by) => recorder.endSession(session, reason, by),
  });
  onStop(() => faults.stopAll());
  onStop(() => sessions.close(serviceStops));
  const access = createAccess({
    users: loadDigestUsers(config.users, realm),
    rules: config.pathRules.flatMap((text) => parsePathRule(text) ?? []),
    methods: config.authentication,
    failures: createFailureLimits({ failures: config.loginFailures, windowMs: config.loginWindowSeconds * 1_000 }),
  });
  const udp = config.udp ? new UdpPorts(turns) : undefined;
  await udp?.listen({ port: config.rtpPort, openToLan: config.openToLan, onStop, log });
  const multicast = config.multicast ? await MulticastGroups.open(multicastOptions(config, faults, turns)) : undefined;
  if (multicast) onStop(() => multicast.close());
  const server = await listenRtsp({
    turns,
    port: config.port,
    openToLan: config.openToLan,
    udp,
    multicast,
    sessions,
    recorder,
    log,
    onStop,
    tunnels: new HttpTunnels(),
    handle: createRequestHandler({ paths, sessions, access, faults, limits: { ...limits, tracks: config.tracks } }),
    tls: config.tls ? { port: config.tlsPort, certificates: await context.certificates(), tlsHandshakes: config.tlsHandshakes } : undefined,
    connections: config.connections,
    connectionsPerAddress: config.connectionsPerAddress,
    allRequestBytes: config.allRequestBytes,
    allUnsentBytes: config.allUnsentBytes,
    limits: { ...config, idleMs: limits.timeoutMs, mostUnsentBytes: 8 * config.unsentBytes },
  });

  const rtmp = config.rtmp
    ? await RtmpIngest.listen({
        turns,
        port: config.rtmpPort,
        openToLan: config.openToLan,
        paths,
        access,
        recorder,
        limits,
        log,
        connections: config.connections,
        connectionsPerAddress: config.connectionsPerAddress,
        messageBytes: config.rtmpMessageBytes,
        allMessageBytes: config.rtmpAllMessageBytes,
        silenceMs: limits.silenceMs,
      })
    : undefined;
  if (rtmp) onStop(() => rtmp.close());

  const webMedia = new WebMedia({ paths, access, recorder, limits, services: context.services, log });
  onStop(() => webMedia.close(serviceStops));
  context.provide(webMedia.handlers);

  const stats = () => {
    const { read, written } = server.bytes();
    return {
      uptimeSeconds: Math.round(process.uptime()),
      connections: server.connections,
      connectionsRefused: server.refused,
      sessions: sessions.size,
      sessionsOpened: sessions.opened,
      sessionsRefused: sessions.refused,
      requests: recorder.requests,
      bytesReceived: read + (udp?.bytesReceived ?? 0) + (rtmp?.bytesReceived ?? 0) + pulledBytes,
      bytesSent: written + (udp?.bytesSent ?? 0) + (multicast?.bytesSent ?? 0) + readers.bytesSent,
      httpReaders: readers.size,
      foreignDatagrams: udp?.foreign ?? 0,
      unsentDatagrams: udp?.packetsUnsent ?? 0,
    };
  };
  const metrics = createRtspMetrics({ paths, sessions, stats, turns });
  const addresses = () => ({
    rtsp: `rtsp://127.0.0.1:${server.port}`,
    rtsps: config.tls ? `rtsps://127.0.0.1:${server.tlsPort}` : undefined,
    rtmp: rtmp && `rtmp://127.0.0.1:${rtmp.port}`,
  });
  const remoteOf = (session: RtspSession) => recorder.entryOf(session)?.remote ?? session.address;
  const hls = new HlsOutputs(paths, { ...hlsOptions(config, faults, media), turns, places });
  onStop(() => hls.close());
  const readers = new HttpReaders({
    recorder,
    turns,
    mostReaders: config.sessions,
    mostOfAddress: config.sessionsPerAddress,
    idleMs: Math.max(10, 3 * config.hlsSegmentSeconds) * 1_000,
  });
  onStop(() => readers.close(serviceStops));
  const faultControl = createFaultControl({ faults, sessions, turns, endReaders: (path, reason) => readers.endAnswers(path, reason) });
  const httpPort = await listenManagement({
    port: config.httpPort,
    openToLan: config.openToLan,
    allowsOrigin: createOriginCheck(config.allowedOrigins),
    access,
    log,
    onStop,
    paths,
    hls,
    readers,
    snapshots: new Snapshots({ turns, places }),
    transportStreams: limits,
    faults,
    faultBytes: limits.faultBytes,
    limits: { ...config, unreadTimeoutMs: limits.stallMs },
    turns,
    routes: [
      ...managementRoutes({ paths, sessions, metrics, stats, addresses, remoteOf }),
      ...faultRoutes({ faults, control: faultControl, sessions }),
    ],
  });

  const previews = new Previews({ paths, picture: context.binary("picture"), sound: context.binary("sound") });
  onStop(() => previews.close());
  // Players join groups on the system's interface for multicast, which loopback is not: they would wait for packets.
  const multicastForPlayers = config.multicast && config.openToLan;
  context.view("offers", { udp: config.udp, multicast: multicastForPlayers, tls: config.tls, login: config.users.length > 0 });
  const views = createPageViews({ paths, sessions, recorder, faults, previews, view: context.view });
  const player = new TryPlayer({
    port: server.port,
    tlsPort: server.tlsPort,
    packetBytes: config.packetBytes,
    keptBytes: config.keptBytes,
    ...{ media, tls, turns },
    show: (view) => context.view("try", view),
  });
  onStop(() => player.stop());
  context.onPagesLeft((why) => {
    if (player.leave(why)) context.log.info(`The player of Try was stopped: ${why}`);
  });
  const sample = createRtspSampleTraffic({ port: server.port, turns, show: (view) => context.view("sample", view) });
  onStop(sample.stop);
  context.counters(() => {
    views.show();
    recorder.tick();
    player.tick();
    return views.counters(stats());
  });
  context.handle(createRtspActions({ recorder, sessions, faults, faultControl, views, clips, player, sample }));
  return rtspEndpoints({ ...config, port: server.port, httpPort, tlsPort: server.tlsPort, rtmpPort: rtmp?.port ?? config.rtmpPort });
}

const multicastOptions = (
  { multicastAddress, multicastPort, multicastTtl, openToLan, faultBytes, unsentBytes }: RtspConfig,
  registry: Faults,
  turns: WorkTurns,
): MulticastOptions => ({
  ...{ turns, unsentBytes },
  address: multicastAddress,
  port: multicastPort,
  ttl: multicastTtl,
  interfaceAddress: openToLan ? undefined : "127.0.0.1",
  faults: { registry, mostHeldBytes: faultBytes },
});

const hlsOptions = (
  { hlsSegmentSeconds, hlsSegments, hlsBytes, hlsIdleSeconds, faultBytes }: RtspConfig,
  registry: Faults,
  media: SharedBudget,
): Omit<HlsOutputOptions, "turns" | "places"> => ({
  media,
  faults: { registry, mostHeldBytes: faultBytes },
  segmentSeconds: hlsSegmentSeconds,
  segmentCount: hlsSegments,
  mostBytes: hlsBytes,
  idleMs: hlsIdleSeconds * 1_000,
});

const sessionLimits = (config: RtspConfig, media: SharedBudget): SessionLimits => ({
  media,
  packetBytes: config.packetBytes,
  keptBytes: config.keptBytes,
  unsentBytes: config.unsentBytes,
  stallMs: config.stallSeconds * 1_000,
  timeoutMs: config.timeoutSeconds * 1_000,
  silenceMs: config.silenceSeconds * 1_000,
  faultBytes: config.faultBytes,
});

import type { HttpRoute } from "../../core/http/http-route.ts";
import { jsonType, send } from "../../core/http/messages/http-answer.ts";
import type { SharedBudget } from "../../core/limits/shared-budget.ts";
import { plainAddress } from "../../core/net/client-socket.ts";
import type { FaultLog } from "../../core/net/fault-log.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import type { IceServersFor } from "../ice/ice-servers.ts";
import type { Hub } from "../signalling/hub.ts";
import type { WebRoutes } from "../web/web-routes.ts";
import type { WebrtcConfig } from "../webrtc-config.ts";
import { jsonDialect } from "./json/json-dialect.ts";
import { peerJsDialect } from "./peerjs/peerjs-dialect.ts";
import { socketIoDialect } from "./socketio/socketio-dialect.ts";
import type { WebSocketClients } from "./web-socket-clients.ts";
import { yWebrtcDialect } from "./ywebrtc/ywebrtc-dialect.ts";

export interface DialectsOptions {
  readonly hub: Hub;
  readonly webSockets: WebSocketClients;
  readonly iceServers: IceServersFor;
  readonly config: WebrtcConfig;
  readonly faults: FaultLog;
  readonly held: SharedBudget;
  /** Of all clients. */
  readonly turns: WorkTurns;
}

/** All dialects of signalling, on the paths where their clients look for them. */
export function openDialects({ hub, webSockets, iceServers, config, faults, held, turns }: DialectsOptions): {
  readonly routes: readonly WebRoutes[];
  close(): Promise<void>;
} {
  const { messageDepth, recordCredentials } = config;
  const peerJs = peerJsDialect({
    hub,
    webSockets,
    turns,
    messageDepth,
    recordCredentials,
    nameLength: config.nameLength,
    offlineMs: config.offlineSeconds * 1_000,
    offlineMessages: config.offlineMessages,
    offlineBytes: config.offlineBytes,
  });
  const socketIo = socketIoDialect({
    hub,
    faults,
    held,
    turns,
    sessions: webSockets.sessions,
    limits: { ...config, heartbeatMs: config.heartbeatSeconds * 1_000 },
  });
  return {
    routes: [
      jsonDialect({ hub, webSockets, messageDepth, recordCredentials }),
      socketIo,
      yWebrtcDialect({ hub, webSockets, messageDepth, peerRooms: config.peerRooms, nameLength: config.nameLength }),
      { http: [iceServersRoute(hub, iceServers)] },
      peerJs,
    ],
    async close() {
      peerJs.close();
      await socketIo.close();
    },
  };
}

/** For clients that take them from their own configuration, before they connect: PeerJS and y-webrtc. */
const iceServersRoute = (hub: Hub, iceServers: IceServersFor): HttpRoute => ({
  path: "/ice-servers",
  methods: ["GET"],
  handle({ socket }, response) {
    const servers = iceServers(plainAddress(socket.localAddress ?? "127.0.0.1"), hub.newId());
    send(response, 200, jsonType, JSON.stringify(servers), { "Cache-Control": "no-store" });
  },
});

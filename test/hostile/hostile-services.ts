import { dashboardControl } from "./dashboard-control.ts";
import { grpcService } from "./grpc-service.ts";
import type { HostileService } from "./hostile-service.ts";
import { accountService, eventsService, httpService } from "./http-services.ts";
import { mqttService } from "./mqtt-service.ts";
import { rtspService } from "./rtsp-service.ts";
import { webrtcService } from "./webrtc-service.ts";

/** By the id of the service. */
export const hostileServices: Readonly<Record<string, HostileService>> = {
  http: httpService,
  grpc: grpcService,
  mqtt: mqttService,
  rtsp: rtspService,
  webrtc: webrtcService,
  account: accountService,
  events: eventsService,
};

/** All that is attacked: the services, and the program that runs them. */
export const hostileTargets: Readonly<Record<string, HostileService>> = { ...hostileServices, dashboard: dashboardControl };

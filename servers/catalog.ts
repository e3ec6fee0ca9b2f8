import { accountService } from "./account/account-service.ts";
import type { Service } from "./core/service/service.ts";
import { eventsService } from "./events/events-service.ts";
import { grpcService } from "./grpc/grpc-service.ts";
import { httpService } from "./http/http-service.ts";
import { mqttService } from "./mqtt/mqtt-service.ts";
import { rtspService } from "./rtsp/rtsp-service.ts";
import type { PlannedService } from "./supervisor/supervisor.ts";
import { webrtcService } from "./webrtc/webrtc-service.ts";

/** The services of this version, in the window's order: one line each. */
export const services: readonly Service[] = [
  httpService,
  grpcService,
  mqttService,
  rtspService,
  webrtcService,
  accountService,
  eventsService,
];

/** Planned services: shown in the rail, and their ports, of TCP or UDP, are proposed to no other service. */
export const plannedServices: readonly PlannedService[] = [];

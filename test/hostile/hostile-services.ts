import type { HostileService } from "./hostile-service.ts";
import { accountService, eventsService, httpService } from "./http-services.ts";
import { mqttService } from "./mqtt-service.ts";
import { webrtcService } from "./webrtc-service.ts";

/** By the id of the service. */
export const hostileServices: Readonly<Record<string, HostileService>> = {
  http: httpService,
  mqtt: mqttService,
  account: accountService,
  events: eventsService,
  webrtc: webrtcService,
};

import { accountService } from "./account/account-service.ts";
import type { Service } from "./core/service/service.ts";
import { eventsService } from "./events/events-service.ts";
import { httpService } from "./http/http-service.ts";
import { mqttService } from "./mqtt/mqtt-service.ts";
import type { PlannedService } from "./supervisor/supervisor.ts";

/** The services of this version, in the window's order. */
export const services: readonly Service[] = [httpService, mqttService, accountService, eventsService];

const allPlanned: readonly PlannedService[] = [
  { id: "grpc", title: "gRPC", purpose: "Greeter with all four call patterns, reflection, health", ports: [50_051, 8_000] },
  { id: "mqtt", title: "MQTT", purpose: "Broker, 3.1.1 and 5.0, TCP and WebSocket", ports: [1_883, 9_001, 8_883] },
  { id: "rtsp", title: "RTSP", purpose: "Two test streams, H.264 and AAC", ports: [8_554, 8_888] },
  { id: "webrtc", title: "WebRTC", purpose: "Rooms, signalling, STUN and TURN", ports: [8_443] },
  { id: "account", title: "Account", purpose: "Login, JSON Web Tokens, Basic, details", ports: [8_081] },
  { id: "events", title: "Events", purpose: "Collects completion events, pages and statistics", ports: [8_082] },
];

/** What the rail names until its own issue has landed. */
export const plannedServices = allPlanned.filter(({ id }) => services.every((service) => service.id !== id));

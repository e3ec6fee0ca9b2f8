import type { ServiceId } from "../../contract/service.ts";

/** What a made-up service shows. */
export interface Sketch {
  readonly title: string;
  readonly purpose: string;
  readonly rateUnit: string;
  readonly rate: number;
  readonly bytes: number;
  readonly clients: number;
  readonly note: string;
  readonly endpoints: readonly (readonly [label: string, url: string])[];
  readonly ports: readonly number[];
}

const sketch = (
  title: string,
  purpose: string,
  [rate, rateUnit, bytes, clients]: readonly [number, string, number, number],
  note: string,
  ports: readonly number[],
  endpoints: Sketch["endpoints"],
): Sketch => ({ title, purpose, rate, rateUnit, bytes, clients, note, ports, endpoints });

const sketches: Readonly<Partial<Record<ServiceId, Sketch>>> = {
  http: sketch(
    "HTTP",
    "REST, status codes, delays, server-sent events",
    [42, "req/s", 118e3, 3],
    "p95 4.9 ms · 5xx: 9 of 12,480",
    [8080],
    [
      ["HTTP", "http://127.0.0.1:8080"],
      ["SSE", "http://127.0.0.1:8080/api/stream"],
    ],
  ),
  grpc: sketch(
    "gRPC",
    "Greeter with all four call patterns, reflection, health",
    [18, "call/s", 24e3, 2],
    "p95 3.2 ms · 2 streams open · SERVING",
    [50051],
    [
      ["gRPC", "grpc://127.0.0.1:50051"],
      ["HTTP", "http://127.0.0.1:8000/metrics"],
    ],
  ),
  mqtt: sketch(
    "MQTT",
    "Broker, 3.1.1 and 5.0, TCP and WebSocket",
    [4812, "msg/s", 1.9e6, 14],
    "1,204 topics · 38 retained · 212 queued",
    [1883, 9001],
    [
      ["MQTT", "mqtt://192.168.1.24:1883"],
      ["WS", "ws://192.168.1.24:9001"],
    ],
  ),
  rtsp: sketch(
    "RTSP",
    "Two test streams, H.264 and AAC",
    [30, "pkt/s", 900e3, 2],
    "",
    [8554],
    [
      ["RTSP", "rtsp://127.0.0.1:8554/stream"],
      ["RTSP", "rtsp://127.0.0.1:8554/test"],
    ],
  ),
  webrtc: sketch(
    "WebRTC",
    "Rooms, signalling, STUN and TURN",
    [6, "msg/s", 3.1e6, 6],
    "4 in standup, 2 in qa · TURN 1 relay",
    [8443],
    [
      ["WSS", "wss://127.0.0.1:8443"],
      ["TURN", "turn:127.0.0.1:3478"],
    ],
  ),
  account: sketch(
    "Account",
    "Login, JSON Web Tokens, Basic, details",
    [0, "req/s", 0, 0],
    "",
    [8081],
    [
      ["HTTP", "http://127.0.0.1:8081/login"],
      ["HTTP", "http://127.0.0.1:8081/details"],
    ],
  ),
  events: sketch(
    "Events",
    "Collects completion events, pages and statistics",
    [19, "ev/s", 31e3, 1],
    "46 % accepted · 12,480 stored",
    [8082],
    [
      ["HTTP", "http://127.0.0.1:8082/events"],
      ["HTTP", "http://127.0.0.1:8082/stats"],
    ],
  ),
};

/** A service without a sketch of its own is shown by its name, idle. */
export const sketchOf = (id: ServiceId): Sketch => sketches[id] ?? sketch(id, "", [0, "", 0, 0], "", [], []);

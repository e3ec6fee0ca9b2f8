import type { BenchOptions } from "./bench-options.ts";

interface Bench {
  /** One line of the help. */
  readonly summary: string;
  /** Resolves with its results as Markdown. */
  readonly run: (options: BenchOptions) => Promise<string>;
}

/** Each by its name on the command line, which is its section of README.md too. */
export const benches = {
  http: {
    summary: "CPU per request beside node:http, Express and httpbin",
    run: async (options) => (await import("./http-bench.ts")).httpBench(options),
  },
  sse: {
    summary: "1,000 clients with 10 events a second each, beside two plain servers",
    run: async (options) => (await import("./sse-bench.ts")).sseBench(options),
  },
  streams: {
    summary: "a WebSocket and an event stream of 100,000 messages: CPU at the end as at the beginning; the cost of recording",
    run: async (options) => (await import("./streams-bench.ts")).streamsBench(options),
  },
  dashboard: {
    summary: "5,000 requests a second with a dashboard open: losses, memory, time to stop",
    run: async (options) => (await import("./dashboard-bench.ts")).dashboardBench(options),
  },
  events: {
    summary: "CPU of a durable POST beside plain servers; reading 100 thousand to 10 million events",
    run: async (options) => (await import("./events-bench.ts")).eventsBench(options),
  },
  account: {
    summary: "CPU of a Bearer and a Basic call beside Express with and without a check of the token",
    run: async (options) => (await import("./account-bench.ts")).accountBench(options),
  },
  mqtt: {
    summary: "messages per CPU second beside mosquitto and Aedes; connects, memory, a client that stops reading",
    run: async (options) => (await import("./mqtt-bench.ts")).mqttBench(options),
  },
  "mqtt-tree": {
    summary: "100,000 topics and 5,000 messages a second with the page open: memory, and the speed of the tree",
    run: async (options) => (await import("./mqtt-tree-bench.ts")).mqttTreeBench(options),
  },
  grpc: {
    summary: "messages per CPU second beside bare grpc-js, grpcio and C++; idle streams",
    run: async (options) => (await import("./grpc-bench.ts")).grpcBench(options),
  },
  rtsp: {
    summary: "CPU of a client's second beside gst-rtsp-server; lost packets and memory up to 1,000 clients",
    run: async (options) => (await import("./rtsp-bench.ts")).rtspBench(options),
  },
  webrtc: {
    summary: "TURN beside coturn; signals and idle clients beside PeerServer and Socket.IO; a busy room",
    run: async (options) => (await import("./webrtc-bench.ts")).webrtcBench(options),
  },
  memory: {
    summary: "all processes with four services, idle and over ten minutes of mixed load",
    run: async (options) => (await import("./memory-bench.ts")).memoryBench(options),
  },
} satisfies Readonly<Record<string, Bench>>;

export type BenchName = keyof typeof benches;
export const benchNames = Object.keys(benches) as readonly BenchName[];

import { Client, credentials } from "@grpc/grpc-js";
import { http2Attacks } from "../../bench/load/grpc-attacks.ts";
import { preface } from "../grpc/h2-frames.ts";
import {
  type Attack,
  type HostileService,
  httpAttacks,
  httpRequest,
  overEndpoint,
  randomBytes,
  repeated,
  throwAt,
} from "./hostile-service.ts";

/** { name: "bystander" } */
const hello = Buffer.from("0a0962797374616e646572", "hex");
const asIs = (bytes: Buffer): Buffer => bytes;

const jsonCall = (path: string, body: string) =>
  httpRequest("POST", path, { headers: "Content-Type: application/json\r\nConnect-Protocol-Version: 1\r\n", body: Buffer.from(body) });

/** Connect's streams: flags, length, message. */
function streamCall(path: string, body: string): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(body.length, 1);
  return httpRequest("POST", path, {
    headers: "Content-Type: application/connect+json\r\nConnect-Protocol-Version: 1\r\n",
    body: Buffer.concat([prefix, Buffer.from(body)]),
  });
}

export const grpcService: HostileService = {
  flags: ["--grpc-web-port", "0", "--grpc-metrics-port", "0"],
  config: { webPort: 0, metricsPort: 0 },
  async openBystander({ port }) {
    const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1 });
    return {
      ask: () =>
        new Promise<void>((resolve, reject) => {
          client.makeUnaryRequest("/example.Greeter/SayHello", asIs, asIs, hello, { deadline: Date.now() + 30_000 }, (error) =>
            error ? reject(error) : resolve(),
          );
        }),
      close: async () => client.close(),
    };
  },
  attacks: {
    ...Object.fromEntries(
      Object.entries(http2Attacks).map(([name, bytes]): [string, Attack] => {
        const content = Buffer.concat([preface, bytes()]);
        return [name, (target) => throwAt(target, 4, content, "all")];
      }),
    ),
    "10,000 streams, nothing read": (target) => throwAt(target, 4, Buffer.concat([preface, http2Attacks["10,000-streams"]!()]), "nothing"),
    "300 connections that say nothing": (target) => throwAt(target, 300, Buffer.alloc(0), "all"),
    "random bytes": (target) => throwAt(target, 20, () => Buffer.concat([preface, randomBytes(target, 2_000)]), "all"),
    ...overEndpoint("gRPC-Web", {
      ...httpAttacks("/example.Greeter/SayHello"),
      "calls, answers unread": (target) =>
        throwAt(target, 8, repeated(jsonCall("/example.Greeter/SayHello", JSON.stringify({ name: "x".repeat(10_000) })), 200), "nothing"),
      "streams, unread": (target) => throwAt(target, 100, streamCall("/example.StreamService/Subscribe", "{}"), "nothing"),
      "JSON of 100,000 levels": (target) => throwAt(target, 20, jsonCall("/example.Greeter/SayHello", '{"name":'.repeat(100_000)), "all"),
    }),
    ...overEndpoint("Metrics", httpAttacks("/metrics")),
  },
};

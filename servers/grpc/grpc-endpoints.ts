import type { Endpoint } from "../../contract/service.ts";
import { reachableEndpoints } from "../core/net/reachable-endpoints.ts";
import type { GrpcConfig } from "./grpc-config.ts";

export const grpcEndpoints = ({ port, webPort, metricsPort, tls, openToLan }: GrpcConfig): readonly Endpoint[] =>
  reachableEndpoints(openToLan, (host) => [
    { label: tls ? "gRPC over TLS" : "gRPC", url: `${tls ? "grpcs" : "grpc"}://${host}:${port}` },
    { label: "gRPC-Web", url: `${tls ? "https" : "http"}://${host}:${webPort}` },
    { label: "Metrics", url: `http://${host}:${metricsPort}/metrics` },
  ]);

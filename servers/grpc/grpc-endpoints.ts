import type { Endpoint } from "../../contract/service.ts";
import { reachableEndpoints } from "../core/net/reachable-endpoints.ts";
import type { GrpcConfig } from "./grpc-config.ts";

export const grpcEndpoints = ({ port, metricsPort, tls, openToLan }: GrpcConfig): readonly Endpoint[] =>
  reachableEndpoints(openToLan, (host) => [
    { label: tls ? "gRPC over TLS" : "gRPC", url: `${tls ? "grpcs" : "grpc"}://${host}:${port}` },
    { label: "Metrics", url: `http://${host}:${metricsPort}/metrics` },
  ]);

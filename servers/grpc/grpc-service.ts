import { grpcActions } from "../../contract/services/grpc.ts";
import { defineService } from "../core/service/service.ts";
import { grpcConfig } from "./grpc-config.ts";
import { grpcEndpoints } from "./grpc-endpoints.ts";
import { grpcSnippets } from "./grpc-snippets.ts";

export const grpcService = defineService({
  id: "grpc",
  title: "gRPC",
  purpose: "Greeter with all four call patterns, reflection, health",
  rateUnit: "call/s",
  config: grpcConfig,
  actions: grpcActions,
  details: { "grpc-call": async () => (await import("./observe/decode-call.ts")).callDecoder },
  ports: [
    { field: "port", transport: "tcp" },
    { field: "webPort", transport: "tcp" },
    { field: "metricsPort", transport: "tcp" },
  ],
  // Dropped protocol files, and the reply rules where no other file is named.
  keepsFiles: () => "if possible",
  endpoints: grpcEndpoints,
  snippets: grpcSnippets,
  browse: {
    fields: ["protos", "protoBytes", "protoFiles", "protoTypes"],
    open: async (context) => (await import("./browse-grpc.ts")).browseGrpc(context),
  },
  start: async (context) => (await import("./start-grpc.ts")).startGrpc(context),
});

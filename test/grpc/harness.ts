import { type ChannelCredentials, Client, type ClientOptions, credentials } from "@grpc/grpc-js";
import type { GrpcActions, GrpcViews } from "../../contract/services/grpc.ts";
import type { GrpcCall, GrpcMessagePart } from "../../contract/traffic/grpc.ts";
import { grpcService } from "../../servers/grpc/grpc-service.ts";
import { onEnd, type ServiceUnderTest, startService } from "../support/start-service.ts";
import { temporaryDir } from "../support/temporary-dir.ts";

export interface GrpcContract {
  readonly actions: GrpcActions;
  readonly views: GrpcViews;
  readonly detail: GrpcCall;
  readonly part: GrpcMessagePart;
}

export interface GrpcUnderTest extends ServiceUnderTest<GrpcContract> {
  readonly port: number;
  /** "127.0.0.1:50051" */
  readonly address: string;
  readonly metricsUrl: string;
  /** Of gRPC-Web and Connect. */
  readonly webUrl: string;
  client(options?: ClientOptions, channel?: ChannelCredentials): Client;
}

export { onEnd };

/** The service on free ports, stopped after the test. */
export async function startGrpc(
  config: Record<string, unknown> = {},
  certificatesDir?: string,
  dataDir = temporaryDir(),
  onProgress: (doing: string) => void = () => {},
): Promise<GrpcUnderTest> {
  const service = await startService<GrpcContract>(grpcService, {
    config: { port: 0, webPort: 0, metricsPort: 0, graceMs: 300, ...config },
    dataDir,
    onProgress,
    ...(certificatesDir && { certificatesDir }),
  });
  const address = service.endpoints[0]?.url.replace(/^grpcs?:\/\//, "") ?? "";
  return {
    ...service,
    address,
    port: Number(address.split(":")[1]),
    metricsUrl: service.urlOf("Metrics"),
    webUrl: service.urlOf("gRPC-Web"),
    client(options = {}, channel = credentials.createInsecure()) {
      const client = new Client(address, channel, { "grpc.use_local_subchannel_pool": 1, ...options });
      onEnd(() => client.close());
      return client;
    },
  };
}

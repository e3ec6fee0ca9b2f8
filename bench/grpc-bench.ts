import type { BenchOptions } from "./bench-options.ts";
import { compilerPackage, http2LibraryPackage, installMissing, libcHeadersPackage } from "./debian-packages.ts";
import { measureBystander } from "./grpc-bystander.ts";
import { measureIdleStreams } from "./grpc-idle-streams.ts";
import { measureMessages } from "./grpc-messages.ts";
import { compileLoad } from "./load/compiled-load.ts";
import { backlot, grpcJs, grpcServers } from "./peers/grpc-servers.ts";

export async function grpcBench(options: BenchOptions): Promise<string> {
  if (installMissing([compilerPackage, libcHeadersPackage, http2LibraryPackage]).length > 0) {
    throw new Error("Without a compiler and libnghttp2 there is no load.");
  }
  const load = compileLoad("grpc", ["nghttp2"]);
  try {
    const servers = grpcServers();
    const messages = await measureMessages(options, load, servers);
    const idle = await measureIdleStreams(options, load, servers);
    const bystander = await measureBystander(options, load, [grpcJs, backlot]);
    return [messages, idle, bystander].join("\n\n");
  } finally {
    load.remove();
  }
}

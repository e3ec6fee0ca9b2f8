import type { BenchOptions } from "./bench-options.ts";
import { compilerPackage, http2LibraryPackage, installMissing, libcHeadersPackage } from "./debian-packages.ts";
import { measureIdleStreams } from "./grpc-idle-streams.ts";
import { measureMessages } from "./grpc-messages.ts";
import { compileLoad } from "./load/compiled-load.ts";
import { grpcServers } from "./peers/grpc-servers.ts";

export async function grpcBench(options: BenchOptions): Promise<string> {
  if (installMissing([compilerPackage, libcHeadersPackage, http2LibraryPackage]).length > 0) {
    throw new Error("Without a compiler and libnghttp2 there is no load.");
  }
  const load = compileLoad("grpc", ["nghttp2"]);
  try {
    const servers = grpcServers();
    return [await measureMessages(options, load, servers), await measureIdleStreams(options, load, servers)].join("\n\n");
  } finally {
    load.remove();
  }
}

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { grpcCppPackages, grpcioPackages, installMissing } from "../debian-packages.ts";
import { freePort, progress, serverCore, startProcess } from "../harness.ts";
import { type StartedServer, startBacklotService, whenListening } from "./started-server.ts";

export interface GrpcServer {
  readonly name: string;
  start(): Promise<StartedServer>;
}

const protoFolder = path.resolve(import.meta.dirname, "../../servers/grpc/assets/proto");
const protoFile = path.join(protoFolder, "example.proto");
const cacheFolder = path.resolve(import.meta.dirname, "../../node_modules/.cache/backlot-bench");

export const grpcJs = peer("grpc-js, bare", process.execPath, [path.join(import.meta.dirname, "grpc-js.ts"), protoFile]);
const grpcioName = "grpcio, Python";
export const backlot: GrpcServer = {
  name: "Backlot, gRPC service",
  start: () =>
    startBacklotService("grpc", backlot.name, ["--grpc-metrics-port", "0", "--grpc-web-port", "0", "--grpc-concurrent-streams", "1000"]),
};
export const grpcio: GrpcServer = peer(grpcioName, "/usr/bin/python3", [path.join(import.meta.dirname, "grpc-python.py"), protoFolder]);

/** Those whose packages are here. */
export function grpcServers(): readonly GrpcServer[] {
  const python = installMissing(grpcioPackages).length === 0 ? [grpcio] : [];
  const cpp = installMissing(grpcCppPackages).length === 0 ? [peer("gRPC for C++", compiledServer(), [])] : [];
  return [grpcJs, ...python, ...cpp, backlot];
}

function peer(name: string, command: string, args: readonly string[]): GrpcServer {
  return {
    name,
    async start() {
      const port = await freePort();
      const server = startProcess({ command, args: [...args, String(port)], core: serverCore, env: { NODE_ENV: "production" } });
      return whenListening(server, port, name);
    },
  };
}

/** Compiling takes half a minute: what it gave is kept until a source changes. */
function compiledServer(): string {
  const source = path.join(import.meta.dirname, "grpc-cpp.cc");
  const hash = createHash("sha256").update(readFileSync(source)).update(readFileSync(protoFile)).digest("hex").slice(0, 16);
  const program = path.join(cacheFolder, `grpc-cpp-${hash}`);
  if (existsSync(program)) return program;
  progress("Compiling the C++ server ...");
  const folder = `${program}.making`;
  mkdirSync(folder, { recursive: true });
  const run = (command: string, args: readonly string[]) =>
    execFileSync(command, args, { cwd: folder, stdio: ["ignore", "pipe", "inherit"], encoding: "utf8" });
  const plugin = `--plugin=protoc-gen-grpc=${run("which", ["grpc_cpp_plugin"]).trim()}`;
  run("protoc", [`-I${protoFolder}`, "--cpp_out=.", "--grpc_out=.", plugin, "example.proto"]);
  const libraries = run("pkg-config", ["--cflags", "--libs", "grpc++", "protobuf"]).trim().split(/\s+/);
  run("g++", ["-O2", "-std=c++17", "-I.", "-o", "server", source, "example.pb.cc", "example.grpc.pb.cc", ...libraries]);
  renameSync(path.join(folder, "server"), program);
  rmSync(folder, { recursive: true });
  return program;
}

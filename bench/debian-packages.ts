import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { findProgram, progress } from "./harness.ts";

export interface Needed {
  readonly package: string;
  readonly use: string;
  isThere(): boolean;
}

export const wrkPackage: Needed = { package: "wrk", use: "to load the servers", isThere: () => findProgram("wrk") !== undefined };
export const gunicornPackage: Needed = {
  package: "gunicorn",
  use: "to serve httpbin",
  isThere: () => findProgram("gunicorn") !== undefined,
};
export const httpbinPackage: Needed = {
  package: "python3-httpbin",
  use: "to be compared with",
  // Debian's gunicorn runs Debian's Python, whatever python3 on the PATH is.
  isThere: () => succeeds("/usr/bin/python3", ["-c", "import httpbin"]),
};
export const chromiumPackage: Needed = {
  package: "chromium",
  use: "to show the dashboard",
  isThere: () => findProgram("chromium") !== undefined,
};
/** Debian keeps it where only root's PATH looks. */
export const mosquittoProgram = (): string | undefined =>
  findProgram("mosquitto") ?? ["/usr/sbin/mosquitto"].find((file) => existsSync(file));
export const mosquittoPackage: Needed = {
  package: "mosquitto",
  use: "to be compared with",
  isThere: () => mosquittoProgram() !== undefined,
};
export const coturnPackage: Needed = {
  package: "coturn",
  use: "to be compared with, and to generate the load",
  isThere: () => findProgram("turnserver") !== undefined && findProgram("turnutils_uclient") !== undefined,
};
export const compilerPackage: Needed = { package: "gcc", use: "to compile the load", isThere: () => findProgram("cc") !== undefined };
export const libcHeadersPackage: Needed = {
  package: "libc6-dev",
  use: "to compile the load",
  isThere: () => existsSync("/usr/include/stdio.h"),
};
export const http2LibraryPackage: Needed = {
  package: "libnghttp2-dev",
  use: "to compile the gRPC load",
  isThere: () => existsSync("/usr/include/nghttp2/nghttp2.h"),
};
export const grpcioPackages: readonly Needed[] = [
  {
    package: "python3-grpcio",
    use: "to be compared with",
    isThere: () => succeeds("/usr/bin/python3", ["-c", "import grpc"]),
  },
  {
    package: "python3-protobuf",
    use: "to be compared with",
    isThere: () => succeeds("/usr/bin/python3", ["-c", "import google.protobuf"]),
  },
  { package: "protobuf-compiler", use: "to generate code from example.proto", isThere: () => findProgram("protoc") !== undefined },
];
export const grpcCppPackages: readonly Needed[] = [
  { package: "g++", use: "to compile the C++ server", isThere: () => findProgram("g++") !== undefined },
  { package: "pkg-config", use: "to compile the C++ server", isThere: () => findProgram("pkg-config") !== undefined },
  { package: "libgrpc++-dev", use: "to be compared with", isThere: () => existsSync("/usr/include/grpcpp/grpcpp.h") },
  { package: "libprotobuf-dev", use: "to be compared with", isThere: () => existsSync("/usr/include/google/protobuf/message.h") },
  { package: "protobuf-compiler", use: "to generate code from example.proto", isThere: () => findProgram("protoc") !== undefined },
  {
    package: "protobuf-compiler-grpc",
    use: "to generate code from example.proto",
    isThere: () => findProgram("grpc_cpp_plugin") !== undefined,
  },
];

export const ffmpegPackage: Needed = {
  package: "ffmpeg",
  use: "to make the clip of the peer",
  isThere: () => findProgram("ffmpeg") !== undefined,
};
const importsRtspServer = 'import gi; gi.require_version("GstRtspServer", "1.0"); from gi.repository import GstRtspServer';
const gstElement = (element: string) =>
  `import gi; gi.require_version("Gst", "1.0"); from gi.repository import Gst; Gst.init(None); assert Gst.ElementFactory.find("${element}")`;
const python = (program: string) => () => succeeds("/usr/bin/python3", ["-c", program]);
export const gstRtspServerPackages: readonly Needed[] = [
  { package: "python3-gi", use: "to run gst-rtsp-server", isThere: python("import gi") },
  { package: "gir1.2-gst-rtsp-server-1.0", use: "to be compared with", isThere: python(importsRtspServer) },
  { package: "gstreamer1.0-plugins-good", use: "to run gst-rtsp-server", isThere: python(gstElement("rtph264pay")) },
  { package: "gstreamer1.0-plugins-bad", use: "to run gst-rtsp-server", isThere: python(gstElement("h264parse")) },
];

/** As root on Debian, installs what is missing; elsewhere names it. Returns what is missing still. */
export function installMissing(needed: readonly Needed[]): readonly Needed[] {
  let missing = needed.filter((one) => !one.isThere());
  if (missing.length === 0) return [];
  if (process.getuid?.() === 0 && findProgram("apt-get")) {
    const names = missing.map((one) => one.package);
    progress(`Installing ${names.join(", ")} (apt-get) ...`);
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    for (const args of [
      ["-qq", "update"],
      ["-qq", "install", "-y", "--no-install-recommends", ...names],
    ]) {
      try {
        execFileSync("apt-get", args, { env, stdio: ["ignore", 2, 2] });
      } catch {
        // What is missing is named below.
      }
    }
    missing = needed.filter((one) => !one.isThere());
  }
  for (const one of missing) progress(`Missing: Debian package ${one.package}, ${one.use}.`);
  return missing;
}

function succeeds(command: string, args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

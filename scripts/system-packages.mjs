/** The programs that the tests drive as real clients, from Debian's packages. */
import { existsSync } from "node:fs";
import path from "node:path";
import { fail, run } from "./setup.mjs";

/** Debian keeps GStreamer's plugins in a folder of the architecture. */
const gstreamerPlugin = (name) => `/usr/lib/${process.arch === "arm64" ? "aarch64" : "x86_64"}-linux-gnu/gstreamer-1.0/libgst${name}.so`;

/** Command or file that shows the package is there, and the package that brings it. */
const tools = [
  { command: "chromium", package: "chromium", use: "end-to-end tests of the dashboard" },
  { command: "curl", package: "curl", use: "the HTTP service's tests" },
  { command: "python3", package: "python3", use: "the HTTP service's tests" },
  // Its server's programs are not on the PATH; this one, of the same package, is.
  { command: "pg_ctlcluster", package: "postgresql", use: "the events service's tests with several instances" },
  { command: "redis-server", package: "redis-server", use: "the tests of the events service and the MQTT broker with several instances" },
  { command: "protoc", package: "protobuf-compiler", use: "the gRPC service's tests" },
  { file: "/usr/include/google/protobuf/descriptor.proto", package: "libprotobuf-dev", use: "the gRPC service's tests" },
  { file: "/usr/lib/python3/dist-packages/grpc", package: "python3-grpcio", use: "the gRPC service's tests" },
  { file: "/usr/lib/python3/dist-packages/google/protobuf", package: "python3-protobuf", use: "the gRPC service's tests" },
  { command: "ffmpeg", package: "ffmpeg", use: "the RTSP service's tests" },
  { command: "gst-launch-1.0", package: "gstreamer1.0-tools", use: "the RTSP service's tests" },
  ...[
    ["playback", "plugins-base"],
    ["rtsp", "plugins-good"],
    ["videoparsersbad", "plugins-bad"],
    ["x264", "plugins-ugly"],
    ["rtspclientsink", "rtsp"],
    ["libav", "libav"],
  ].map(([plugin, name]) => ({ file: gstreamerPlugin(plugin), package: `gstreamer1.0-${name}`, use: "the RTSP service's tests" })),
  { command: "turnutils_uclient", package: "coturn", use: "the tests of STUN and TURN" },
  { command: "mosquitto_pub", package: "mosquitto-clients", use: "the MQTT broker's tests" },
];

const find = (command) =>
  (process.env.PATH ?? "").split(path.delimiter).some((folder) => folder !== "" && existsSync(path.join(folder, command)));

const isThere = ({ command, file }) => (file === undefined ? find(command) : existsSync(file));

/**
 * As root on Debian, installs what is missing. Elsewhere names it: in CI that is a failure, on a contributor's
 * machine the tests that need it say so.
 */
export async function installSystemPackages() {
  let missing = tools.filter((tool) => !isThere(tool));
  if (missing.length === 0) return;
  if (process.platform === "linux" && process.getuid?.() === 0 && find("apt-get")) {
    const packages = missing.map((tool) => tool.package);
    console.error(`Installing ${packages.join(", ")} (apt-get) ...`);
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    await run("apt-get", ["-qq", "update"], { toStderr: true, env });
    await run("apt-get", ["-qq", "install", "-y", "--no-install-recommends", ...packages], { toStderr: true, env });
    missing = tools.filter((tool) => !isThere(tool));
  }
  for (const tool of missing)
    console.error(`Missing: ${tool.command ?? tool.file} (Debian package ${tool.package}), needed for ${tool.use}.`);
  if (missing.length > 0 && process.env.CI === "true") fail("In CI every tool must be there.");
}

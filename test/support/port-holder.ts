import { spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";
import type { PortTransport } from "../../contract/service.ts";
import { isPortFree } from "../../servers/supervisor/port-doctor.ts";

export interface PortHolder {
  readonly pid: number;
  readonly port: number;
}

const program = `
const [port, host, transport] = process.argv.slice(1);
if (transport === "udp") {
  const socket = require("node:dgram").createSocket("udp4");
  socket.bind(Number(port), host, () => console.log(socket.address().port));
} else {
  const server = require("node:net").createServer();
  server.listen(Number(port), host, () => console.log(server.address().port));
}
`;

/** A listener, or a UDP socket, in a process of its own, ended after the test. */
export async function holdPort(port = 0, host = "127.0.0.1", transport: PortTransport = "tcp"): Promise<PortHolder> {
  const child = spawn(process.execPath, ["-e", program, String(port), host, transport], { stdio: ["ignore", "pipe", "inherit"] });
  const closed = once(child, "close");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await closed;
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return { pid: child.pid ?? 0, port: Number(line.toString()) };
}

/** A UDP port that no connection of another program has by chance as a port of TCP. */
export async function holdUdpPort(): Promise<PortHolder> {
  for (let tried = 0; ; tried++) {
    const held = await holdPort(0, "127.0.0.1", "udp");
    if (tried === 20 || (await isPortFree(held.port, false, "tcp"))) return held;
  }
}

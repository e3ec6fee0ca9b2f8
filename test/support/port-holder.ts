import { spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";

const program = `
const server = require("node:net").createServer();
server.listen(Number(process.argv[1] ?? 0), process.argv[2] ?? "127.0.0.1", () => console.log(server.address().port));
`;

/** A listener in a process of its own, ended after the test. */
export async function holdPort(port = 0, host = "127.0.0.1"): Promise<{ readonly pid: number; readonly port: number }> {
  const child = spawn(process.execPath, ["-e", program, String(port), host], { stdio: ["ignore", "pipe", "inherit"] });
  const closed = once(child, "close");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await closed;
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return { pid: child.pid ?? 0, port: Number(line.toString()) };
}

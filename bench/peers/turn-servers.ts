import { mkdtempSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { freePort, serverCore, startProcess } from "../harness.ts";
import { type StartedServer, whenListening } from "./started-server.ts";

export interface TurnServerProgram {
  readonly name: string;
  start(): Promise<StartedServer>;
}

export const turnUser = { name: "bench", password: "secret" };

/** Of the WebRTC service, alone. */
export const backlot: TurnServerProgram = {
  name: "Backlot, TURN",
  async start() {
    const port = await freePort();
    const args = [path.join(import.meta.dirname, "turn-engine.ts"), String(port), turnUser.name, turnUser.password];
    return whenListening(startProcess({ command: process.execPath, args, core: serverCore }), port, backlot.name);
  },
};

/** As Debian has it, on loopback and without its log. */
export const coturn: TurnServerProgram = {
  name: "coturn",
  async start() {
    const port = await freePort();
    const folder = mkdtempSync(path.join(os.tmpdir(), "backlot-bench-coturn-"));
    const file = path.join(folder, "turnserver.conf");
    const lines = [
      ...["listening-ip=127.0.0.1", "relay-ip=127.0.0.1", `listening-port=${port}`, "realm=backlot"],
      ...["lt-cred-mech", `user=${turnUser.name}:${turnUser.password}`, "allow-loopback-peers"],
      ...["no-cli", "no-tls", "no-dtls", "log-file=/dev/null", "simple-log"],
      ...[`userdb=${path.join(folder, "turndb")}`, `pidfile=${path.join(folder, "turnserver.pid")}`],
    ];
    writeFileSync(file, `${lines.join("\n")}\n`);
    return whenListening(startProcess({ command: "turnserver", args: ["-c", file], core: serverCore, folder }), port, coturn.name);
  },
};

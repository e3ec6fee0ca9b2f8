import { mkdtempSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { mosquittoProgram } from "../debian-packages.ts";
import { freePort, serverCore, startProcess } from "../harness.ts";
import { type StartedServer, startBacklotService, whenListening } from "./started-server.ts";

export type MqttVersion = 4 | 5;

export interface MqttBroker {
  readonly name: string;
  readonly versions: readonly MqttVersion[];
  start(): Promise<StartedServer>;
}

export const [mosquitto, aedes, backlot]: readonly [MqttBroker, MqttBroker, MqttBroker] = [
  { name: "mosquitto", versions: [4, 5], start: startMosquitto },
  { name: "aedes, bare", versions: [4], start: startAedes },
  {
    name: "Backlot, MQTT service",
    versions: [4, 5],
    start: () => startBacklotService("mqtt", backlot.name, ["--mqtt-tls=false", "--mqtt-web-socket=false"]),
  },
];

export const mqttBrokers = [mosquitto, aedes, backlot];

/** As Debian has it, without its log: what it allows and keeps are its defaults. */
async function startMosquitto(): Promise<StartedServer> {
  const port = await freePort();
  const folder = mkdtempSync(path.join(os.tmpdir(), "backlot-bench-mosquitto-"));
  const file = path.join(folder, "mosquitto.conf");
  writeFileSync(file, `listener ${port} 127.0.0.1\nallow_anonymous true\nlog_dest none\npersistence false\n`);
  const server = startProcess({ command: mosquittoProgram() ?? "mosquitto", args: ["-c", file], core: serverCore, folder });
  return whenListening(server, port, mosquitto.name);
}

async function startAedes(): Promise<StartedServer> {
  const port = await freePort();
  const args = [path.join(import.meta.dirname, "mqtt-aedes.ts"), String(port)];
  const server = startProcess({ command: process.execPath, args, core: serverCore, env: { NODE_ENV: "production" } });
  return whenListening(server, port, aedes.name);
}

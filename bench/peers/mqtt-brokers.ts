import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import os from "node:os";
import path from "node:path";
import { startBacklot } from "../backlot-program.ts";
import { openControlSocket } from "../control-socket.ts";
import { mosquittoProgram } from "../debian-packages.ts";
import { freePort, type StartedProcess, serverCore, sleep, startProcess } from "../harness.ts";
import { processTree } from "../process-tree.ts";

export type MqttVersion = 4 | 5;

export interface MqttBroker {
  readonly name: string;
  readonly versions: readonly MqttVersion[];
  start(): Promise<StartedMqttBroker>;
}

export interface StartedMqttBroker {
  readonly port: number;
  /** The process that serves the clients first. */
  readonly parts: readonly { readonly name: string; pids(): readonly number[] }[];
  stop(): Promise<void>;
}

export const [mosquitto, aedes, backlot]: readonly [MqttBroker, MqttBroker, MqttBroker] = [
  { name: "mosquitto", versions: [4, 5], start: startMosquitto },
  { name: "aedes, bare", versions: [4], start: startAedes },
  { name: "Backlot, MQTT service", versions: [4, 5], start: startBacklotMqtt },
];

export const mqttBrokers = [mosquitto, aedes, backlot];

/** As Debian has it, without its log: what it allows and keeps are its defaults. */
async function startMosquitto(): Promise<StartedMqttBroker> {
  const port = await freePort();
  const folder = mkdtempSync(path.join(os.tmpdir(), "backlot-bench-mosquitto-"));
  const file = path.join(folder, "mosquitto.conf");
  writeFileSync(file, `listener ${port} 127.0.0.1\nallow_anonymous true\nlog_dest none\npersistence false\n`);
  const server = startProcess({ command: mosquittoProgram() ?? "mosquitto", args: ["-c", file], core: serverCore, folder });
  return whenListening(server, port, mosquitto.name);
}

async function startAedes(): Promise<StartedMqttBroker> {
  const port = await freePort();
  const args = [path.join(import.meta.dirname, "mqtt-aedes.ts"), String(port)];
  const server = startProcess({ command: process.execPath, args, core: serverCore, env: { NODE_ENV: "production" } });
  return whenListening(server, port, aedes.name);
}

/** With a client of the control protocol in the place of the page: it is told of every row that is recorded. */
async function startBacklotMqtt(): Promise<StartedMqttBroker> {
  const flags = ["--mqtt-tls=false", "--mqtt-web-socket=false"];
  const server = await startBacklot({ services: ["mqtt"], port: await freePort(), flags, core: serverCore });
  const dashboard = await openControlSocket(server.dashboardUrl);
  dashboard.subscribe("traffic/mqtt", () => {});
  const service = server.servicePid();
  return {
    port: Number(new URL(server.url).port),
    parts: [
      { name: backlot.name, pids: () => [service] },
      { name: "Backlot, all processes", pids: () => processTree(server.pid) },
    ],
    async stop() {
      dashboard.close();
      await server.stop();
    },
  };
}

async function whenListening(server: StartedProcess, port: number, name: string): Promise<StartedMqttBroker> {
  for (let attempt = 0; attempt < 100; attempt++) {
    if (server.child.exitCode !== null) break;
    const socket = connect(port, "127.0.0.1");
    const connected = await Promise.race([once(socket, "connect").then(() => true), once(socket, "close").then(() => false)]).catch(
      () => false,
    );
    socket.destroy();
    if (connected) return { port, parts: [{ name, pids: () => [server.pid] }], stop: server.stop };
    await sleep(100);
  }
  throw new Error(`${name} does not listen: ${server.errorText()}`);
}

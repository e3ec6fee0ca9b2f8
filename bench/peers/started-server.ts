import { once } from "node:events";
import { connect } from "node:net";
import { type BenchService, startBacklot } from "../backlot-program.ts";
import { openControlSocket } from "../control-socket.ts";
import { freePort, type StartedProcess, serverCore, sleep } from "../harness.ts";
import { processTree } from "../process-tree.ts";

export interface StartedServer {
  readonly port: number;
  /** The process that serves the clients first. */
  readonly parts: readonly { readonly name: string; pids(): readonly number[] }[];
  stop(): Promise<void>;
}

/** One service of Backlot, with a client of the control protocol in the place of the page: it receives every recorded row. */
export async function startBacklotService(service: BenchService, name: string, flags: readonly string[]): Promise<StartedServer> {
  const server = await startBacklot({ services: [service], port: await freePort(), flags, core: serverCore });
  const dashboard = await openControlSocket(server.dashboardUrl);
  dashboard.subscribe(`traffic/${service}`, () => {});
  const pid = server.servicePid();
  return {
    port: Number(new URL(server.url).port),
    parts: [
      { name, pids: () => [pid] },
      { name: "Backlot, all processes", pids: () => processTree(server.pid) },
    ],
    async stop() {
      dashboard.close();
      await server.stop();
    },
  };
}

/** A peer once it accepts connections. */
export async function whenListening(server: StartedProcess, port: number, name: string): Promise<StartedServer> {
  for (let attempt = 0; attempt < 300; attempt++) {
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

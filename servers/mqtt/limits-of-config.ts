import type { Log } from "../core/service/log.ts";
import type { EngineLimits } from "./engine/engine-limits.ts";
import type { MqttConfig } from "./mqtt-config.ts";

/** Files of the process that are no clients' sockets: listeners, the database, the link to the supervisor, pages of Node. */
const ownFiles = 64;
/** Of the sockets that may be open, this part is for clients that are connected: the others can be told that there are no more places. */
const clientsPart = 0.95;

/** What the configuration allows, as far as the system does: `openFiles` is its limit for this process. */
export function limitsOfConfig(config: MqttConfig, openFiles: number, log: Pick<Log, "info">): EngineLimits {
  const { packetBytes, ...limits } = config;
  const sockets = Math.max(ownFiles, Math.min(2 * config.clients, openFiles - ownFiles));
  const clients = Math.min(config.clients, Math.floor(sockets * clientsPart));
  if (clients < config.clients) {
    const [places, files] = [clients, openFiles].map((count) => count.toLocaleString("en"));
    log.info(`${places} clients may connect at once and not more: the system allows ${files} open files (raise it with ulimit -n).`);
  }
  return { ...limits, maximumPacketSize: packetBytes, sockets, clients };
}

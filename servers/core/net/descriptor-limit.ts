import { readFileSync } from "node:fs";

/** Files and sockets that the system lets this process open; infinite where it says none. Node raises its soft limit to the hard one when it starts. */
export function openFilesLimit(): number {
  switch (process.platform) {
    case "win32":
      return Number.POSITIVE_INFINITY;
    case "linux":
      try {
        return limitIn(readFileSync("/proc/self/limits", "utf8"));
      } catch {
        return Number.POSITIVE_INFINITY;
      }
    default: {
      // Without it the report looks up the names of all addresses.
      Object.assign(process.report, { excludeNetwork: true });
      const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
      const soft = userLimits?.open_files?.soft;
      return typeof soft === "number" ? soft : Number.POSITIVE_INFINITY;
    }
  }
}

/** The soft limit in the text of /proc/self/limits. */
export function limitIn(limits: string): number {
  const soft = /^Max open files +(\d+)/m.exec(limits)?.[1];
  return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
}

/** For what a service has open beside the connections of its clients: modules, its files, sockets to Backlot and to other servers. */
const reserved = 64;

/** Connections that can be open in a process that may open so many files. */
export const connectionsWithin = (openFiles: number): number => Math.max(Math.floor(openFiles / 2), openFiles - reserved);

const connectionField = /^(?:connections|\w+Connections)$/;

/** The sum of the bounds of connections in a configuration; where it has none, the bound of one address. */
export function configuredConnections(config: Readonly<Record<string, unknown>>): number {
  const bounds = Object.entries(config).filter(([name]) => connectionField.test(name));
  const counted = bounds.length > 0 ? bounds.map(([, value]) => value) : [config.connectionsPerAddress];
  return counted.reduce<number>((sum, value) => (typeof value === "number" ? sum + value : sum), 0);
}

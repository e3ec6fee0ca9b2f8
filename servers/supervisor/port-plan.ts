import type { PortTransport, ServiceId } from "../../contract/service.ts";
import type { Service, ServicePort } from "../core/service/service.ts";
import { isPortFree, nextFreePort, portHolder } from "./port-doctor.ts";

/** A port, or a range of them, that a service is set to use. */
export interface PortUse {
  readonly service: ServiceId;
  readonly title: string;
  readonly field: string;
  readonly fieldTitle: string;
  readonly transport: PortTransport;
  readonly first: number;
  readonly last: number;
  readonly openToLan: boolean;
}

/** The ports that a configuration uses, including 0, which means any free port. */
export function portUses(service: Service, config: Readonly<Record<string, unknown>>): PortUse[] {
  const titleOf = (field: string) => service.config.shape[field]?.meta()?.title;
  return service.ports
    .filter((port) => port.isUsed?.(config) ?? true)
    .map(({ field, transport, range }: ServicePort): PortUse => {
      const first = Number(config[field]);
      return {
        service: service.id,
        title: service.title,
        field,
        fieldTitle: String(titleOf(field) ?? field),
        transport,
        first,
        last: range === undefined ? first : Math.max(first, Number(config[range])),
        openToLan: config.openToLan === true,
      };
    });
}

export interface PortProblem {
  /** "Port 8080 is taken by nginx (pid 812)" */
  readonly message: string;
  /** Whether a program holds it that the user can stop. */
  readonly isForeign: boolean;
  readonly next?: number;
}

export interface PortPlan {
  /** The problem with a port of a service's configuration, or undefined. */
  check(use: PortUse): Promise<PortProblem | undefined>;
  /** As `check`, after a failed bind: always returns a reason. */
  explain(use: PortUse, port: number): Promise<PortProblem>;
}

export interface PortPlanOptions {
  readonly uses: () => readonly PortUse[];
  /** Ports of services that are not in this version yet. */
  readonly planned: readonly number[];
  /** Names of Backlot's own processes by process id. */
  readonly ownProcesses: () => ReadonlyMap<number, string>;
}

/** Knows the configured ports of all services, so that none of them is ever proposed. */
export function createPortPlan({ uses, planned, ownProcesses }: PortPlanOptions): PortPlan {
  function reservedPorts(): Set<number> {
    const reserved = new Set(planned);
    for (const { first, last } of uses()) for (let port = first; port <= last; port++) reserved.add(port);
    return reserved;
  }

  /** Another field, of the same service or another, that is set to the same port. */
  const conflictOf = (use: PortUse): PortUse | undefined =>
    uses().find(
      (other) =>
        (other.service !== use.service || other.field !== use.field) &&
        other.transport === use.transport &&
        other.first !== 0 &&
        other.first <= use.last &&
        use.first <= other.last,
    );

  async function problem(use: PortUse, port: number, message: string, isForeign: boolean): Promise<PortProblem> {
    // Ranges are left to the user.
    if (use.last !== use.first) return { message, isForeign };
    const transports = uses().flatMap(({ service, field, transport }) =>
      service === use.service && field === use.field ? [transport] : [],
    );
    const next = await nextFreePort(port, { openToLan: use.openToLan, transports, reserved: reservedPorts() });
    return { message, isForeign, ...(next !== undefined && { next }) };
  }

  function conflictText(use: PortUse, conflict: PortUse): string {
    const port = Math.max(use.first, conflict.first);
    const at = use.transport === "udp" ? `UDP port ${port}` : port;
    if (use.service === conflict.service) return `${use.title}: ${use.fieldTitle} and ${conflict.fieldTitle} are both set to ${at}`;
    return `${conflict.title} and ${use.title} are both set to ${at}`;
  }

  async function explain(use: PortUse, port: number): Promise<PortProblem> {
    const name = use.transport === "udp" ? `UDP port ${port}` : `Port ${port}`;
    const holder = await portHolder(port, use.transport);
    const own = holder && ownProcesses().get(holder.pid);
    const conflict = conflictOf(use);
    if (conflict && (holder === undefined || own !== undefined)) return problem(use, port, conflictText(use, conflict), false);
    if (own !== undefined) return problem(use, port, `${name} is taken by ${own}`, false);
    return problem(use, port, `${name} is taken by ${holder ? `${holder.name} (pid ${holder.pid})` : "another program"}`, true);
  }

  return {
    explain,
    async check(use) {
      if (use.first === 0) return undefined;
      const conflict = conflictOf(use);
      if (conflict) return problem(use, use.first, conflictText(use, conflict), false);
      // In a range the service skips ports that are taken.
      if (use.first !== use.last || (await isPortFree(use.first, use.openToLan, use.transport))) return undefined;
      return explain(use, use.first);
    },
  };
}

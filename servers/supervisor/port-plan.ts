import type { PortTransport, ServiceId } from "../../contract/service.ts";
import type { PortBlock, Service, ServicePort } from "../core/service/service.ts";
import { holderText, isPortFree, nextFreePort, portHolder } from "./port-doctor.ts";

/** A port, or a block of ports, that a service is set to use. */
export interface PortUse {
  readonly service: ServiceId;
  readonly title: string;
  readonly field: string;
  readonly fieldTitle: string;
  readonly transport: PortTransport;
  readonly kind: "single" | PortBlock["kind"];
  readonly first: number;
  readonly last: number;
  readonly openToLan: boolean;
}

/** The ports that a configuration uses, including 0, which means any free port. */
export const portUses = (service: Service, config: Readonly<Record<string, unknown>>): PortUse[] =>
  usesOf(
    service,
    config,
    service.ports.filter((port) => port.isUsed?.(config) ?? true),
  );

/** Also the ports of what is switched off. */
export const configuredPorts = (service: Service, config: Readonly<Record<string, unknown>>): PortUse[] =>
  usesOf(service, config, service.ports);

function usesOf(service: Service, config: Readonly<Record<string, unknown>>, ports: readonly ServicePort[]): PortUse[] {
  const titleOf = (field: string) => service.config.shape[field]?.meta()?.title;
  return ports.map(({ field, transport, block }): PortUse => {
    const first = Number(config[field]);
    return {
      service: service.id,
      title: service.title,
      field,
      fieldTitle: String(titleOf(field) ?? field),
      transport,
      kind: block?.kind ?? "single",
      first,
      last: lastPort(first, block, config),
      openToLan: config.openToLan === true,
    };
  });
}

function lastPort(first: number, block: PortBlock | undefined, config: Readonly<Record<string, unknown>>): number {
  // Any free port: there is no block yet.
  if (first === 0 || !block) return first;
  switch (block.kind) {
    case "range":
      return Math.max(first, Number(config[block.lastField]));
    case "pair":
      return first + 1;
    case "destinations":
      return first + block.count - 1;
    default:
      return block satisfies never;
  }
}

const portsOf = ({ first, last }: PortUse): number[] => Array.from({ length: last - first + 1 }, (_, index) => first + index);

/** Whether the service listens on all ports of it, so that each of them has to be free. */
const needsAll = ({ kind }: PortUse): boolean => kind === "single" || kind === "pair";

export interface PortProblem {
  /** "Port 8080 is taken by nginx (pid 812)" */
  readonly message: string;
  /** Whether a program holds it that the user can stop. */
  readonly isForeign: boolean;
  /** Two fields of the service have it: advice names the one that is to change. */
  readonly isOfTwoFields?: boolean;
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
  /** Also those of what is switched off: it may be switched on later. */
  readonly configured: () => readonly PortUse[];
  /** Ports of services that are not in this version yet. */
  readonly planned: readonly number[];
  /** Names of Backlot's own processes by process id. */
  readonly ownProcesses: () => ReadonlyMap<number, string>;
}

/** Knows the configured ports of all services, so that none of them is ever proposed. */
export function createPortPlan({ uses, configured, planned, ownProcesses }: PortPlanOptions): PortPlan {
  /** Ports that are only sent to are no obstacle for the other transport. */
  const reservedPorts = (transports: readonly PortTransport[]): Set<number> =>
    new Set([
      ...planned,
      ...configured()
        .filter((use) => use.kind !== "destinations" || transports.includes(use.transport))
        .flatMap(portsOf),
    ]);

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

  async function conflictProblem(use: PortUse, conflict: PortUse): Promise<PortProblem> {
    const found = await problem(use, conflictText(use, conflict), false);
    return { ...found, isOfTwoFields: use.service === conflict.service };
  }

  async function problem(use: PortUse, message: string, isForeign: boolean): Promise<PortProblem> {
    // Where the service does not need all ports, the choice is left to the user.
    if (!needsAll(use)) return { message, isForeign };
    const transports = uses().flatMap(({ service, field, transport }) =>
      service === use.service && field === use.field ? [transport] : [],
    );
    const reserved = reservedPorts(transports);
    const next = await nextFreePort(use.first, { openToLan: use.openToLan, transports, reserved, isPair: use.kind === "pair" });
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
    if (conflict && (holder === undefined || own !== undefined)) return conflictProblem(use, conflict);
    if (own !== undefined) return problem(use, `${name} is taken by ${own}`, false);
    return problem(use, `${name} is taken by ${holderText(holder)}`, true);
  }

  return {
    explain,
    async check(use) {
      if (use.first === 0) return undefined;
      const conflict = conflictOf(use);
      if (conflict) return conflictProblem(use, conflict);
      if (!needsAll(use)) return undefined;
      for (const port of portsOf(use)) if (!(await isPortFree(port, use.openToLan, use.transport))) return explain(use, port);
      return undefined;
    },
  };
}

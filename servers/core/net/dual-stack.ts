import type { PortTransport } from "../../../contract/service.ts";
import { ServiceError } from "../service/service-error.ts";

export interface BoundSocket {
  readonly port: number;
  close(): Promise<void>;
}

export interface DualStackOptions {
  readonly port: number;
  readonly transport: PortTransport;
  /** Every address of the machine instead of loopback only. */
  readonly openToLan: boolean;
  /** Called with the function that closes each socket, also when a later bind fails. */
  readonly onStop: (release: () => Promise<void>) => void;
  /** Binds one address; rejects with the system's error. */
  readonly bind: (port: number, host: string) => Promise<BoundSocket>;
}

const attempts = 20;

/**
 * Binds 127.0.0.1 and, where the machine has it, ::1, on one port; open to the LAN 0.0.0.0 and ::.
 * Port 0 picks one that is free on both. Resolves with the port. Throws PORT_IN_USE, PORT_FORBIDDEN or ADDRESS_UNAVAILABLE.
 */
export async function bindDualStack({ port, transport, openToLan, onStop, bind }: DualStackOptions): Promise<number> {
  const [ipv4, ipv6] = openToLan ? (["0.0.0.0", "::"] as const) : (["127.0.0.1", "::1"] as const);
  const bindOne = (wanted: number, host: string) =>
    bind(wanted, host).catch((error: unknown) => {
      throw bindError(error, transport, wanted, host);
    });
  for (let attempt = 1; ; attempt++) {
    const first = await bindOne(port, ipv4);
    try {
      const second = await bindOne(first.port, ipv6);
      onStop(first.close);
      onStop(second.close);
      return first.port;
    } catch (error) {
      if (isUnavailable(error)) {
        // A machine without IPv6 still serves.
        onStop(first.close);
        return first.port;
      }
      await first.close();
      if (port !== 0 || attempt === attempts) throw error;
    }
  }
}

/** Of a bind that failed. */
export function bindError(cause: unknown, transport: PortTransport, port: number, host: string): ServiceError {
  const code = (cause as NodeJS.ErrnoException).code;
  const name = transport === "udp" ? `UDP port ${port}` : `Port ${port}`;
  const where = { cause, port, transport };
  if (code === "EADDRINUSE")
    return new ServiceError("PORT_IN_USE", `${name} is taken`, "Stop the program that holds it, or choose another port.", where);
  if (code === "EACCES")
    return new ServiceError("PORT_FORBIDDEN", `${name} may not be used by this user`, "Choose a port of 1024 or above.", where);
  return new ServiceError("ADDRESS_UNAVAILABLE", `Cannot listen on ${host} port ${port} (${code})`, "Check this computer's network.", {
    cause,
  });
}

const isUnavailable = (error: unknown) => error instanceof ServiceError && error.code === "ADDRESS_UNAVAILABLE";

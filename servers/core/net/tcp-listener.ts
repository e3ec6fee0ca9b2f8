import { once } from "node:events";
import type { Server } from "node:net";
import { ServiceError } from "../service/service-error.ts";

export interface ListenOptions {
  readonly port: number;
  /** Every address of the machine instead of loopback only. */
  readonly openToLan: boolean;
  /** Makes one server; called once an address, so each has the same handlers. */
  readonly createServer: () => Server;
  /** Told of each server that listens, so that a failure half-way releases the first. */
  readonly onStop: (release: () => Promise<void>) => void;
}

const attempts = 20;

/**
 * Listens on 127.0.0.1 and, where the machine has it, ::1, on one port; open to the LAN on 0.0.0.0 and ::.
 * Port 0 picks one that is free on both. Resolves with the port. Throws PORT_IN_USE, PORT_FORBIDDEN or ADDRESS_UNAVAILABLE.
 */
export async function listenTcp(options: ListenOptions): Promise<number> {
  const [ipv4, ipv6] = options.openToLan ? (["0.0.0.0", "::"] as const) : (["127.0.0.1", "::1"] as const);
  for (let attempt = 1; ; attempt++) {
    const first = options.createServer();
    await listen(first, options.port, ipv4);
    const port = portOf(first);
    const second = options.createServer();
    try {
      await listen(second, port, ipv6);
    } catch (error) {
      if (isUnavailable(error)) {
        // A machine without IPv6 still serves.
        options.onStop(() => close(first));
        return port;
      }
      await close(first);
      if (options.port === 0 && attempt < attempts) continue;
      throw error;
    }
    options.onStop(() => close(first));
    options.onStop(() => close(second));
    return port;
  }
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  server.listen({ port, host, ipv6Only: host.includes(":"), backlog: 2_048 });
  try {
    await once(server, "listening");
  } catch (error) {
    throw listenError(error, port, host);
  }
}

function listenError(cause: unknown, port: number, host: string): ServiceError {
  const code = (cause as NodeJS.ErrnoException).code;
  if (code === "EADDRINUSE") {
    return new ServiceError("PORT_IN_USE", `Port ${port} is taken`, "Stop the program that holds it, or choose another port.", {
      cause,
      port,
    });
  }
  if (code === "EACCES") {
    return new ServiceError("PORT_FORBIDDEN", `Port ${port} may not be used by this user`, "Choose a port of 1024 or above.", {
      cause,
      port,
    });
  }
  return new ServiceError("ADDRESS_UNAVAILABLE", `Cannot listen on ${host} port ${port} (${code})`, "Check this computer's network.", {
    cause,
  });
}

const isUnavailable = (error: unknown) => error instanceof ServiceError && error.code === "ADDRESS_UNAVAILABLE";

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a listening TCP server has an address");
  return address.port;
}

const close = (server: Server) =>
  new Promise<void>((resolve) => {
    server.close(() => resolve());
    if ("closeAllConnections" in server && typeof server.closeAllConnections === "function") server.closeAllConnections();
  });

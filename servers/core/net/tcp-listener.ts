import { once } from "node:events";
import type { Server } from "node:net";
import { type BoundSocket, bindDualStack, type DualStackOptions } from "./dual-stack.ts";
import { addOpenSockets } from "./open-sockets.ts";
import type { ServicePlaces } from "./process-places.ts";

export interface ListenOptions extends Pick<DualStackOptions, "port" | "openToLan" | "onStop"> {
  /** Makes one server; called once per address, so each has the same handlers. */
  readonly createServer: () => Server;
  /** The bound that the service has for its connections: for one that it refuses, no other connection of the process gives way. */
  readonly places?: ServicePlaces | undefined;
  /** For a service with turns of its own: a connection was accepted, or refused. */
  readonly onAccepted?: (() => void) | undefined;
}

/** See `bindDualStack`. */
export const listenTcp = ({ createServer, places, onAccepted, ...options }: ListenOptions): Promise<number> => {
  function createCounted(): Server {
    const server = createServer();
    addOpenSockets(server, places);
    if (onAccepted) server.on("connection", onAccepted);
    return server;
  }
  return bindDualStack({ ...options, transport: "tcp", bind: (port, host) => listen(createCounted(), port, host) });
};

async function listen(server: Server, port: number, host: string): Promise<BoundSocket> {
  server.listen({ port, host, ipv6Only: host.includes(":"), backlog: 2_048 });
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a listening TCP server has an address");
  return { port: address.port, close: () => close(server) };
}

const close = (server: Server) =>
  new Promise<void>((resolve) => {
    server.close(() => resolve());
    if ("closeAllConnections" in server && typeof server.closeAllConnections === "function") server.closeAllConnections();
  });

import type { Server, Socket } from "node:net";

/** The listeners that the server has get those connections only for which `admit` is true; it closes the others. `given` is called after they have one. */
export function guardConnections(server: Server, admit: (socket: Socket) => boolean, given?: (socket: Socket) => void): void {
  const takers = server.listeners("connection") as ((socket: Socket) => void)[];
  server.removeAllListeners("connection");
  // `TlsAdmission` calls it for a server of its own.
  server.on("connection", function (this: Server, socket: Socket) {
    if (!admit(socket)) return;
    for (const take of takers) take.call(this, socket);
    given?.(socket);
  });
}

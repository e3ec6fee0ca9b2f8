import type { Socket } from "node:net";

const lingerMs = 500;

/** Ends our side and reads on for a moment: closing with unread bytes would reset the connection, and the answer be lost with it. */
export function lingeringClose(socket: Socket, last = ""): void {
  socket.end(last);
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
}

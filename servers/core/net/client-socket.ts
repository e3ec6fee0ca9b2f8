import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { ConnectionHead } from "../../../contract/traffic/connection.ts";

/** An IPv4 client of a socket for both versions has an address such as "::ffff:127.0.0.1". */
export const plainAddress = (address: string): string => (address.startsWith("::ffff:") ? address.slice(7) : address);

/** "127.0.0.1:53110", "[::1]:53110"; empty if the peer has already disconnected. */
export function addressText(address: string | undefined, port: number | undefined): string {
  if (address === undefined || port === undefined) return "";
  const plain = plainAddress(address);
  return plain.includes(":") ? `[${plain}]:${port}` : `${plain}:${port}`;
}

/** What the record of a connection says, when it is opened. */
export const connectionHead = (id: number, socket: Socket): ConnectionHead => ({
  id,
  remote: addressText(socket.remoteAddress, socket.remotePort),
  local: addressText(socket.localAddress, socket.localPort),
  openedAt: Date.now(),
  tls: socket instanceof TLSSocket ? (socket.getProtocol() ?? "TLS") : undefined,
});

/** How long a client may take to read the last bytes and close. */
const lingerMs = 1_000;

/** Ends our side and reads on for a moment: closing with unread bytes would reset the connection, and the last bytes be lost with it. */
export function lingeringClose(socket: Socket, last = ""): void {
  socket.end(last);
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
}

import { Socket } from "node:dgram";
import os from "node:os";

/** Those of this process that are bound to the port, at one address or at any. */
export function socketsAt(port: number, address?: string): readonly Socket[] {
  const { _getActiveHandles: handles } = process as unknown as { _getActiveHandles(): unknown[] };
  return handles
    .call(process)
    .filter((handle): handle is Socket => handle instanceof Socket)
    .filter((socket) => {
      const bound = boundTo(socket);
      return bound?.port === port && (address === undefined || bound.address === address);
    });
}

/** Undefined of one that is closed, or not bound yet. */
function boundTo(socket: Socket) {
  try {
    return socket.address();
  } catch {
    return undefined;
  }
}

/** An IPv4 address of this computer in a network; undefined where it has none. */
export const lanAddress = Object.values(os.networkInterfaces())
  .flatMap((list) => list ?? [])
  .find(({ internal, family }) => !internal && family === "IPv4")?.address;

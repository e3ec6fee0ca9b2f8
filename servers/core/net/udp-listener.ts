import { createSocket, type RemoteInfo, type Socket, type SocketOptions } from "node:dgram";
import { lookup } from "node:dns";
import { once } from "node:events";
import { isIP } from "node:net";
import { type BoundSocket, bindDualStack, type DualStackOptions } from "./dual-stack.ts";

export interface ListenUdpOptions extends Pick<DualStackOptions, "port" | "openToLan" | "onStop"> {
  /** Answer on the socket that received the datagram: `socket.send(bytes, from.port, from.address)`. */
  readonly onMessage: (datagram: Buffer, from: RemoteInfo, socket: Socket) => void;
  /** An error of one socket after it was bound, such as ECONNREFUSED. The socket stays open. */
  readonly onError?: (error: Error) => void;
  /** Each socket once it listens: for a service that sends without being asked. */
  readonly onSocket?: (socket: Socket, family: "IPv4" | "IPv6") => void;
  /** Size of the system's receive buffer in bytes; datagrams beyond it are dropped. Systems have an upper limit. Of each queue. */
  readonly receiveBufferBytes?: number;
  /**
   * Sockets that share the port, on Linux: the system puts all datagrams of a client into the queue of one of them, so that a client that sends
   * faster than it is read fills one of several. 1 unless given.
   */
  readonly queues?: number;
}

const defaultReceiveBufferBytes = 1 << 20;

/** Node looks up the destination of every datagram, and takes another turn of the event loop for it even where it is an address. */
const lookupAddress: SocketOptions["lookup"] = (host, options, callback) => {
  const family = isIP(host);
  if (family === 0) lookup(host, options, callback);
  else callback(null, host, family);
};

/**
 * See `bindDualStack`. No program can take the port beside it. With queues, one that shares its ports (SO_REUSEPORT) can, and Backlot would not; it
 * binds the port alone before.
 */
export const listenUdp = (options: ListenUdpOptions): Promise<number> =>
  bindDualStack({
    ...options,
    transport: "udp",
    async bind(port, host): Promise<BoundSocket> {
      const alone = await bindSocket(port, host, options, false);
      const bound = alone.address().port;
      const { queues = 1, onMessage, onError = () => {}, onSocket } = options;
      const sockets = [alone];
      if (queues > 1 && process.platform === "linux") {
        await closed(alone);
        sockets.length = 0;
        for (let count = 0; count < queues; count++) sockets.push(await bindSocket(bound, host, options, true));
      }
      for (const socket of sockets) {
        socket.on("message", (datagram, from) => onMessage(datagram, from, socket));
        socket.on("error", onError);
        onSocket?.(socket, host.includes(":") ? "IPv6" : "IPv4");
      }
      return { port: bound, close: async () => void (await Promise.all(sockets.map(closed))) };
    },
  });

const closed = (socket: Socket): Promise<void> => new Promise((resolve) => socket.close(() => resolve()));

async function bindSocket(port: number, host: string, { receiveBufferBytes }: ListenUdpOptions, reusePort: boolean): Promise<Socket> {
  const isIpv6 = host.includes(":");
  const recvBufferSize = receiveBufferBytes ?? defaultReceiveBufferBytes;
  const type = isIpv6 ? "udp6" : "udp4";
  const socket = createSocket({ type, ipv6Only: isIpv6, reuseAddr: false, reusePort, recvBufferSize, lookup: lookupAddress });
  const listening = once(socket, "listening");
  socket.bind({ port, address: host, exclusive: true });
  try {
    await listening;
  } catch (error) {
    socket.close();
    throw error;
  }
  return socket;
}

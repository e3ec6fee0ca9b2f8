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
  /** Size of the system's receive buffer in bytes; datagrams beyond it are dropped. Systems have an upper limit. */
  readonly receiveBufferBytes?: number;
}

const defaultReceiveBufferBytes = 1 << 20;

/** Node looks up the destination of every datagram, and takes another turn of the event loop for it even where it is an address. */
const lookupAddress: SocketOptions["lookup"] = (host, options, callback) => {
  const family = isIP(host);
  if (family === 0) lookup(host, options, callback);
  else callback(null, host, family);
};

/** See `bindDualStack`. No other process can bind the port beside it. */
export const listenUdp = ({ onMessage, onError = () => {}, onSocket, receiveBufferBytes, ...options }: ListenUdpOptions): Promise<number> =>
  bindDualStack({
    ...options,
    transport: "udp",
    async bind(port, host): Promise<BoundSocket> {
      const isIpv6 = host.includes(":");
      const recvBufferSize = receiveBufferBytes ?? defaultReceiveBufferBytes;
      const type = isIpv6 ? "udp6" : "udp4";
      const socket = createSocket({ type, ipv6Only: isIpv6, reuseAddr: false, recvBufferSize, lookup: lookupAddress });
      const listening = once(socket, "listening");
      socket.bind({ port, address: host, exclusive: true });
      try {
        await listening;
      } catch (error) {
        socket.close();
        throw error;
      }
      socket.on("message", (datagram, from) => onMessage(datagram, from, socket));
      socket.on("error", onError);
      onSocket?.(socket, isIpv6 ? "IPv6" : "IPv4");
      return { port: socket.address().port, close: () => new Promise((resolve) => socket.close(() => resolve())) };
    },
  });

import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";
import { type BoundSocket, bindDualStack, type DualStackOptions } from "./dual-stack.ts";

export interface ListenUdpOptions extends Pick<DualStackOptions, "port" | "openToLan" | "onStop"> {
  /** An answer leaves by the socket on which the datagram came: `socket.send(bytes, from.port, from.address)`. */
  readonly onMessage: (datagram: Buffer, from: RemoteInfo, socket: Socket) => void;
  /** A fault of one socket after it was bound, such as a peer that refused what was sent. It stays open. */
  readonly onError?: (error: Error) => void;
  /** What the system keeps of datagrams that were not read yet; it drops the rest. Systems have a bound of their own. */
  readonly receiveBufferBytes?: number;
}

const defaultReceiveBufferBytes = 1 << 20;

/** See `bindDualStack`. No other process can bind the port beside it. */
export const listenUdp = ({ onMessage, onError = () => {}, receiveBufferBytes, ...options }: ListenUdpOptions): Promise<number> =>
  bindDualStack({
    ...options,
    transport: "udp",
    async bind(port, host): Promise<BoundSocket> {
      const isIpv6 = host.includes(":");
      const recvBufferSize = receiveBufferBytes ?? defaultReceiveBufferBytes;
      const socket = createSocket({ type: isIpv6 ? "udp6" : "udp4", ipv6Only: isIpv6, reuseAddr: false, recvBufferSize });
      socket.bind({ port, address: host, exclusive: true });
      try {
        await once(socket, "listening");
      } catch (error) {
        socket.close();
        throw error;
      }
      socket.on("message", (datagram, from) => onMessage(datagram, from, socket));
      socket.on("error", onError);
      return { port: socket.address().port, close: () => new Promise((resolve) => socket.close(() => resolve())) };
    },
  });

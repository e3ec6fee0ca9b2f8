import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";
import { type BoundSocket, bindDualStack, type DualStackOptions } from "./dual-stack.ts";

export interface ListenUdpOptions extends Pick<DualStackOptions, "port" | "openToLan" | "onStop"> {
  /** Answer on the socket that received the datagram: `socket.send(bytes, from.port, from.address)`. */
  readonly onMessage: (datagram: Buffer, from: RemoteInfo, socket: Socket) => void;
  /** An error of one socket after it was bound, such as ECONNREFUSED. The socket stays open. */
  readonly onError?: (error: Error) => void;
  /** Size of the system's receive buffer in bytes; datagrams beyond it are dropped. Systems have an upper limit. */
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

import { createSocket, type RemoteInfo, type Socket, type SocketOptions } from "node:dgram";
import { lookup } from "node:dns";
import { once } from "node:events";
import { isIP } from "node:net";
import { createDatagramSender, type DatagramSender, leaveToNextTurn } from "./datagram-sender.ts";
import type { LocalAddress } from "./local-addresses.ts";

/** Where a listener receives and sends: an address of this computer. Who holds it can send again once an address that was gone has come back. */
export interface UdpPlace {
  /** "127.0.0.1", "fe80::7%eth0" */
  readonly address: string;
  readonly family: "IPv4" | "IPv6";
  /** By which others reach this computer, where it is not internal. */
  readonly isInternal: boolean;
  /** Sends from this address. */
  readonly sender: DatagramSender;
}

export interface UdpPlaceOptions {
  /** Answer by the place's sender. */
  readonly onMessage: (datagram: Buffer, from: RemoteInfo, place: UdpPlace) => void;
  /** The turn of the event loop has no time left: the rest is read in the next one. There may be a hundred sockets with datagrams. */
  readonly isUsedUp: () => boolean;
  /** An error of one socket after it was bound, such as ECONNREFUSED. The socket stays open. */
  readonly onError?: (error: Error) => void;
  /** Size of the system's receive buffer in bytes; datagrams beyond it are dropped. Systems have an upper limit. Of each queue. */
  readonly receiveBufferBytes?: number;
}

const defaultReceiveBufferBytes = 1 << 20;

/** Node looks up the destination of every datagram, and takes another turn of the event loop for it even where it is an address. */
const lookupAddress: SocketOptions["lookup"] = (host, options, callback) => {
  const family = isIP(host);
  if (family === 0) lookup(host, options, callback);
  else callback(null, host, family);
};

/** A place with its sockets. */
export class OpenPlace implements UdpPlace {
  readonly address: string;
  readonly family: "IPv4" | "IPv6";
  readonly isInternal: boolean;
  readonly sender: DatagramSender;
  /** See `LocalAddress`, of those for which the sockets were bound. */
  scope = 0;
  readonly #options: UdpPlaceOptions;
  #sockets: readonly Socket[] = [];
  /** One of them is enough to send. */
  #current: DatagramSender | undefined;

  constructor({ host, family, isInternal }: LocalAddress, options: UdpPlaceOptions) {
    this.address = host;
    this.family = family;
    this.isInternal = isInternal;
    this.#options = options;
    this.sender = {
      send: (data, port, address) => (this.#current ? this.#current.send(data, port, address) : addressIsGone),
      sendPrefixed: (prefix, data, port, address) =>
        this.#current ? this.#current.sendPrefixed(prefix, data, port, address) : addressIsGone,
    };
  }

  get isOpen(): boolean {
    return this.#sockets.length > 0;
  }

  /**
   * Resolves with the port; rejects with the system's error. No program can take the port beside it. With several queues one that shares its ports
   * (SO_REUSEPORT) can, and Backlot would not; it binds the port alone before.
   */
  async open(port: number, queues: number, scope: number): Promise<number> {
    const { receiveBufferBytes } = this.#options;
    const alone = await bindSocket(port, this.address, receiveBufferBytes);
    const bound = alone.address().port;
    const sockets = [alone];
    if (queues > 1 && process.platform === "linux") {
      await closed(sockets.splice(0));
      try {
        while (sockets.length < queues) sockets.push(await bindSocket(bound, this.address, receiveBufferBytes, true));
      } catch (error) {
        await closed(sockets);
        throw error;
      }
    }
    const { onMessage, isUsedUp, onError = () => {} } = this.#options;
    for (const socket of sockets) {
      socket.on("message", (datagram, from) => {
        onMessage(datagram, from, this);
        if (isUsedUp()) leaveToNextTurn(socket);
      });
      socket.on("error", onError);
    }
    this.scope = scope;
    this.#sockets = sockets;
    this.#current = createDatagramSender(sockets[0] as Socket);
    return bound;
  }

  /** Resolves when the port is free here. */
  close(): Promise<void> {
    const sockets = this.#sockets;
    this.#sockets = [];
    this.#current = undefined;
    return closed(sockets);
  }
}

const addressIsGone = "EADDRNOTAVAIL";

async function closed(sockets: readonly Socket[]): Promise<void> {
  await Promise.all(sockets.map((socket) => new Promise<void>((resolve) => socket.close(() => resolve()))));
}

/** Rejects with the system's error. */
export async function bindSocket(port: number, host: string, bufferBytes = defaultReceiveBufferBytes, reusePort = false): Promise<Socket> {
  const isIpv6 = host.includes(":");
  const type = isIpv6 ? "udp6" : "udp4";
  const socket = createSocket({ type, ipv6Only: isIpv6, reuseAddr: false, reusePort, recvBufferSize: bufferBytes, lookup: lookupAddress });
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

import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { plainAddress } from "../../core/net/client-socket.ts";
import type { PortPair, TransportOffer } from "../protocol/transport-header.ts";

/** How a client gets the packets; a tunnel over HTTP and TLS carry those of "tcp". */
export type PullTransport = "tcp" | "udp" | "multicast";

/** How the packets of one track come. */
export interface TrackInput {
  /** For the Transport header of SETUP. */
  readonly offer: string;
  /** "TCP, channels 0-1" once it is accepted. */
  readonly title: string;
  /** Takes what the server chose. Throws where that is something else. */
  accept(answer: TransportOffer | undefined): Promise<void> | void;
  sendReport(report: Buffer): void;
  close(): void;
}

export interface TrackInputOptions {
  readonly index: number;
  /** Of the connection. */
  readonly localAddress: string;
  readonly remoteAddress: string;
  /** Receivers of interleaved packets, by channel. */
  readonly channels: Map<number, (packet: Buffer) => void>;
  readonly sendInterleaved: (channel: number, packet: Buffer) => void;
  readonly onRtp: (packet: Buffer) => void;
  readonly onRtcp: (packet: Buffer) => void;
}

const openers: Readonly<Record<PullTransport, (options: TrackInputOptions) => Promise<TrackInput>>> = {
  tcp: async (options) => tcpInput(options),
  udp: udpInput,
  multicast: async (options) => multicastInput(options),
};

export const openTrackInput = (transport: PullTransport, options: TrackInputOptions): Promise<TrackInput> => openers[transport](options);

const otherTransport = () => new Error("the server chose another transport than the one that it was offered");

function tcpInput({ index, channels, sendInterleaved, onRtp, onRtcp }: TrackInputOptions): TrackInput {
  let used: PortPair = [2 * index, 2 * index + 1];
  return {
    offer: `RTP/AVP/TCP;unicast;interleaved=${used.join("-")}`,
    get title() {
      return `TCP, channels ${used.join("-")}`;
    },
    accept(answer) {
      if (answer?.lower === "UDP") throw otherTransport();
      used = answer?.channels ?? used;
      channels.set(used[0], onRtp);
      channels.set(used[1], onRtcp);
    },
    sendReport: (report) => sendInterleaved(used[1], report),
    close() {},
  };
}

const mostTries = 50;

/** RFC 3550 §11: an even port, and the next one for RTCP. */
async function openPortPair(address: string): Promise<readonly [Socket, Socket]> {
  for (let tries = 0; ; tries++) {
    const rtp = await bound(address, 0);
    const { port } = rtp.address();
    try {
      if (port % 2 === 0) return [rtp, await bound(address, port + 1)];
    } catch (error) {
      if (tries >= mostTries) {
        rtp.close();
        throw error;
      }
    }
    rtp.close();
  }
}

async function bound(address: string, port: number, isShared = false): Promise<Socket> {
  const socket = createSocket({ type: address.includes(":") ? "udp6" : "udp4", reuseAddr: isShared, recvBufferSize: 1 << 20 });
  const listening = once(socket, "listening");
  socket.bind({ address, port, exclusive: !isShared });
  try {
    await listening;
  } catch (error) {
    socket.close();
    throw error;
  }
  // A server that is gone: its connection says so.
  socket.on("error", () => {});
  return socket;
}

async function udpInput({ localAddress, remoteAddress, onRtp, onRtcp }: TrackInputOptions): Promise<TrackInput> {
  const [rtp, rtcp] = await openPortPair(localAddress);
  const server = plainAddress(remoteAddress);
  rtp.on("message", (packet, from) => plainAddress(from.address) === server && onRtp(packet));
  rtcp.on("message", (packet, from) => plainAddress(from.address) === server && onRtcp(packet));
  const ports = [rtp.address().port, rtcp.address().port] as const;
  let serverPorts: PortPair | undefined;
  return {
    offer: `RTP/AVP;unicast;client_port=${ports.join("-")}`,
    title: `UDP, ports ${ports.join("-")}`,
    accept(answer) {
      if (answer?.lower === "TCP" || answer?.isMulticast) throw otherTransport();
      serverPorts = answer?.serverPorts;
    },
    sendReport(report) {
      if (serverPorts) rtcp.send(report, serverPorts[1], remoteAddress);
    },
    close() {
      rtp.close();
      rtcp.close();
    },
  };
}

function multicastInput({ localAddress, onRtp, onRtcp }: TrackInputOptions): TrackInput {
  let sockets: readonly Socket[] = [];
  let title = "multicast";
  return {
    offer: "RTP/AVP;multicast",
    get title() {
      return title;
    },
    async accept(answer) {
      const { destination, ports } = answer ?? {};
      if (!answer?.isMulticast || destination === undefined || !ports) throw otherTransport();
      title = `multicast, ${destination}, ports ${ports.join("-")}`;
      for (const [port, onPacket] of [
        [ports[0], onRtp],
        [ports[1], onRtcp],
      ] as const) {
        const socket = await bound(destination, port, true);
        sockets = [...sockets, socket];
        socket.addMembership(destination, localAddress);
        socket.on("message", onPacket);
      }
    },
    // The group has many readers: none of them reports.
    sendReport() {},
    close() {
      for (const socket of sockets) socket.close();
    },
  };
}

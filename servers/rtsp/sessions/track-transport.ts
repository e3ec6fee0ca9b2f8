import { oneStep } from "../../core/turns/work-connection.ts";
import { WorkQueue } from "../../core/turns/work-queue.ts";
import type { FramePackets } from "../media/track.ts";
import type { PortPair, TransportOffer } from "../protocol/transport-header.ts";
import type { GroupHolder, MulticastGroup } from "./multicast-groups.ts";
import type { UdpPeer, UdpPorts } from "./udp-ports.ts";

/** What a transport over TCP needs of its connection. */
export interface PacketConnection {
  readonly channels: Map<number, unknown>;
  /** Bytes that the client has not taken yet. */
  readonly unsentBytes: number;
  writePackets(bytes: Buffer): void;
}

/** How the packets of one track reach a client and come from it. */
export interface TrackTransport {
  /** For the answer's Transport header. */
  readonly answer: TransportOffer;
  /** "TCP, channels 0-1" */
  readonly title: string;
  readonly connection: PacketConnection | undefined;
  /** Bytes that the client has not taken yet, or that wait for its turn. */
  readonly unsentBytes: number;
  /** False for those that are lost for this client, as they are for a slow one. */
  send(packets: FramePackets): boolean;
  sendReport(report: Buffer): void;
  /** The session plays, or plays no more. */
  start?(): void;
  stop?(): void;
  release(): void;
}

export function createTcpTransport(
  track: number,
  channels: PortPair,
  connection: PacketConnection,
  answer: TransportOffer,
): TrackTransport {
  const [rtpChannel, rtcpChannel] = channels;
  return {
    answer,
    title: `TCP, channels ${channels.join("-")}`,
    connection,
    get unsentBytes() {
      return connection.unsentBytes;
    },
    send(packets) {
      const bytes = rtpChannel === 2 * track ? packets.bytes : onChannel(packets, rtpChannel);
      if (bytes) connection.writePackets(bytes);
      return bytes !== undefined;
    },
    sendReport: (report) => connection.writePackets(interleaved(rtcpChannel, report)),
    release() {
      for (const channel of channels) connection.channels.delete(channel);
    },
  };
}

/** Of these, copies of packets are found again: clients that choose channels choose the same. */
const mostChannels = 4;
/** Of all copies of the packets of a frame for other channels: thousands of clients may have chosen hundreds. */
const mostCopiedBytes = 8 << 20;

/**
 * Made once for each channel: what waits for thousands of slow clients is the same bytes. A stream keeps its packets for long, and no copy of them. Undefined
 * where more was copied than is good.
 */
function onChannel(packets: FramePackets, channel: number): Buffer | undefined {
  packets.onChannels ??= new Map();
  const { onChannels, bytes, offsets } = packets;
  const known = onChannels.get(channel)?.deref();
  if (known) return known;
  for (const [other, copy] of onChannels) if (!copy.deref()) onChannels.delete(other);
  const isShared = onChannels.size < mostChannels;
  const { copiedBytes = 0 } = packets;
  if (!isShared && copiedBytes + bytes.length > mostCopiedBytes) return undefined;
  const copy = Buffer.from(bytes);
  for (const offset of offsets) copy[offset + 1] = channel;
  if (isShared) onChannels.set(channel, new WeakRef(copy));
  else packets.copiedBytes = copiedBytes + bytes.length;
  return copy;
}

/** RFC 2326 §10.12 */
function interleaved(channel: number, packet: Buffer): Buffer {
  const framed = Buffer.allocUnsafe(4 + packet.length);
  framed[0] = 0x24;
  framed[1] = channel;
  framed.writeUInt16BE(packet.length, 2);
  packet.copy(framed, 4);
  return framed;
}

export function createUdpTransport(udp: UdpPorts, peer: UdpPeer, ports: PortPair, answer: TransportOffer): TrackTransport {
  const { address } = peer;
  const [rtp, rtcp] = ports;
  // What cannot be sent is lost, as it would be on the way.
  const queue = new WorkQueue(udp.connection(address), () => {});
  return {
    answer,
    title: `UDP, ports ${ports.join("-")}`,
    connection: undefined,
    get unsentBytes() {
      return queue.bytes;
    },
    send(packets) {
      queue.add(packets.bytes.length, udp.sendPackets(packets, peer, rtp));
      return true;
    },
    sendReport: (report) =>
      queue.add(
        report.length,
        oneStep(() => udp.sendReport(report, peer, rtcp)),
      ),
    release() {
      queue.clear();
      udp.release("rtp", address, rtp);
      udp.release("rtcp", address, rtcp);
    },
  };
}

/** The packets are sent by the group, once for all its sessions. */
export function createMulticastTransport(
  group: MulticastGroup,
  track: number,
  answer: TransportOffer,
  holder: GroupHolder,
): TrackTransport {
  const letGo = group.hold(holder);
  let leave: (() => void) | undefined;
  const stop = () => {
    leave?.();
    leave = undefined;
  };
  return {
    answer,
    title: `multicast, ${group.address}, ports ${group.portsOf(track).join("-")}`,
    connection: undefined,
    unsentBytes: 0,
    send: () => true,
    sendReport() {},
    start() {
      leave ??= group.use();
    },
    stop,
    release() {
      stop();
      letGo();
    },
  };
}

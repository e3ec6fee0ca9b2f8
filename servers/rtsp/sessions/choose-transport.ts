import { plainAddress } from "../../core/net/client-socket.ts";
import { RtspRefusal } from "../protocol/message.ts";
import type { PortPair, TransportOffer } from "../protocol/transport-header.ts";
import { groupCount, type MulticastGroup, type MulticastGroups } from "./multicast-groups.ts";
import type { RtspSession, SessionMedia } from "./rtsp-session.ts";
import {
  createMulticastTransport,
  createTcpTransport,
  createUdpTransport,
  type PacketConnection,
  type TrackTransport,
} from "./track-transport.ts";
import type { UdpPorts } from "./udp-ports.ts";

/** Where the packets of an interleaved channel go. */
export type ChannelReceiver = (packet: Buffer) => void;

/** What transports need of a connection. */
export interface TransportConnection extends PacketConnection {
  /** Of the client. */
  readonly address: string;
  /** By which it has reached this computer. */
  readonly localAddress: string;
  readonly udp: UdpPorts | undefined;
  readonly multicast: MulticastGroups | undefined;
  /** Its interleaved channels in use. */
  readonly channels: Map<number, ChannelReceiver>;
}

export type ChosenTransport =
  | { readonly kind: "tcp"; readonly offer: TransportOffer; readonly channels: PortPair }
  | { readonly kind: "udp"; readonly offer: TransportOffer; readonly ports: PortPair }
  | { readonly kind: "multicast"; readonly offer: TransportOffer; readonly group: MulticastGroup };

/**
 * The first offer that can be served (RFC 2326 §12.39). `freePorts` ends sessions that hold UDP ports of the client without need. Throws an
 * RtspRefusal of 461.
 */
export function chooseTransport(
  offers: readonly TransportOffer[],
  { track, media, path }: { readonly track: number; readonly media: SessionMedia; readonly path: string },
  session: RtspSession | undefined,
  connection: TransportConnection,
  freePorts: (ports: PortPair) => void,
): ChosenTransport {
  let problem: string | undefined;
  const own = session?.transports.get(track)?.answer;
  for (const offer of offers) {
    if (offer.profile !== "RTP/AVP") continue;
    if (offer.isMulticast) {
      const { multicast, address } = connection;
      if (!multicast || media.role !== "read" || offer.lower !== "UDP") continue;
      const group = multicast.of(media.stream, path, address);
      if (group) return { kind: "multicast", offer, group };
      problem ??= `other streams have all ${groupCount} multicast groups, and no other address has more of them`;
      continue;
    }
    if (offer.lower === "TCP") {
      const channels = offer.channels ?? freeChannels(connection);
      if (channels && isFree(channels, own?.channels, (channel) => connection.channels.has(channel)))
        return { kind: "tcp", offer, channels };
      continue;
    }
    const { clientPorts, destination } = offer;
    // §16.1: packets go only to where the request came from.
    if (!clientPorts || !connection.udp || (destination !== undefined && plainAddress(destination) !== connection.address)) continue;
    const { udp, address } = connection;
    // What the service sends would come back to it, and keep the session alive without a client.
    if (clientPorts.some((port) => udp.listensAt(address, port))) {
      problem ??= `UDP ports ${clientPorts.join("-")} of ${address} are those of this service`;
      continue;
    }
    const isClaimed = (port: number, index: number) => udp.isClaimed(index === 0 ? "rtp" : "rtcp", address, port);
    if (!isFree(clientPorts, own?.clientPorts, isClaimed)) freePorts(clientPorts);
    if (isFree(clientPorts, own?.clientPorts, isClaimed)) return { kind: "udp", offer, ports: clientPorts };
    problem ??= `UDP ports ${clientPorts.join("-")} of ${address} are set up for another track or session`;
  }
  throw new RtspRefusal(
    461,
    problem ?? (offers.length === 0 ? "the Transport header has no transport of RTP" : "none of the transports is served"),
  );
}

const isFree = (pair: PortPair, own: PortPair | undefined, isUsed: (number: number, index: number) => boolean): boolean =>
  pair.every((number, index) => own?.includes(number) || !isUsed(number, index));

function freeChannels({ channels }: TransportConnection): PortPair | undefined {
  for (let channel = 0; channel < 255; channel += 2)
    if (!channels.has(channel) && !channels.has(channel + 1)) return [channel, channel + 1];
  return undefined;
}

export interface OpenedTrack {
  readonly track: number;
  readonly session: RtspSession;
  /** Of the packets that we send. */
  readonly ssrc: number | undefined;
}

/** Opens what was chosen; from now on the client's packets reach the session. */
export function openTransport(chosen: ChosenTransport, opened: OpenedTrack, connection: TransportConnection): TrackTransport {
  const { track, session, ssrc } = opened;
  const { profile, mode } = chosen.offer;
  const common = { profile, mode, isMulticast: false, ...(ssrc !== undefined && { ssrc }) };
  const onRtp = (packet: Buffer) => session.receiveRtp(track, packet);
  const onRtcp = (packet: Buffer) => session.receiveRtcp(track, packet);
  if (chosen.kind === "tcp") {
    const { channels } = chosen;
    connection.channels.set(channels[0], onRtp).set(channels[1], onRtcp);
    return createTcpTransport(track, channels, connection, { ...common, lower: "TCP", channels });
  }
  if (chosen.kind === "multicast") {
    const { address, ttl } = chosen.group;
    const answer = { ...common, isMulticast: true, lower: "UDP", destination: address, ports: chosen.group.portsOf(track), ttl } as const;
    const holder = { address: connection.address, end: (reason: string) => session.endInTurn(reason) };
    return createMulticastTransport(chosen.group, track, answer, holder);
  }
  const udp = connection.udp as UdpPorts;
  const { ports } = chosen;
  const { address, localAddress } = connection;
  udp.claim("rtp", address, ports[0], onRtp);
  udp.claim("rtcp", address, ports[1], onRtcp);
  return createUdpTransport(udp, { address, localAddress }, ports, { ...common, lower: "UDP", clientPorts: ports, serverPorts: udp.ports });
}

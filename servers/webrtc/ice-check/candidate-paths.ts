import type { IceCandidate } from "../../../contract/services/webrtc-description.ts";
import { socketText } from "../observe/allocation-entry.ts";
import type { IceSide, SeenRelay } from "./ice-side.ts";
import { hostOf, isMdnsName, scopeOf, shareNetwork } from "./networks.ts";

/** Whether a relay has a permission for an address of the other side. */
export const permits = ({ permissions }: SeenRelay, other: IceSide): boolean =>
  socketsOf(other).some((socket) => permissions.includes(hostOf(socket)));

const socketsOf = ({ candidates, relays }: IceSide): readonly string[] => [
  ...candidates.map(socketText),
  ...relays.flatMap(({ addresses }) => addresses),
];

/**
 * Whether a relay sends to the other side, and not to somebody else. All relays have one address: a channel says to which port of it. Without one there is only
 * the permission, which has no port. A router in front of the other side may give it another port than its candidate has.
 */
export function leadsTo(relay: SeenRelay, other: IceSide): boolean {
  const sockets = socketsOf(other);
  if (relay.channels.some((channel) => sockets.includes(channel))) return true;
  const ownPublic = other.candidates.filter(({ type, address }) => type !== "relay" && scopeOf(address) === "public");
  const translated = new Set(ownPublic.map(({ address }) => address));
  const boundToOthers = new Set(relay.channels.map(hostOf));
  return sockets.map(hostOf).some((host) => relay.permissions.includes(host) && (translated.has(host) || !boundToOthers.has(host)));
}

/** Two relays of which one sends to the other. */
export const areJoined = (one: SeenRelay, other: SeenRelay): boolean =>
  one.channels.some((channel) => other.addresses.includes(channel)) || other.channels.some((channel) => one.addresses.includes(channel));

export interface Paths {
  /** Sides that offer a relay. */
  readonly relays: readonly IceSide[];
  /** The first pair of each sort. */
  readonly direct: readonly [IceCandidate, IceCandidate] | undefined;
  readonly natted: readonly [IceCandidate, IceCandidate] | undefined;
  readonly mdns: boolean;
}

export function pathsBetween(one: IceSide, other: IceSide): Paths {
  const usable = ({ candidates }: IceSide) => candidates.filter(({ tcpType, type }) => tcpType !== "active" && type !== "relay");
  const [ones, others] = [usable(one), usable(other)];
  const pairOf = (fits: (a: IceCandidate, b: IceCandidate) => boolean) =>
    ones.flatMap((a) => others.filter((b) => a.transport === b.transport && fits(a, b)).map((b) => [a, b] as const))[0];
  const isMdns = (candidates: readonly IceCandidate[]) => candidates.some(({ address }) => isMdnsName(address));
  // 127.0.0.1 is another host for each machine.
  const isSameMachine = one.address === other.address || (scopeOf(one.address) === "loopback" && scopeOf(other.address) === "loopback");
  return {
    relays: [one, other].filter(({ candidates }) => candidates.some(({ type }) => type === "relay")),
    direct: pairOf(
      (a, b) => isOwn(a) && isOwn(b) && shareNetwork(a.address, b.address) && (scopeOf(a.address) !== "loopback" || isSameMachine),
    ),
    natted: pairOf((a, b) => isReflexive(a) && isReflexive(b)),
    mdns:
      (isMdns(ones) || isMdns(others)) &&
      ones.length > 0 &&
      others.length > 0 &&
      (isSameMachine || shareNetwork(one.address, other.address)),
  };
}

/** An address of the device itself, and not of a router in front of it. */
const isOwn = ({ type, address }: IceCandidate): boolean => type === "host" || scopeOf(address) !== "public";

/** Known to others in front of a router: found by STUN, or public itself. */
const isReflexive = ({ type, address }: IceCandidate): boolean =>
  (type === "srflx" || type === "prflx" || scopeOf(address) === "public") && scopeOf(address) !== "loopback" && !isMdnsName(address);

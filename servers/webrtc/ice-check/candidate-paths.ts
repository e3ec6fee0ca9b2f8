import type { IceCandidate } from "../../../contract/services/webrtc-description.ts";
import { socketText } from "../observe/allocation-entry.ts";
import type { IceSide, SeenRelay } from "./ice-side.ts";
import { hostOf, isMdnsName, networkOf, scopeOf, shareNetwork } from "./networks.ts";

/** Where a side can be reached. */
interface Places {
  readonly sockets: ReadonlySet<string>;
  readonly hosts: ReadonlySet<string>;
  /** A router in front of it may give it another port than its candidate has. */
  readonly translated: ReadonlySet<string>;
}

/** A side may have hundreds of candidates, and the other one as many relays. */
const places = new WeakMap<IceSide, Places>();

function placesOf(side: IceSide): Places {
  const known = places.get(side);
  if (known) return known;
  const { candidates, relays } = side;
  const sockets = new Set([...candidates.map(socketText), ...relays.flatMap(({ addresses }) => addresses)]);
  const ownPublic = candidates.filter(({ type, address }) => type !== "relay" && scopeOf(address) === "public");
  const of = { sockets, hosts: new Set([...sockets].map(hostOf)), translated: new Set(ownPublic.map(({ address }) => address)) };
  places.set(side, of);
  return of;
}

/** Whether a relay has a permission for an address of the other side. */
export const permits = ({ permissions }: SeenRelay, other: IceSide): boolean => permissions.some((host) => placesOf(other).hosts.has(host));

/**
 * Whether a relay sends to the other side, and not to somebody else. All relays have one address: a channel says to which port of it. Without one there is only
 * the permission, which has no port.
 */
export function leadsTo({ channels, permissions }: SeenRelay, other: IceSide): boolean {
  const { sockets, hosts, translated } = placesOf(other);
  if (channels.some((channel) => sockets.has(channel))) return true;
  const permitted = permissions.filter((host) => hosts.has(host));
  if (permitted.some((host) => translated.has(host))) return true;
  if (permitted.length === 0) return false;
  const boundToOthers = new Set(channels.map(hostOf));
  return permitted.some((host) => !boundToOthers.has(host));
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
  const isMdns = (candidates: readonly IceCandidate[]) => candidates.some(({ address }) => isMdnsName(address));
  // 127.0.0.1 is another host for each machine.
  const isSameMachine = one.address === other.address || (scopeOf(one.address) === "loopback" && scopeOf(other.address) === "loopback");
  const isReached = (candidate: IceCandidate) => isOwn(candidate) && (isSameMachine || scopeOf(candidate.address) !== "loopback");
  return {
    relays: [one, other].filter(({ candidates }) => candidates.some(({ type }) => type === "relay")),
    direct: firstPair(ones.filter(isReached), others.filter(isOwn), ({ address }) => networkOf(address)),
    natted: firstPair(ones.filter(isReflexive), others.filter(isReflexive), () => "public"),
    mdns:
      (isMdns(ones) || isMdns(others)) &&
      ones.length > 0 &&
      others.length > 0 &&
      (isSameMachine || shareNetwork(one.address, other.address)),
  };
}

/** With the same transport and the same mark; each side is looked through once. */
function firstPair(
  ones: readonly IceCandidate[],
  others: readonly IceCandidate[],
  markOf: (candidate: IceCandidate) => string | undefined,
): readonly [IceCandidate, IceCandidate] | undefined {
  const first = new Map<string, IceCandidate>();
  for (const candidate of others.toReversed()) {
    const mark = markOf(candidate);
    if (mark !== undefined) first.set(`${candidate.transport} ${mark}`, candidate);
  }
  for (const candidate of ones) {
    const match = first.get(`${candidate.transport} ${markOf(candidate)}`);
    if (match) return [candidate, match];
  }
  return undefined;
}

/** An address of the device itself, and not of a router in front of it. */
const isOwn = ({ type, address }: IceCandidate): boolean => type === "host" || scopeOf(address) !== "public";

/** Known to others in front of a router: found by STUN, or public itself. */
const isReflexive = ({ type, address }: IceCandidate): boolean =>
  (type === "srflx" || type === "prflx" || scopeOf(address) === "public") && scopeOf(address) !== "loopback" && !isMdnsName(address);

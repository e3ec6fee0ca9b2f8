import type { IceCandidate } from "../../../contract/services/webrtc-description.ts";
import type { IceSide, SeenRelay } from "./ice-side.ts";
import { isMdnsName, scopeOf, shareNetwork } from "./networks.ts";

/** Whether a relay may send to a candidate of the other side, or to where its candidates were made. */
export const leadsTo = ({ permissions }: SeenRelay, { candidates, relays }: IceSide): boolean =>
  [...candidates.map(({ address }) => address), ...relays.map(({ relayed }) => relayed.slice(0, relayed.lastIndexOf(":")))].some(
    (address) => permissions.includes(address.replace(/^\[|\]$/g, "")),
  );

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

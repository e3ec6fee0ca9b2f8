import type { LadderAnswer } from "../../../../contract/services/webrtc-signals.ts";
import type { Choice } from "../../ui/forms/pick-filter.tsx";

/** What peers are called, by identifier; those that are not in it have no name. */
export type PeerLabels = Readonly<Record<string, string>>;

const mostShownId = 12;
const startOfId = 8;

/** The start of an identifier tells peers apart, except where a client chose it. */
const shortId = (peer: string): string => (peer.length > mostShownId ? `${peer.slice(0, startOfId)}…` : peer);

/** The names; behind those that more than one peer has, or had, the identifier. */
export function peerLabels({ names, namesakes }: Pick<LadderAnswer, "names" | "namesakes">): PeerLabels {
  const short = namesakes.map((peer) => [peer, `${names[peer]} ${shortId(peer)}`] as const);
  const times = Map.groupBy(short, ([, label]) => label);
  const told = short.map(([peer, label]) => [peer, times.get(label)?.length === 1 ? label : `${names[peer]} ${peer}`] as const);
  return { ...names, ...Object.fromEntries(told) };
}

/** "Bob (left)" */
export const markLeft = (label: string, hasLeft: boolean): string => (hasLeft ? `${label} (left)` : label);

/** Those that are there come first. */
export const choicesOfPeers = (peers: readonly (readonly [id: string, label: string])[], left: ReadonlySet<string>): readonly Choice[] =>
  peers
    .toSorted(([one], [other]) => Number(left.has(one)) - Number(left.has(other)))
    .map(([value, label]) => ({ value, label: markLeft(label, left.has(value)) }));

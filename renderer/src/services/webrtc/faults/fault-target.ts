import {
  type PeerFault,
  peerFaultKinds,
  type RelayFault,
  relayFaultKinds,
  type TurnFault,
  turnFaultKinds,
  type WebrtcActiveFault,
  type WebrtcFaultViews,
} from "../../../../../contract/services/webrtc-faults.ts";
import { viewsOf } from "../../../control/use-store.ts";

/** What has faults: the signalling of a peer with its credentials, a relay by the number of its allocation, or TURN for everybody. */
export type FaultTarget =
  | { readonly kind: "peer"; readonly peer: string; readonly name: string }
  | { readonly kind: "relay"; readonly allocation: number }
  | { readonly kind: "turn" };

export type AnyFault = PeerFault | RelayFault | TurnFault;
export type FaultKind = AnyFault["kind"];

const useFaultView = viewsOf<WebrtcFaultViews>("webrtc");
const none: readonly WebrtcActiveFault<AnyFault>[] = [];

function faultsIn({ peers, relays, turn }: WebrtcFaultViews["faults"], target: FaultTarget): readonly WebrtcActiveFault<AnyFault>[] {
  switch (target.kind) {
    case "peer":
      return peers.find(({ peer }) => peer === target.peer)?.faults ?? none;
    case "relay":
      return relays.find(({ allocation }) => allocation === target.allocation)?.faults ?? none;
    case "turn":
      return turn;
    default:
      return target satisfies never;
  }
}

/** The active faults of the target itself. */
export const useFaults = (target: FaultTarget): readonly WebrtcActiveFault<AnyFault>[] =>
  useFaultView("faults", (view) => faultsIn(view, target)) ?? none;

export const kindsOf: Readonly<Record<FaultTarget["kind"], readonly FaultKind[]>> = {
  peer: peerFaultKinds,
  relay: relayFaultKinds,
  turn: turnFaultKinds,
};

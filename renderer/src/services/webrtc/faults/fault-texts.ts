import type { FaultySignals, RefusalCode } from "../../../../../contract/services/webrtc-faults.ts";
import { type FaultWords, faultTimeText, percentText } from "../../faults/fault-texts.ts";
import type { AnyFault, FaultKind, FaultTarget } from "./fault-target.ts";

const ofRelays: Readonly<Partial<Record<FaultKind, FaultWords>>> = {
  delay: { title: "Delay", text: "Datagrams of the relay arrive later, in both directions." },
};

const words: Readonly<Record<FaultKind, FaultWords>> = {
  drop: { title: "Drop signals", text: "Offers, answers and candidates from and to the peer are left out at random." },
  delay: { title: "Delay signals", text: "Offers, answers and candidates from and to the peer arrive later, in their order." },
  duplicate: { title: "Duplicate signals", text: "Offers, answers and candidates from and to the peer arrive twice, at random." },
  reorder: { title: "Reorder signals", text: "A signal from or to the peer arrives after the one that follows, at random." },
  refuse: { title: "Refuse allocations", text: "New allocations get this error code. Open ones go on." },
  credentials: {
    title: "Wrong credentials",
    text: "Right credentials of TURN are treated as wrong from now on: new allocations get 401, and open ones cannot be refreshed.",
  },
  cut: { title: "Cut", text: "Nothing passes the relay. The allocation stays, and requests are answered." },
  loss: { title: "Lose data", text: "Datagrams of the relay are left out at random, in both directions." },
};

export const faultWords = (target: FaultTarget["kind"], kind: FaultKind): FaultWords =>
  (target === "relay" ? ofRelays[kind] : undefined) ?? words[kind];

export const signalsTitles: Readonly<Record<FaultySignals, string>> = {
  all: "All",
  descriptions: "Offers, answers",
  candidates: "Candidates",
};

export const codeTitles: Readonly<Record<RefusalCode, string>> = {
  300: "300 Try Alternate",
  400: "400 Bad Request",
  401: "401 Unauthenticated",
  403: "403 Forbidden",
  420: "420 Unknown Attribute",
  437: "437 Allocation Mismatch",
  438: "438 Stale Nonce",
  440: "440 Address Family not Supported",
  441: "441 Wrong Credentials",
  442: "442 Unsupported Transport",
  486: "486 Allocation Quota Reached",
  500: "500 Server Error",
  508: "508 Insufficient Capacity",
};

const whichText = (which: FaultySignals): string => (which === "all" ? "signals" : which);

/** For a badge: "drops 20 % of signals". */
export function faultText(fault: AnyFault): string {
  switch (fault.kind) {
    case "drop":
      return `drops ${percentText(fault.percent)} of ${whichText(fault.signals)}`;
    case "duplicate":
      return `doubles ${percentText(fault.percent)} of ${whichText(fault.signals)}`;
    case "reorder":
      return `reorders ${percentText(fault.percent)} of ${whichText(fault.signals)}`;
    case "delay":
      return "signals" in fault
        ? `${whichText(fault.signals)} ${faultTimeText(fault.delayMs)} later`
        : `delay ${faultTimeText(fault.delayMs)}`;
    case "refuse":
      return `allocations get ${fault.code}`;
    case "credentials":
      return "wrong credentials";
    case "cut":
      return "cut";
    case "loss":
      return `loss ${percentText(fault.percent)}`;
    default:
      return fault satisfies never;
  }
}

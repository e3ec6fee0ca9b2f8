import { type PeerFault, type RelayFault, type TurnFault, webrtcFaultActions } from "../../../../../contract/services/webrtc-faults.ts";
import { useControl } from "../../../control/client-context.tsx";
import { FailureError } from "../../../control/failure-error.ts";
import { attempt } from "../../../ui/status/notify.tsx";
import { FaultMenu } from "../../faults/fault-menu.tsx";
import { percentText } from "../../faults/fault-texts.ts";
import { FaultDialog } from "./fault-dialog.tsx";
import type { FaultToStart } from "./fault-draft.ts";
import { type AnyFault, type FaultTarget, useFaults } from "./fault-target.ts";

type Preset = readonly [title: string, fault: AnyFault];

const ofTurn = (whose: string): readonly Preset[] => [
  ["Refuse allocations with 486, quota reached", { kind: "refuse", code: 486 }],
  ["Refuse allocations with 508, no capacity", { kind: "refuse", code: 508 }],
  [`Treat ${whose} credentials as wrong`, { kind: "credentials" }],
];

/** The menu's faults, in groups. */
const presets: Readonly<Record<FaultTarget["kind"], readonly (readonly Preset[])[]>> = {
  peer: [
    [
      ["Drop all signals", { kind: "drop", percent: 100, signals: "all" }],
      ["Drop all candidates", { kind: "drop", percent: 100, signals: "candidates" }],
      [`Drop ${percentText(20)} of the signals`, { kind: "drop", percent: 20, signals: "all" }],
      ["Delay signals by 2 s", { kind: "delay", delayMs: 2_000, signals: "all" }],
      ["Duplicate every signal", { kind: "duplicate", percent: 100, signals: "all" }],
      ["Reorder signals", { kind: "reorder", percent: 100, signals: "all" }],
    ],
    ofTurn("its"),
  ],
  relay: [
    [
      ["Cut", { kind: "cut" }],
      [`Lose ${percentText(5)} of the data`, { kind: "loss", percent: 5 }],
      ["Delay by 0.2 s", { kind: "delay", delayMs: 200 }],
    ],
  ],
  turn: [ofTurn("all")],
};

const goneTexts: Readonly<Record<FaultTarget["kind"], string>> = {
  peer: "The peer has left",
  relay: "The relay is closed",
  turn: "TURN is off",
};

const whatOf: Readonly<Record<FaultTarget["kind"], string>> = { peer: "peer", relay: "relay", turn: "TURN" };

/** Starts faults of a peer, of a relay or of TURN, and ends them. */
export function WebrtcFaultMenu({ target }: { readonly target: FaultTarget }) {
  const control = useControl();
  const active = useFaults(target);
  const start = ({ fault, ...rest }: FaultToStart) =>
    void attempt(
      startOf(target, fault, rest).then(({ started }) => {
        if (!started) throw new FailureError({ code: "CALL_INVALID", message: goneTexts[target.kind], hint: "Choose another one." });
      }),
    );
  return (
    <FaultMenu
      id={`webrtc-${target.kind}`}
      what={whatOf[target.kind]}
      groups={presets[target.kind].map((group) =>
        group.map(([title, fault]) => ({ id: Object.values(fault).join("-"), title, start: () => start({ fault }) })),
      )}
      hasActive={active.length > 0}
      onRelease={() => void attempt(releaseOf(target))}
      dialog={(opened, onClose) => <FaultDialog target={target} opened={opened} onClose={onClose} onStart={start} />}
    />
  );

  function startOf(of: FaultTarget, fault: AnyFault, rest: { readonly forMs?: number; readonly seed?: string }) {
    const { seed, ...time } = rest;
    switch (of.kind) {
      case "peer":
        return control.action(webrtcFaultActions, "webrtc", "peer.fault", { peer: of.peer, fault: fault as PeerFault, ...rest });
      case "relay":
        return control.action(webrtcFaultActions, "webrtc", "relay.fault", {
          allocation: of.allocation,
          fault: fault as RelayFault,
          ...time,
        });
      case "turn":
        return control.action(webrtcFaultActions, "webrtc", "turn.fault", { fault: fault as TurnFault, ...time });
      default:
        return of satisfies never;
    }
  }

  function releaseOf(of: FaultTarget) {
    switch (of.kind) {
      case "peer":
        return control.action(webrtcFaultActions, "webrtc", "peer.release", { peer: of.peer });
      case "relay":
        return control.action(webrtcFaultActions, "webrtc", "relay.release", { allocation: of.allocation });
      case "turn":
        return control.action(webrtcFaultActions, "webrtc", "turn.release", {});
      default:
        return of satisfies never;
    }
  }
}

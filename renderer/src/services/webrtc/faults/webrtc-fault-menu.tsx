import { Button, Group, Menu } from "@mantine/core";
import { useState } from "react";
import { type PeerFault, type RelayFault, type TurnFault, webrtcFaultActions } from "../../../../../contract/services/webrtc-faults.ts";
import { useControl } from "../../../control/client-context.tsx";
import { FailureError } from "../../../control/failure-error.ts";
import { CommandGroups } from "../../../ui/command-items.tsx";
import { type Command, useCommands } from "../../../ui/commands.ts";
import { attempt } from "../../../ui/status/notify.tsx";
import { FaultDialog } from "./fault-dialog.tsx";
import type { FaultToStart } from "./fault-draft.ts";
import { type AnyFault, type FaultTarget, useFaults } from "./fault-target.ts";
import { percentText } from "./fault-texts.ts";

type Preset = readonly [title: string, fault: AnyFault];

const ofTurn: readonly Preset[] = [
  ["Refuse allocations with 486, quota reached", { kind: "refuse", code: 486 }],
  ["Refuse allocations with 508, no capacity", { kind: "refuse", code: 508 }],
  ["Treat its credentials as wrong", { kind: "credentials" }],
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
    ofTurn,
  ],
  relay: [
    [
      ["Cut", { kind: "cut" }],
      [`Lose ${percentText(5)} of the data`, { kind: "loss", percent: 5 }],
      ["Delay by 0.2 s", { kind: "delay", delayMs: 200 }],
    ],
  ],
  turn: [
    [
      ["Refuse allocations with 486, quota reached", { kind: "refuse", code: 486 }],
      ["Refuse allocations with 508, no capacity", { kind: "refuse", code: 508 }],
      ["Treat all credentials as wrong", { kind: "credentials" }],
    ],
  ],
};

const goneTexts: Readonly<Record<FaultTarget["kind"], string>> = {
  peer: "The peer has left",
  relay: "The relay is closed",
  turn: "TURN is off",
};

const whatOf: Readonly<Record<FaultTarget["kind"], string>> = { peer: "peer", relay: "relay", turn: "TURN" };

/** Starts faults of a peer, of a relay or of TURN, and ends them. */
export function FaultMenu({ target }: { readonly target: FaultTarget }) {
  const control = useControl();
  const [isAsking, setAsking] = useState(false);
  const active = useFaults(target);
  const start = ({ fault, ...rest }: FaultToStart) =>
    void attempt(
      startOf(target, fault, rest).then(({ started }) => {
        if (!started) throw new FailureError({ code: "CALL_INVALID", message: goneTexts[target.kind], hint: "Choose another one." });
      }),
    );
  const release = () => void attempt(releaseOf(target));
  const groups: readonly (readonly Command[])[] = [
    ...presets[target.kind].map((group) =>
      group.map(([title, fault]) => ({
        id: `webrtc-${target.kind}-fault-${Object.values(fault).join("-")}`,
        title,
        keywords: `${whatOf[target.kind]} fault trouble`,
        run: () => start({ fault }),
      })),
    ),
    [{ id: `webrtc-${target.kind}-fault`, title: "With other figures…", keywords: "fault trouble", run: () => setAsking(true) }],
  ];
  const releaseCommand: Command = { id: `webrtc-${target.kind}-release`, title: "Release", keywords: "end faults", run: release };
  useCommands([...groups.flat(), ...(active.length > 0 ? [releaseCommand] : [])]);
  return (
    <Group gap="sm" wrap="nowrap">
      {active.length > 0 && <Button onClick={release}>Release</Button>}
      <Menu position="bottom-end" withinPortal={false} width={300}>
        <Menu.Target>
          <Button>Faults…</Button>
        </Menu.Target>
        <Menu.Dropdown mah="60vh" style={{ overflowY: "auto" }}>
          <CommandGroups groups={groups} />
        </Menu.Dropdown>
      </Menu>
      <FaultDialog target={target} opened={isAsking} onClose={() => setAsking(false)} onStart={start} />
    </Group>
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

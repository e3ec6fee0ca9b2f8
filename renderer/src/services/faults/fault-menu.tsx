import { Button, Group, Menu } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { CommandGroups } from "../../ui/command-items.tsx";
import { type Command, useCommands } from "../../ui/commands.ts";

/** A fault of the menu. */
export interface FaultChoice {
  /** Of its command, after that of the menu: "drop-100". */
  readonly id: string;
  readonly title: string;
  readonly start: () => void;
}

interface FaultMenuProps {
  /** Of its commands: "rtsp-path". */
  readonly id: string;
  /** What has the faults, as a keyword of the commands: "path". */
  readonly what: string;
  readonly groups: readonly (readonly FaultChoice[])[];
  /** Whether there is a fault to end. */
  readonly hasActive: boolean;
  readonly onRelease: () => void;
  /** The dialog for figures of one's own. */
  readonly dialog: (opened: boolean, onClose: () => void) => ReactNode;
}

/** Starts faults, and ends them. */
export function FaultMenu({ id, what, groups, hasActive, onRelease, dialog }: FaultMenuProps) {
  const [isAsking, setAsking] = useState(false);
  const keywords = `${what} faults trouble`;
  const commands: readonly (readonly Command[])[] = [
    ...groups.map((group) => group.map((choice) => ({ id: `${id}-fault-${choice.id}`, title: choice.title, keywords, run: choice.start }))),
    [{ id: `${id}-fault`, title: "With other figures…", keywords, run: () => setAsking(true) }],
  ].filter((group) => group.length > 0);
  const release: Command = { id: `${id}-release`, title: "Release", keywords: "end faults", run: onRelease };
  useCommands([...commands.flat(), ...(hasActive ? [release] : [])]);
  return (
    <Group gap="sm" wrap="nowrap">
      {hasActive && <Button onClick={onRelease}>Release</Button>}
      <Menu position="bottom-end" withinPortal={false} width={300}>
        <Menu.Target>
          <Button>Faults…</Button>
        </Menu.Target>
        <Menu.Dropdown mah="60vh" style={{ overflowY: "auto" }}>
          <CommandGroups groups={commands} />
        </Menu.Dropdown>
      </Menu>
      {dialog(isAsking, () => setAsking(false))}
    </Group>
  );
}

import { Menu } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { CommandItems } from "../ui/command-items.tsx";
import type { Command } from "../ui/commands.ts";
import styles from "./list-page.module.css";

interface RowMenuProps<Row> {
  readonly commandsOf: (row: Row) => readonly Command[];
  /** The table; it calls back for the row of the menu. */
  readonly children: (onRowMenu: (row: Row) => void) => ReactNode;
}

/** The menu that the right button opens on a row of the table in it. */
export function RowMenu<Row>({ commandsOf, children }: RowMenuProps<Row>) {
  const [row, setRow] = useState<Row>();
  return (
    // Not in a portal, like all menus; fixed, because the list clips its content.
    <Menu width={220} withinPortal={false} floatingStrategy="fixed">
      <Menu.ContextMenu>
        <div className={styles.menuArea}>{children((next) => setRow(() => next))}</div>
      </Menu.ContextMenu>
      <Menu.Dropdown aria-label="Row">{row !== undefined && <CommandItems commands={commandsOf(row)} />}</Menu.Dropdown>
    </Menu>
  );
}

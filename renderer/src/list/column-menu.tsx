import { ActionIcon, Menu, Tooltip } from "@mantine/core";
import { IconColumns3 } from "@tabler/icons-react";
import type { Column } from "./column.ts";
import type { ColumnChoice } from "./column-choice.ts";

export function ColumnMenu<Row>({ all, choice }: { readonly all: readonly Column<Row>[]; readonly choice: ColumnChoice<Row> }) {
  return (
    // Not in a portal: it belongs to the page's landmark.
    <Menu position="bottom-end" width={180} withinPortal={false}>
      <Menu.Target>
        <Tooltip label="Columns">
          <ActionIcon aria-label="Columns">
            <IconColumns3 size={15} stroke={1.5} />
          </ActionIcon>
        </Tooltip>
      </Menu.Target>
      <Menu.Dropdown mah="44vh" style={{ overflowY: "auto" }}>
        {all
          .filter((column) => column.widest !== undefined)
          .map((column) => (
            <Menu.CheckboxItem key={column.id} checked={choice.isShown(column.id)} onChange={() => choice.toggle(column.id)}>
              {column.title}
            </Menu.CheckboxItem>
          ))}
      </Menu.Dropdown>
    </Menu>
  );
}

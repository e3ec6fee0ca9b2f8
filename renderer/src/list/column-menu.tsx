import { Menu } from "@mantine/core";
import { IconColumns3 } from "@tabler/icons-react";
import { IconMenu } from "../ui/toolbar.tsx";
import type { Column } from "./column.ts";
import type { ColumnChoice } from "./column-choice.ts";

export function ColumnMenu<Row>({ all, choice }: { readonly all: readonly Column<Row>[]; readonly choice: ColumnChoice<Row> }) {
  return (
    <IconMenu label="Columns" icon={IconColumns3} width={180}>
      {all
        .filter((column) => column.minSample !== undefined)
        .map((column) => (
          <Menu.CheckboxItem key={column.id} checked={choice.isShown(column.id)} onChange={() => choice.toggle(column.id)}>
            {column.title}
          </Menu.CheckboxItem>
        ))}
    </IconMenu>
  );
}

import { Menu } from "@mantine/core";
import { IconColumns3 } from "@tabler/icons-react";
import { useMemo } from "react";
import { z } from "zod";
import { IconMenu } from "../../ui/toolbar.tsx";
import { useRemembered } from "../../ui/use-remembered.ts";
import type { Column } from "./column.ts";

export interface ColumnChoice<Row> {
  /** The visible columns, in order. */
  readonly columns: readonly Column<Row>[];
  readonly isShown: (id: string) => boolean;
  readonly toggle: (id: string) => void;
}

const none: readonly string[] = [];

/** The visible columns of a table, remembered under the table's name. The column that fills the row is always visible. */
export function useColumnChoice<Row>(table: string, all: readonly Column<Row>[]): ColumnChoice<Row> {
  const [hidden, setHidden] = useRemembered<readonly string[]>(`hidden-columns.${table}`, none, z.array(z.string()));
  return useMemo(() => {
    const isShown = (id: string) => !hidden.includes(id);
    return {
      columns: all.filter((column) => column.minSample === undefined || isShown(column.id)),
      isShown,
      toggle: (id) => setHidden(isShown(id) ? [...hidden, id] : hidden.filter((other) => other !== id)),
    };
  }, [all, hidden, setHidden]);
}

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

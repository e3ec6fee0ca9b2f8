import { type RefObject, useCallback, useMemo, useRef, useState } from "react";
import type { DataTableHandle } from "./data-table.tsx";

export interface RowChoice<Row, Id extends number | string> {
  readonly table: RefObject<DataTableHandle | null>;
  readonly chosen: Id | undefined;
  /** The chosen row as it was when it was chosen, if that was in the list. */
  readonly chosenRow: Row | undefined;
  /** The row in the inspector; `row` in its state when it was opened, if it was opened from a list. */
  readonly opened: { readonly id: Id; readonly row: Row | undefined } | undefined;
  choose(row: Row): void;
  open(row: Row): void;
  openId(id: Id): void;
  /** Closes the inspector and gives the focus back to the list. */
  close(): void;
  /** Closes the inspector; the focus stays where it is. */
  release(): void;
  /** For the `DataTable`. */
  readonly tableProps: {
    readonly ref: RefObject<DataTableHandle | null>;
    readonly rowId: (row: Row) => Id;
    readonly chosen: Id | undefined;
    readonly onChoose: (row: Row) => void;
    readonly onOpen: (row: Row) => void;
    readonly onClose: () => void;
  };
}

const none = { id: undefined, row: undefined };

/** The chosen row of a list and the opened one; while the inspector is open it follows the choice. */
export function useRowChoice<Row, Id extends number | string>(idOf: (row: Row) => Id): RowChoice<Row, Id> {
  const table = useRef<DataTableHandle>(null);
  const [{ id: chosen, row: chosenRow }, setChosen] = useState<{ readonly id: Id | undefined; readonly row: Row | undefined }>(none);
  const [opened, setOpened] = useState<{ readonly id: Id; readonly row: Row | undefined }>();
  const choose = useCallback(
    (row: Row) => {
      const id = idOf(row);
      setChosen({ id, row });
      setOpened((known) => known && { id, row });
    },
    [idOf],
  );
  const open = useCallback(
    (row: Row) => {
      const id = idOf(row);
      setChosen({ id, row });
      setOpened({ id, row });
    },
    [idOf],
  );
  const openId = useCallback((id: Id) => {
    setChosen({ id, row: undefined });
    setOpened({ id, row: undefined });
  }, []);
  const release = useCallback(() => setOpened(undefined), []);
  const close = useCallback(() => {
    release();
    table.current?.focus();
  }, [release]);
  return useMemo(
    () => ({
      table,
      chosen,
      chosenRow,
      opened,
      choose,
      open,
      openId,
      close,
      release,
      tableProps: { ref: table, rowId: idOf, chosen, onChoose: choose, onOpen: open, onClose: close },
    }),
    [chosen, chosenRow, opened, choose, open, openId, close, release, idOf],
  );
}

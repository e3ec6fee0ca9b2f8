// biome-ignore-all lint/a11y: rows are positioned absolutely, which a <table> does not allow; the grid has the focus and handles the keys.

import { IconArrowDown, IconArrowUp } from "@tabler/icons-react";
import { useVirtualizer } from "@tanstack/react-virtual";
import {
  type KeyboardEvent,
  type MouseEvent,
  memo,
  type ReactNode,
  type Ref,
  useCallback,
  useEffect,
  useEffectEvent,
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
} from "react";
import { type Column, isSortable } from "./columns/column.ts";
import { useFittedColumns } from "./columns/use-fitted-columns.ts";
import styles from "./data-table.module.css";
import { movedRow } from "./row-cursor.ts";
import { useAim } from "./use-aim.ts";
import { useEndKey } from "./use-end-key.ts";

const rowPx = 28;
/** Rows rendered beyond the visible ones, so that scrolling shows no gap; a list that follows its newest row is not scrolled. */
const rowsBeyond = 6;
const rowsBeyondAtTop = 1;
/** `aria-rowindex` of the first row: it counts from 1, and the head is a row. */
const firstRowIndex = 2;
const bodyKeys: ReadonlySet<string> = new Set(["ArrowDown", "ArrowUp", "PageDown", "PageUp", "Home", "End", "Enter"]);

export interface DataTableHandle {
  toTop(): void;
  focus(): void;
}

export interface TableSort {
  /** `Column.id` */
  readonly column: string;
  readonly direction: "ascending" | "descending";
}

export interface DataTableProps<Row> {
  /** Names the table for a screen reader. */
  readonly label: string;
  readonly count: number;
  /** Rows from top to bottom. */
  readonly rowAt: (index: number) => Row | undefined;
  readonly rowId: (row: Row) => number | string;
  readonly columns: readonly Column<Row>[];
  readonly chosen?: number | string | undefined;
  readonly onChoose: (row: Row) => void;
  readonly onOpen: (row: Row) => void;
  readonly onClose: () => void;
  /** The current order; with `onSort`, the heads of sortable columns are buttons. */
  readonly sort?: TableSort;
  readonly onSort?: (column: string) => void;
  /** Rows are added at the end: while that is visible it stays so. */
  readonly followsEnd?: boolean;
  /** Called when the list is scrolled away from its top, and back to it. */
  readonly onScrolledAway?: (away: boolean) => void;
  /** Called when the user begins to aim at a row, and stops: the rows must not move meanwhile. */
  readonly onAimed?: (aims: boolean) => void;
  /** The right button was pressed on a row, or the menu key with a row chosen: the menu around the table is this row's. */
  readonly onRowMenu?: ((row: Row) => void) | undefined;
  /** The last rows are visible. */
  readonly onEndNear?: () => void;
  /** Loads the rows up to the last one, for the End key; `isWanted` is false as soon as the user goes elsewhere. */
  readonly loadAll?: (isWanted: () => boolean) => Promise<void>;
  readonly ref?: Ref<DataTableHandle>;
  /** Shown instead of rows. */
  readonly empty?: ReactNode;
  /** Another table of the page handles the keys while nothing has the focus. */
  readonly isSecondary?: boolean;
}

/** Dense, virtualised rows; the cost of a change depends on the visible rows only. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { count, rowAt, rowId, chosen, onScrolledAway, onEndNear, followsEnd = false, isSecondary = false } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const idPrefix = useId();
  const { columns, template, fillCh } = useFittedColumns(scroller, props.columns);
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    overscan: (scroller.current?.scrollTop ?? 0) > 0 ? rowsBeyond : rowsBeyondAtTop,
    // The head stays visible above the rows.
    scrollMargin: rowPx,
    scrollPaddingStart: rowPx,
  });
  const items = virtual.getVirtualItems();
  const indexOfChosen = useCallback(() => {
    if (chosen === undefined) return -1;
    for (let index = 0; index < count; index++) {
      const row = rowAt(index);
      if (row !== undefined && rowId(row) === chosen) return index;
    }
    return -1;
  }, [chosen, count, rowAt, rowId]);

  const away = useRef(false);
  const setAway = (isAway: boolean) => {
    if (isAway === away.current) return;
    away.current = isAway;
    onScrolledAway?.(isAway);
  };

  useImperativeHandle(props.ref, () => ({
    toTop: () => {
      away.current = false;
      scroller.current?.scrollTo({ top: 0 });
    },
    focus: () => scroller.current?.focus({ preventScroll: true }),
  }));

  const isAtEnd = useRef(true);
  const toEnd = () => {
    const { current } = scroller;
    if (followsEnd && isAtEnd.current && current) current.scrollTop = current.scrollHeight;
  };
  const { aims, hold, handlers } = useAim((isAiming) => {
    if (!isAiming) toEnd();
    props.onAimed?.(isAiming);
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the end moves with the number of rows.
  useLayoutEffect(() => {
    if (!aims.current) toEnd();
  }, [followsEnd, count]);
  const noteScroll = () => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = scroller.current ?? {};
    isAtEnd.current = scrollHeight - clientHeight - scrollTop < rowPx;
    setAway(scrollTop > 1);
  };

  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (count > 0 && last >= count - 40) onEndNear?.();
  }, [last, count, onEndNear]);

  const { goToEnd, leaveEnd } = useEndKey(props.loadAll, () => moveTo(count - 1));
  const onKeyDown = (event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "preventDefault">) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const from = indexOfChosen();
    if (event.key === "Enter" || event.key === "Escape") {
      const row = from < 0 ? undefined : rowAt(from);
      if (event.key === "Escape") props.onClose();
      else if (row !== undefined) props.onOpen(row);
      event.preventDefault();
      return;
    }
    const pageRows = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowPx) - 2);
    const to = movedRow(event.key, from, count, pageRows);
    if (to === undefined) return;
    event.preventDefault();
    moveTo(to);
    if (event.key === "End") void goToEnd();
    else leaveEnd();
  };

  const moveTo = (to: number) => {
    const row = rowAt(to);
    if (row === undefined) return;
    if (to === 0) scroller.current?.scrollTo({ top: 0 });
    else virtual.scrollToIndex(to);
    // Rows do not move while the user steps through them.
    setAway(to > 0);
    hold();
    props.onChoose(row);
  };

  const onBodyKey = useEffectEvent(onKeyDown);
  useEffect(() => {
    if (isSecondary) return;
    // If nothing has the focus, the table handles the keys that move through rows.
    const listen = (event: globalThis.KeyboardEvent) => {
      if (event.target !== document.body || event.defaultPrevented || !bodyKeys.has(event.key)) return;
      scroller.current?.focus({ preventScroll: true });
      onBodyKey(event);
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, [isSecondary]);

  const onContextMenu = (event: MouseEvent) => {
    const place = Number((event.target as Element).closest("[aria-rowindex]")?.getAttribute("aria-rowindex")) - firstRowIndex;
    // The key for menus is pressed on the table and not on a row.
    const row = rowAt(place >= 0 ? place : indexOfChosen());
    if (row === undefined || !props.onRowMenu) {
      event.stopPropagation();
      return;
    }
    props.onChoose(row);
    props.onRowMenu(row);
  };

  const shown = items.map((item) => ({ item, row: rowAt(item.index) }));
  const chosenIsShown = shown.some(({ row }) => row !== undefined && rowId(row) === chosen);
  return (
    <div className={`focus-frame ${styles.frame}`}>
      <div
        ref={scroller}
        className={styles.scroller}
        role="grid"
        tabIndex={0}
        aria-label={props.label}
        aria-rowcount={count + 1}
        aria-colcount={columns.length}
        aria-activedescendant={chosenIsShown ? `${idPrefix}-${chosen}` : undefined}
        style={{ "--columns": template } as never}
        onScroll={noteScroll}
        onWheel={leaveEnd}
        onPointerDown={leaveEnd}
        onKeyDown={onKeyDown}
        onContextMenu={onContextMenu}
      >
        <div role="rowgroup" className={styles.head}>
          <div role="row" aria-rowindex={1} className={styles.columns}>
            {columns.map((column) => (
              <div key={column.id} role="columnheader" data-align={column.align} aria-sort={ariaSort(column, props)}>
                <ColumnHead column={column as Column<unknown>} sort={props.sort} onSort={props.onSort} />
              </div>
            ))}
          </div>
        </div>
        {count === 0 && props.empty && (
          // A grid may own rows only: what is shown in place of them is one, with its buttons.
          <div role="row" className={styles.empty}>
            <div role="gridcell" aria-colspan={columns.length} className={styles.empty}>
              {props.empty}
            </div>
          </div>
        )}
        <div role="rowgroup" className={styles.rows} style={{ height: virtual.getTotalSize() }} {...handlers}>
          {shown.map(
            ({ item, row }) =>
              row !== undefined && (
                <TableRow
                  // Keyed by place, not by row: arriving rows change texts and create no new elements.
                  key={item.key}
                  domId={`${idPrefix}-${rowId(row)}`}
                  row={row}
                  index={item.index}
                  topPx={item.start - rowPx}
                  columns={columns as readonly Column<unknown>[]}
                  fillCh={fillCh}
                  isChosen={rowId(row) === chosen}
                  onPick={props.onOpen as (row: unknown) => void}
                />
              ),
          )}
        </div>
      </div>
    </div>
  );
}

/** "none" tells a screen reader that the column can be sorted by. */
function ariaSort<Row>(column: Column<Row>, { sort, onSort }: Pick<DataTableProps<Row>, "sort" | "onSort">) {
  if (!onSort || !isSortable(column)) return undefined;
  return sort?.column === column.id ? sort.direction : "none";
}

function ColumnHead({
  column,
  sort,
  onSort,
}: {
  column: Column<unknown>;
  sort: TableSort | undefined;
  onSort: DataTableProps<unknown>["onSort"];
}) {
  if (!onSort || !isSortable(column)) return column.head ?? column.title;
  const direction = sort?.column === column.id ? sort.direction : undefined;
  const Arrow = direction === "ascending" ? IconArrowUp : IconArrowDown;
  return (
    <button
      type="button"
      className={styles.sort}
      data-sorted={direction !== undefined}
      // The button handles these keys itself; in the grid they would move through rows.
      onKeyDown={(event) => (event.key === "Enter" || event.key === " ") && event.stopPropagation()}
      onClick={() => onSort(column.id)}
    >
      {column.title}
      {direction && <Arrow size={12} stroke={1.5} aria-hidden="true" />}
    </button>
  );
}

interface TableRowProps {
  readonly domId: string;
  readonly row: unknown;
  readonly index: number;
  readonly topPx: number;
  readonly columns: readonly Column<unknown>[];
  readonly fillCh: number;
  readonly isChosen: boolean;
  readonly onPick: (row: unknown) => void;
}

const TableRow = memo(function TableRow({ domId, row, index, topPx, columns, fillCh, isChosen, onPick }: TableRowProps) {
  return (
    <div
      id={domId}
      role="row"
      aria-rowindex={index + firstRowIndex}
      aria-selected={isChosen}
      className={`${styles.columns} ${styles.row}`}
      style={{ transform: `translateY(${topPx}px)` }}
      // On mouse down: another row may be under the pointer on release.
      onMouseDown={(event) => event.button === 0 && onPick(row)}
    >
      {columns.map((column) => (
        <div key={column.id} role="gridcell" data-align={column.align}>
          {column.cell(row, fillCh)}
        </div>
      ))}
    </div>
  );
});

import type { HTMLAttributes, ReactNode } from "react";
import { EdgeHandle } from "./edge-handle.tsx";
import { FoldTitle } from "./fold-title.tsx";
import { onEscape } from "./keys.ts";
import styles from "./lower-panel.module.css";
import { PanelHead } from "./panel.tsx";
import { useRemembered } from "./use-remembered.ts";

interface LowerPanelProps {
  readonly title: string;
  /** Its state is remembered under this name: "sse". */
  readonly rememberAs: string;
  /** Of the list, until the user changes it. */
  readonly heightPx: number;
  /** Names the list; without it the panel has a table, which fills its height. */
  readonly listLabel?: string;
  /** Names the handle that changes the height. */
  readonly heightLabel: string;
  /** There is no list to show. */
  readonly isEmpty: boolean;
  /** It gives way in a low window. */
  readonly isOptional?: boolean;
  /** Folded in a window that is not higher than `lowPx`, until the user opens it. */
  readonly opensInHigh?: boolean;
  /** Escape was pressed in it, where no field takes it. */
  readonly onEscape?: () => void;
  /** After the title; `unfold` is for what asks for the rows. */
  readonly head: ReactNode | ((unfold: () => void) => ReactNode);
  /** The rows of the list, or the table. */
  readonly children: ReactNode;
}

/** In less the list above it is left with a few rows. */
const lowPx = 900;
const heightBounds = { minimum: 32, maximum: 420 };

/** A panel below a list, with a list of its own that can be folded and resized. */
export function LowerPanel({
  title,
  rememberAs,
  heightPx,
  listLabel,
  heightLabel,
  isEmpty,
  isOptional,
  opensInHigh = false,
  onEscape: close,
  head,
  children,
}: LowerPanelProps) {
  const [open, setOpen] = useRemembered(`${rememberAs}.open`, !opensInHigh || window.innerHeight > lowPx);
  const [height, setHeight] = useRemembered(`${rememberAs}.height`, heightPx);
  const showsList = open && !isEmpty;
  return (
    <section className={styles.panel} data-optional={isOptional || undefined} aria-label={title} onKeyDown={close && onEscape(close)}>
      {showsList && <EdgeHandle axis="y" {...heightBounds} value={height} onChange={setHeight} label={heightLabel} />}
      <PanelHead plain className={styles.head}>
        <FoldTitle title={title} open={open} onToggle={() => setOpen(!open)} disabled={isEmpty} />
        {typeof head === "function" ? head(() => setOpen(true)) : head}
      </PanelHead>
      {showsList &&
        (listLabel === undefined ? (
          <div className={styles.table} style={{ height }}>
            {children}
          </div>
        ) : (
          <LowerList label={listLabel} maxHeightPx={height}>
            {children}
          </LowerList>
        ))}
    </section>
  );
}

interface LowerListProps {
  readonly label: string;
  readonly maxHeightPx: number;
  readonly children: ReactNode;
}

/** The rows of a panel below a list. */
export const LowerList = ({ label, maxHeightPx, children }: LowerListProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard.
  <ul className={styles.list} style={{ maxHeight: maxHeightPx }} tabIndex={0} aria-label={label}>
    {children}
  </ul>
);

/** A row in columns, which `className` sets. */
export const LowerRow = ({ className, ...rest }: HTMLAttributes<HTMLLIElement>) => (
  <li {...rest} className={`${styles.row} ${className ?? ""}`} />
);

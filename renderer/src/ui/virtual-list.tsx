import type { Ref } from "react";
import { type ElementProps, joinedClasses } from "./panel.tsx";
import styles from "./virtual-list.module.css";

interface VirtualListProps extends ElementProps {
  /** Of all rows, rendered or not. */
  readonly heightPx: number;
  readonly ref?: Ref<HTMLDivElement>;
}

/** A scrolled list of which the visible rows are rendered. It has the focus and handles the keys, also for its rows. */
export function VirtualList({ heightPx, className, children, ...rest }: VirtualListProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: its role comes with `rest`.
    <div tabIndex={0} {...rest} className={joinedClasses(styles.list, className)}>
      <div role="presentation" className={styles.rows} style={{ height: heightPx }}>
        {children}
      </div>
    </div>
  );
}

interface VirtualRowProps extends Omit<ElementProps, "style"> {
  readonly topPx: number;
  readonly heightPx: number;
}

/** A row, laid out as a grid whose columns `className` has. */
export function VirtualRow({ topPx, heightPx, className, ...rest }: VirtualRowProps) {
  return (
    <div {...rest} className={joinedClasses(styles.row, className)} style={{ transform: `translateY(${topPx}px)`, height: heightPx }} />
  );
}

/** An action at the end of the row under the pointer. Not a button, which such a row may not contain: by keyboard the list has it. */
export const RowAction = ({ className, ...rest }: ElementProps) => <span {...rest} className={joinedClasses(styles.action, className)} />;

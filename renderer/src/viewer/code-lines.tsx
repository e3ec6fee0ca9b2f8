import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useRef } from "react";
import styles from "./code-lines.module.css";

const linePx = 20;

interface CodeLinesProps {
  /** Names the text for a screen reader. */
  readonly label: string;
  readonly count: number;
  readonly line: (index: number) => ReactNode;
  /** In the margin; empty for a line that goes on from the one before. */
  readonly margin: (index: number) => string;
  /** The widest margin text, in characters. */
  readonly marginCharacters: number;
  /** The widest line, in characters, for the scroll bar of unwrapped text. */
  readonly widestCharacters: number;
  readonly wrap: boolean;
}

/** Lines of monospaced text in a well; only those in sight are drawn. */
export function CodeLines({ label, count, line, margin, marginCharacters, widestCharacters, wrap }: CodeLinesProps) {
  const scroller = useRef<HTMLElement>(null);
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => linePx,
    overscan: 10,
    paddingStart: 8,
    paddingEnd: 8,
  });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard.
    <section ref={scroller} className={styles.well} tabIndex={0} aria-label={label} data-wrap={wrap}>
      <div
        className={styles.lines}
        style={{ height: virtual.getTotalSize(), minWidth: wrap ? undefined : `calc(${widestCharacters + marginCharacters}ch + 56px)` }}
      >
        {virtual.getVirtualItems().map((item) => (
          <div
            key={item.key}
            ref={wrap ? virtual.measureElement : undefined}
            data-index={item.index}
            className={styles.line}
            style={{ transform: `translateY(${item.start}px)` }}
          >
            <span className={styles.margin} style={{ width: `${marginCharacters}ch` }} aria-hidden="true">
              {margin(item.index)}
            </span>
            <span className={styles.text}>{line(item.index)}</span>
          </div>
        ))}
      </div>
    </section>
  );
}

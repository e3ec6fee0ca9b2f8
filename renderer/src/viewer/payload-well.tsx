import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef } from "react";
import type { DiffLine } from "./line-diff.ts";
import styles from "./payload-well.module.css";

const linePx = 20;
const signs = { same: "", added: "+", removed: "−" } as const;
const words = { same: "", added: "added: ", removed: "removed: " } as const;

/** Lines of a payload, those that changed marked by sign and colour; only those in sight are drawn. */
export function PayloadWell({ lines, isHex }: { readonly lines: readonly DiffLine[]; readonly isHex: boolean }) {
  const scroller = useRef<HTMLElement>(null);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => linePx,
    overscan: 8,
    paddingStart: 6,
    paddingEnd: 6,
  });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard.
    <section ref={scroller} className={styles.well} tabIndex={0} aria-label="Payload" data-hex={isHex || undefined}>
      <div className={styles.lines} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => {
          const entry = lines[item.index];
          if (!entry) return null;
          return (
            <div
              key={item.key}
              ref={virtual.measureElement}
              data-index={item.index}
              data-change={entry.change}
              className={styles.line}
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <span className={styles.sign} aria-hidden="true">
                {signs[entry.change]}
              </span>
              <span className={styles.text}>
                {entry.change !== "same" && <span className="visually-hidden">{words[entry.change]}</span>}
                {entry.line.map((piece, place) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a line never change places.
                  <span key={place} className={styles[piece.kind]}>
                    {piece.text}
                  </span>
                ))}
              </span>
            </div>
          );
        })}
      </div>
    </section>
  );
}

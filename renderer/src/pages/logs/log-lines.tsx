import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef } from "react";
import type { LogLevel, LogLine } from "../../../../contract/log.ts";
import { useRowsView } from "../../list/rows/use-list-rows.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import { clockTime, isoTime } from "../../ui/texts/time.ts";
import styles from "./log-lines.module.css";
import type { LogRows } from "./log-rows.ts";

const lineHeightPx = 22;
/** Distance from the end that still counts as being at the end. */
const endSlackPx = 24;

/** Lines above the visible ones below which older ones are read. */
const olderFromLines = 40;

interface LogLinesProps {
  readonly rows: LogRows;
  readonly withSource?: boolean;
}

/** Oldest first. Scrolling away from the end stops following and scrolling back resumes it; older lines are read at the start. */
export function LogLines({ rows, withSource = true }: LogLinesProps) {
  const box = useRef<HTMLDivElement>(null);
  const { version, count, mode, hasOlder } = useRowsView(rows, (view) => view);
  const virtual = useVirtualizer({ count, getScrollElement: () => box.current, estimateSize: () => lineHeightPx, overscan: 8 });
  const follows = mode === "following";
  const held = useRef({ count, oldest: rows.rowAt(count - 1)?.seq });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another version has other lines.
  useLayoutEffect(() => {
    const before = held.current;
    const oldest = rows.rowAt(count - 1)?.seq;
    held.current = { count, oldest };
    if (follows) {
      if (count > 0) virtual.scrollToIndex(count - 1, { align: "end" });
    } else if (before.oldest !== undefined && oldest !== undefined && oldest < before.oldest) {
      // Older lines were added above the visible ones.
      box.current?.scrollBy({ top: (count - before.count) * lineHeightPx });
    }
  }, [follows, version, count]);

  const items = virtual.getVirtualItems();
  const first = items[0]?.index ?? 0;
  useEffect(() => {
    if (hasOlder && !follows && first < olderFromLines) void rows.loadOlder();
  }, [rows, hasOlder, follows, first]);

  const isAtEnd = ({ scrollHeight, scrollTop, clientHeight }: HTMLElement) => scrollHeight - scrollTop - clientHeight < endSlackPx;
  const onScroll = () => {
    if (box.current && isAtEnd(box.current)) rows.scrolled(false);
  };
  const leave = () => {
    const element = box.current;
    if (element && element.scrollHeight > element.clientHeight) rows.scrolled(true);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "End") rows.scrolled(false);
    if (["Home", "PageUp", "ArrowUp"].includes(event.key)) leave();
  };
  return (
    <section
      className={styles.box}
      ref={box}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region has to be reachable by keyboard.
      tabIndex={0}
      aria-label="Log lines"
      onScroll={onScroll}
      onWheel={(event) => event.deltaY < 0 && leave()}
      onKeyDown={onKeyDown}
    >
      <div className={styles.all} style={{ height: virtual.getTotalSize() }}>
        {items.map((item) => {
          const line = rows.rowAt(count - 1 - item.index);
          return line && <Line key={line.seq} line={line} top={item.start} withSource={withSource} />;
        })}
      </div>
    </section>
  );
}

function Line({ line, top, withSource }: { line: LogLine; top: number; withSource: boolean }) {
  return (
    <div className={styles.line} style={{ transform: `translateY(${top}px)` }}>
      <time className={styles.time} dateTime={isoTime(line.at)} title={isoTime(line.at)}>
        {clockTime(line.at)}
      </time>
      <span className={styles.level}>
        <LevelTag level={line.level} />
      </span>
      {withSource && <span className={styles.source}>{line.source}</span>}
      <span className={styles.text} title={shownText(line.text)}>
        {shownText(line.text)}
      </span>
    </div>
  );
}

export function LevelTag({ level }: { level: LogLevel }) {
  return <span className={`${styles.tag} ${styles[level]}`}>{level}</span>;
}

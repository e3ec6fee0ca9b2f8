import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useEffect, useRef } from "react";
import type { LogLevel, LogLine } from "../../../../contract/log.ts";
import { clockTime, isoTime } from "../../ui/texts/time.ts";
import styles from "./log-lines.module.css";

const lineHeightPx = 22;
/** How near to the end still counts as being there. */
const endSlackPx = 24;

interface LogLinesProps {
  readonly lines: readonly LogLine[];
  readonly follow: boolean;
  onFollow(follow: boolean): void;
  readonly withSource?: boolean;
}

/** Oldest first; scrolling away from the end stops the following, coming back takes it up again. */
export function LogLines({ lines, follow, onFollow, withSource = true }: LogLinesProps) {
  const box = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({ count: lines.length, getScrollElement: () => box.current, estimateSize: () => lineHeightPx, overscan: 8 });
  const newest = lines.at(-1)?.seq;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new newest line is what moves the end.
  useEffect(() => {
    if (follow && lines.length > 0) rows.scrollToIndex(lines.length - 1, { align: "end" });
  }, [follow, newest, lines.length]);

  const onScroll = () => {
    const element = box.current;
    if (!element) return;
    const atEnd = element.scrollHeight - element.scrollTop - element.clientHeight < endSlackPx;
    if (atEnd && !follow) onFollow(true);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "End") onFollow(true);
    if (["Home", "PageUp", "ArrowUp"].includes(event.key)) onFollow(false);
  };
  return (
    <section
      className={styles.box}
      ref={box}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region has to be reachable by keyboard.
      tabIndex={0}
      aria-label="Log lines"
      onScroll={onScroll}
      onWheel={(event) => event.deltaY < 0 && onFollow(false)}
      onKeyDown={onKeyDown}
    >
      <div className={styles.all} style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map((row) => {
          const line = lines[row.index];
          return line && <Line key={line.seq} line={line} top={row.start} withSource={withSource} />;
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
      <span className={styles.text} title={line.text}>
        {line.text}
      </span>
    </div>
  );
}

export function LevelTag({ level }: { level: LogLevel }) {
  return <span className={`${styles.tag} ${styles[level]}`}>{level}</span>;
}

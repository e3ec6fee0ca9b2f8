import { useEffect, useRef, useState } from "react";
import { shownText } from "../../ui/texts/shown-text.ts";
import { monoCharacterPx } from "../columns/use-fitted-columns.ts";
import { fittingPath } from "./fitting-path.ts";
import styles from "./path-text.module.css";

interface PathTextProps {
  /** "/orders/7?page=2", "/package.Service/Method", "sensors/hall-a/temperature" */
  readonly text: string;
  /** What is before the last segment is secondary. */
  readonly quiet?: boolean;
}

/**
 * A path or topic in one line of `roomCh` characters. It is cut here and not by the style sheet, which needs a box for each part: lists
 * show hundreds of paths a second.
 */
export function PathText({ text, quiet = false, roomCh }: PathTextProps & { readonly roomCh: number }) {
  const { parts, isCut } = fittingPath(text, roomCh);
  const [above, last, query] = parts;
  const shown = (
    <span className={styles.path} aria-hidden={isCut || undefined}>
      {quiet ? <span className={styles.soft}>{above}</span> : above + last}
      {quiet && last}
      {query !== "" && <span className={styles.soft}>{query}</span>}
    </span>
  );
  if (!isCut) return shown;
  const whole = shownText(text);
  return (
    <span title={whole}>
      {/* Is read and found; its width is that of the whole text. */}
      <span className={styles.whole}>{whole}</span>
      {shown}
    </span>
  );
}

/** The same outside a table, as wide as its place. */
export function MeasuredPath(props: PathTextProps) {
  const box = useRef<HTMLSpanElement>(null);
  const [roomCh, setRoomCh] = useState(Number.POSITIVE_INFINITY);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const resize = new ResizeObserver(([entry]) => {
      // As wide as a text that fits, rounded.
      if (entry) setRoomCh(Math.floor(entry.contentRect.width / monoCharacterPx() + 0.01));
    });
    resize.observe(element);
    return () => resize.disconnect();
  }, []);
  return (
    <span className={styles.box} ref={box}>
      <PathText {...props} roomCh={roomCh} />
    </span>
  );
}

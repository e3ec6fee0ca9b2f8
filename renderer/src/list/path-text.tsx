import { shownText } from "../ui/texts/shown-text.ts";
import styles from "./path-text.module.css";

interface PathTextProps {
  /** "/orders/7?page=2", "/package.Service/Method", "sensors/hall-a/temperature" */
  readonly text: string;
  /** What is before the last segment is secondary. */
  readonly quiet?: boolean;
}

/**
 * A path or topic in one line. People look for its last segment, so the query is truncated first, then what is above it, at its start.
 */
export function PathText({ text, quiet = false }: PathTextProps) {
  const [above, last, query] = segmentsOf(text);
  return (
    <span className={styles.path} title={shownText(text)} data-quiet={quiet || undefined}>
      {/* The text in one piece: of the shown parts it would be read, and found, with spaces between them. */}
      <span className="visually-hidden">{shownText(text)}</span>
      <span className={styles.parts} aria-hidden="true">
        {above !== "" && <span className={styles.above} data-text={shownText(above)} />}
        <span className={styles.last} data-text={shownText(last)} />
        {query !== "" && <span className={styles.query} data-text={shownText(query)} />}
      </span>
    </span>
  );
}

/** Only a text that begins with a slash has a query: a topic may contain "?". */
export function segmentsOf(text: string): readonly [above: string, last: string, query: string] {
  const queryStart = text.startsWith("/") ? text.indexOf("?") : -1;
  const path = queryStart < 0 ? text : text.slice(0, queryStart);
  // A slash at the end belongs to the last segment.
  const cut = path.slice(0, -1).lastIndexOf("/") + 1;
  return [path.slice(0, cut), path.slice(cut), text.slice(path.length)];
}

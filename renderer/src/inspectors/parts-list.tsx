import { type ReactNode, useCallback, useMemo, useState } from "react";
import type { DetailPart } from "../../../contract/traffic/detail.ts";
import type { Column } from "../list/columns/column.ts";
import { DataTable } from "../list/data-table.tsx";
import { NewRows } from "../list/follow-mark.tsx";
import { useRowChoice } from "../list/use-row-choice.ts";
import { Caption } from "../ui/panel.tsx";
import { Answered } from "../ui/status/answered.tsx";
import { attempt } from "../ui/status/notify.tsx";
import { capitalized, formatCount, formatCountOf } from "../ui/texts/quantity.ts";
import type { InspectorTab } from "./inspector-frame.tsx";
import styles from "./parts-list.module.css";
import type { Parts } from "./use-detail.ts";

interface PartsListProps<Part extends DetailPart> {
  /** "message", "event" */
  readonly item: string;
  readonly parts: Parts;
  readonly isPart: (part: DetailPart) => part is Part;
  readonly columns: readonly Column<Part>[];
  /** The chosen part in full, below the list. */
  readonly content: (part: Part) => ReactNode;
  /** More parts may come. */
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** A tab with the messages of a stream. */
export const messagesTab = <Part extends DetailPart>(list: Omit<PartsListProps<Part>, "item">): InspectorTab => ({
  name: "messages",
  title: "Messages",
  content: <PartsList item="message" {...list} />,
});

/** From the user's view, who knows clients: the service has received what is from one. */
export const directionText = { received: "from client", sent: "to client" } as const;

const partIndex = (part: DetailPart) => part.index;

/**
 * The parts of an exchange. Of one that is open or long the newest are first, and the list grows; one that has ended and is here completely is read
 * from its beginning.
 */
export function PartsList<Part extends DetailPart>({ item, parts, isPart, columns, content, isOpen, onClose }: PartsListProps<Part>) {
  const { value, loadOlder } = parts;
  /** Visible rows do not move: newer ones are held back until the list is scrolled to its top again. */
  const [heldAt, setHeldAt] = useState<number>();
  const known = useMemo(() => (value?.parts ?? []).filter(isPart), [value, isPart]);
  const shown = useMemo(() => (heldAt === undefined ? known : known.filter(({ index }) => index <= heldAt)), [known, heldAt]);
  const choice = useRowChoice<Part, number>(partIndex);
  /** Chosen once: what is being read does not turn over when the exchange ends. */
  const [isOldestFirst, setOldestFirst] = useState<boolean>();
  if (value && isOldestFirst === undefined) setOldestFirst(!isOpen && value.parts.length === value.total - value.leftOut);
  const rowAt = useCallback((index: number) => shown[isOldestFirst ? index : shown.length - 1 - index], [shown, isOldestFirst]);
  const onEndNear = useCallback(() => void attempt(loadOlder()), [loadOlder]);
  const chosen = shown.find(({ index }) => index === choice.chosen);
  if (value === null) return <Caption className={styles.facts}>{`The ${item}s are no longer kept.`}</Caption>;
  if (value === undefined) {
    return (
      <Answered answer={parts} what={`the ${item}s`} compact>
        {() => null}
      </Answered>
    );
  }
  const follow = () => {
    choice.table.current?.toTop();
    setHeldAt(undefined);
  };
  const order = isOldestFirst ? "oldest first" : "newest first";
  const facts = [
    formatCountOf(value.total, item),
    value.leftOut > 0 && `${formatCount(value.leftOut)} not kept`,
    shown.length > 1 && order,
  ];
  return (
    <div className={styles.parts}>
      <Caption className={styles.facts}>{facts.filter(Boolean).join(" · ")}</Caption>
      <div className={styles.table}>
        {known.length > shown.length && <NewRows count={known.length - shown.length} onFollow={follow} />}
        <DataTable
          {...choice.tableProps}
          onOpen={choice.choose}
          onClose={onClose}
          label={`${capitalized(item)}s, ${order}`}
          count={shown.length}
          rowAt={rowAt}
          columns={columns}
          onScrolledAway={(isAway) => setHeldAt(isAway && !isOldestFirst ? known.at(-1)?.index : undefined)}
          onEndNear={onEndNear}
          empty={
            <Caption className={styles.facts}>{isOpen ? `No ${item} yet. Each appears here when it arrives.` : `No ${item}s.`}</Caption>
          }
        />
      </div>
      {chosen && <div className={styles.content}>{content(chosen)}</div>}
    </div>
  );
}

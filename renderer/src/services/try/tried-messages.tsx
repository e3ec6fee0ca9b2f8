import type { ReactNode } from "react";
import type { Column } from "../../list/columns/column.ts";
import { DataTable } from "../../list/data-table.tsx";
import { useRowChoice } from "../../list/use-row-choice.ts";
import { Caption } from "../../ui/panel.tsx";
import { formatBytes, formatCount } from "../../ui/texts/quantity.ts";
import { formatTook } from "../../ui/texts/time.ts";
import styles from "./tried-messages.module.css";

/** A message that the client of a Try tab sent or received. */
export interface TriedMessage {
  readonly place: number;
  readonly direction: "sent" | "received";
  /** Milliseconds since the call or connection was begun. */
  readonly atMs: number;
  readonly bytes: number;
}

/** Most messages that are read. */
export const shownMessages = 200;
/** Visible at once; the others are scrolled to. */
const mostRows = 8;
const placeOf = ({ place }: TriedMessage) => place;

interface TriedMessagesProps<Message extends TriedMessage> {
  /** "the call" */
  readonly of: string;
  /** Newest first. */
  readonly messages: readonly Message[];
  /** All of them, shown or not. */
  readonly count: number;
  readonly isOpen: boolean;
  /** One line of its content. */
  readonly preview: (message: Message) => ReactNode;
  /** The chosen one in full: without a choice the newest that was received. */
  readonly children: (message: Message, facts: string) => ReactNode;
}

/** The messages of the call or connection that was tried, and the content of one. */
export function TriedMessages<Message extends TriedMessage>(props: TriedMessagesProps<Message>) {
  const { of, messages, count, isOpen, preview, children } = props;
  const choice = useRowChoice(placeOf);
  const chosen = messages.find(({ place }) => place === choice.chosen) ?? messages.find(({ direction }) => direction === "received");
  const columns: readonly Column<Message>[] = [
    { id: "direction", title: "Direction", minSample: "↓ received", rank: 1, cell: ({ direction }) => directions[direction] },
    { id: "at", title: "After", minSample: "00 m 00 s", align: "end", rank: 2, cell: ({ atMs }) => formatTook(atMs) },
    {
      id: "content",
      title: count > messages.length && messages.length > 0 ? `Newest ${formatCount(messages.length)}` : "Content",
      rank: 0,
      cell: (message) => <code>{preview(message)}</code>,
    },
    { id: "size", title: "Size", minSample: "000 MB", align: "end", rank: 3, cell: ({ bytes }) => formatBytes(bytes) },
  ];
  return (
    <>
      <div className={styles.messages} style={{ height: `calc(var(--bl-row) * ${Math.min(mostRows, Math.max(1, messages.length)) + 1})` }}>
        <DataTable
          {...choice.tableProps}
          onOpen={choice.choose}
          label={`Messages of ${of}, newest first`}
          count={messages.length}
          rowAt={(index) => messages[index]}
          columns={columns}
          empty={<Caption className={styles.none}>{isOpen ? "No message yet." : "No message passed."}</Caption>}
        />
      </div>
      {chosen && <div className={styles.content}>{children(chosen, `${chosen.direction} after ${formatTook(chosen.atMs)}`)}</div>}
    </>
  );
}

const directions = { sent: "↑ sent", received: "↓ received" } as const;

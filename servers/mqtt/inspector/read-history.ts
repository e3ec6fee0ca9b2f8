import { RecordError } from "../../core/traffic/record-reader.ts";
import type { KeptRecord } from "../../core/traffic/row-record.ts";
import type { InTurns } from "./history-parts.ts";
import type { KeptMessages } from "./kept-messages.ts";
import { readMessage } from "./message-bytes.ts";
import { MessageRecord, type RecordContext } from "./message-record.ts";

const previewBytes = 64;

/** Restores the topic tree and the history of earlier processes from the records that the supervisor kept; `onOwing` is told of messages whose process still had to deliver them. */
export async function readHistory(
  kept: AsyncIterable<KeptRecord>,
  createMessages: () => KeptMessages,
  context: RecordContext,
  onOwing: (record: MessageRecord) => void,
  inTurns: InTurns,
): Promise<KeptMessages> {
  let messages = createMessages();
  let cleared: KeptMessages | undefined;
  for await (const record of kept) {
    const { kind, verb } = record.row;
    if (kind === "mqtt-message") {
      const restored = restore(messages, record, context);
      if (restored && restored.owed > 0) onOwing(restored);
    } else if (verb === "CLEAR") {
      cleared = messages;
      messages = createMessages();
    } else if (verb === "RESTORE" && cleared) {
      await inTurns(cleared.appendNewer(messages));
      messages = cleared;
      cleared = undefined;
    }
  }
  messages.rest();
  return messages;
}

function restore(messages: KeptMessages, { row, detail }: KeptRecord, context: RecordContext): MessageRecord | undefined {
  try {
    const { message, routed } = readMessage(row, detail);
    const record = MessageRecord.restored(row, message, routed, context);
    messages.keep(record, messages.tree.restore(record, record.payload(previewBytes), message.topicCount));
    return record;
  } catch (error) {
    // An unreadable record must not hide the others.
    if (!(error instanceof RecordError)) throw error;
    return undefined;
  }
}

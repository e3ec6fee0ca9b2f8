import type { MqttHistoryPage } from "../../../../../contract/services/mqtt.ts";
import type { MqttMessageSummary } from "../../../../../contract/traffic/mqtt.ts";
import { createListRows } from "../../../list/rows/list-rows.ts";
import type { ListRowsOptions } from "../../../list/rows/list-source.ts";
import type { ListRows, ListRowsView } from "../../../list/rows/list-view.ts";

export interface HistoryQuery {
  /** A topic, or a filter with wildcards; empty where none is chosen. */
  readonly filter: string;
  /** Only with this text in the payload. */
  readonly text: string;
  readonly withoutSample: boolean;
}

export type MessagePlace = Pick<MqttMessageSummary, "id">;
export type MessageHistory = ListRows<MqttMessageSummary, HistoryQuery, MessagePlace>;
export type MessageHistoryView = ListRowsView<HistoryQuery>;

type Kept = "nextFrame" | "pageRows" | "followRows" | "mostRows";

interface MessageHistoryOptions extends Pick<ListRowsOptions<MqttMessageSummary, HistoryQuery, MessagePlace>, Kept> {
  readonly read: (query: HistoryQuery & { readonly before?: number; readonly limit: number }) => Promise<MqttHistoryPage>;
}

/** Messages that one `refresh` reads: arrivals are counted up to this number. */
export const historyPageRows = 200;

/** The recorded messages of a topic or filter. They are read when the broker's figures announce new ones. */
export function createMessageHistory({ read, ...options }: MessageHistoryOptions): MessageHistory {
  /** The broker counts only as far as it searched for a page; older pages add to it. */
  let inPart = 0;
  let searched: HistoryQuery | undefined;
  return createListRows<MqttMessageSummary, HistoryQuery, MessagePlace>({
    pageRows: historyPageRows,
    ...options,
    filter: { filter: "", text: "", withoutSample: false },
    order: (one, other) => one.id - other.id,
    numberOf: ({ id }) => ({ lane: "", number: id }),
    asks: ({ filter }) => filter !== "",
    isSame: isSameMessage,
    async read(query, { before, limit }) {
      const { messages, hasOlder, searchedInPart = 0 } = await read({ ...query, ...(before && { before: before.id }), limit });
      const isAll = before === undefined && !hasOlder;
      if (isAll || query !== searched) inPart = searchedInPart;
      else inPart = before ? inPart + searchedInPart : Math.max(inPart, searchedInPart);
      searched = query;
      return { rows: messages, hasOlder, searchedInPart: inPart };
    },
  });
}

/** Only the deliveries of a recorded message change. */
const isSameMessage = (one: MqttMessageSummary, other: MqttMessageSummary): boolean =>
  one.at === other.at &&
  one.matched === other.matched &&
  one.delivered === other.delivered &&
  one.acknowledged === other.acknowledged &&
  one.acknowledgeable === other.acknowledgeable &&
  one.dropped === other.dropped &&
  one.onDisk === other.onDisk &&
  one.moved === other.moved &&
  one.queued === other.queued;

/** The message for a comparison: the chosen one, if it is older and of the same topic, otherwise the previous one. */
export function comparedWith<Message extends Pick<MqttMessageSummary, "id" | "topic">>(
  chosen: Message,
  picked: Message | undefined,
  newestFirst: readonly Message[],
): Message | undefined {
  const isOlder = ({ id, topic }: Message) => id < chosen.id && topic === chosen.topic;
  return picked && isOlder(picked) ? picked : newestFirst.find(isOlder);
}

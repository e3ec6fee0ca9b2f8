import { useEffect, useState } from "react";
import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import { useControl } from "../../../control/client-context.tsx";
import { pacedFrame } from "../../../control/frame-store.ts";
import { useOnFigures } from "../broker/use-broker.ts";
import { isTopicFilter } from "../tree/topic-scope.ts";
import { createMessageHistory, type HistoryQuery, type MessageHistory } from "./message-history.ts";

const askAfterMs = 120;

/** The recorded messages of a filter, updated as messages arrive. Components subscribe to its view. */
export function useMessageHistory({ filter, text, withoutSample }: HistoryQuery): MessageHistory {
  const client = useControl();
  const [history] = useState(() =>
    createMessageHistory({
      read: (query) => client.action(mqttActions, "mqtt", "topic.history", query),
      nextFrame: pacedFrame,
    }),
  );
  useEffect(() => {
    const query = { filter: isTopicFilter(filter) ? filter : "", text, withoutSample };
    const shown = history.view().filter;
    if (query.filter === shown.filter && query.text === shown.text && query.withoutSample === shown.withoutSample) return;
    // Changes of the text are debounced; other changes are not.
    if (query.text === shown.text) {
      void history.setFilter(query);
      return;
    }
    const timer = setTimeout(() => void history.setFilter(query), askAfterMs);
    return () => clearTimeout(timer);
  }, [history, filter, text, withoutSample]);
  useOnFigures(() => void history.refresh());
  return history;
}

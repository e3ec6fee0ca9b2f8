import { useEffect, useState } from "react";
import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import { useControl } from "../../../control/client-context.tsx";
import { pacedFrame } from "../../../control/frame-store.ts";
import { useOnFigures } from "../broker/use-broker.ts";
import { isTopicFilter } from "../tree/topic-scope.ts";
import { createMessageHistory, type MessageHistory } from "./message-history.ts";

const askAfterMs = 120;

interface Options {
  readonly filter: string;
  readonly text: string;
}

/** The recorded messages of a filter, updated as messages arrive. Components subscribe to its view. */
export function useMessageHistory({ filter, text }: Options): MessageHistory {
  const client = useControl();
  const [history] = useState(() =>
    createMessageHistory({
      read: (query) => client.action(mqttActions, "mqtt", "topic.history", query),
      nextFrame: pacedFrame,
    }),
  );
  useEffect(() => {
    const query = { filter: isTopicFilter(filter) ? filter : "", text };
    const shown = history.view().filter;
    if (query.filter === shown.filter && query.text === shown.text) return;
    // Changes of the text are debounced; a change of the topic is not.
    if (query.text === shown.text) {
      void history.setFilter(query);
      return;
    }
    const timer = setTimeout(() => void history.setFilter(query), askAfterMs);
    return () => clearTimeout(timer);
  }, [history, filter, text]);
  useOnFigures(() => void history.refresh());
  return history;
}

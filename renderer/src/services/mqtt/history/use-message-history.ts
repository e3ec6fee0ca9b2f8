import { useEffect, useState, useSyncExternalStore } from "react";
import { type MqttFigures, mqttActions } from "../../../../../contract/services/mqtt.ts";
import { useControl } from "../../../control/client-context.tsx";
import { isTopicFilter } from "../tree/topic-scope.ts";
import { notifyUnlessGone } from "../tree/use-topic-branches.ts";
import { createMessageHistory, type MessageHistory, type MessageHistoryView } from "./message-history.ts";

const askAfterMs = 120;

interface Options {
  readonly filter: string;
  readonly text: string;
  /** Something moved whenever these are others. */
  readonly figures: MqttFigures | undefined;
}

/** The recorded messages of a filter, renewed while messages come. */
export function useMessageHistory({ filter, text, figures }: Options): readonly [MessageHistory, MessageHistoryView] {
  const client = useControl();
  const [history] = useState(() =>
    createMessageHistory({
      read: (query) => client.action(mqttActions, "mqtt", "topic.history", query),
      onFailure: notifyUnlessGone,
    }),
  );
  const view = useSyncExternalStore(history.subscribe, history.view);
  useEffect(() => {
    const query = { filter: isTopicFilter(filter) ? filter : "", text };
    // Typed text waits for the typing to rest; another topic does not.
    if (query.text === history.view().text) {
      void history.setQuery(query);
      return;
    }
    const timer = setTimeout(() => void history.setQuery(query), askAfterMs);
    return () => clearTimeout(timer);
  }, [history, filter, text]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the figures say that there is something new to read.
  useEffect(() => {
    void history.refresh();
  }, [history, figures]);
  return [history, view];
}

import { useRef } from "react";
import { type MqttFigures, mqttActions } from "../../../../../contract/services/mqtt.ts";
import type { MqttMessage, MqttMessageSummary } from "../../../../../contract/traffic/mqtt.ts";
import { useControl } from "../../../control/client-context.tsx";
import { useRefreshed } from "../../../control/use-refreshed.ts";
import { notifyUnlessGone } from "../tree/use-topic-branches.ts";

export interface ChosenMessage {
  readonly message: MqttMessage | undefined;
  /** The recorder no longer has it. */
  readonly gone: boolean;
}

const nothing: ChosenMessage = { message: undefined, gone: false };

/** A recorded message with its deliveries, read again while acknowledgements are awaited. */
export function useChosenMessage(summary: MqttMessageSummary | undefined, figures: MqttFigures | undefined): ChosenMessage {
  const client = useControl();
  const newest = useRef<MqttMessage>(undefined);
  const id = summary?.id;
  const known = newest.current?.id === id ? newest.current : undefined;
  const isOpen = known !== undefined && known.acknowledged < known.acknowledgeable;
  const counts = summary && `${summary.acknowledged} ${summary.delivered} ${summary.dropped}`;
  const answered = useRefreshed({
    key: id,
    // What has no acknowledgement outstanding changes with its row only.
    version: isOpen ? figures?.at : counts,
    read: async (asked): Promise<ChosenMessage> => {
      const message = await client.action(mqttActions, "mqtt", "message.read", { id: asked });
      if (message) newest.current = message;
      return message ? { message, gone: false } : { message: newest.current?.id === asked ? newest.current : undefined, gone: true };
    },
    onFailure: notifyUnlessGone,
  });
  // What was shown stays until there is something else: no flicker from row to row.
  return id === undefined ? nothing : (answered?.answer ?? nothing);
}

/** An older message than another, for comparing; read once. */
export function useMessage(id: number | undefined): ChosenMessage {
  const client = useControl();
  const answered = useRefreshed({
    key: id,
    read: (asked) => client.action(mqttActions, "mqtt", "message.read", { id: asked }),
    onFailure: notifyUnlessGone,
  });
  if (answered === undefined || answered.key !== id) return nothing;
  return { message: answered.answer ?? undefined, gone: answered.answer === null };
}

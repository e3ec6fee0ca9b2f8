import { useState } from "react";
import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import type { MqttMessage, MqttMessageSummary } from "../../../../../contract/traffic/mqtt.ts";
import { useControl } from "../../../control/client-context.tsx";
import { type Answer, useAnswer } from "../../../control/use-answer.ts";
import { useMqttView } from "../broker/use-broker.ts";

export interface ChosenMessage {
  readonly message: MqttMessage | undefined;
  /** How it was asked for; undefined where none is chosen. */
  readonly answer: Answer<MqttMessage | null> | undefined;
  /** The recorder no longer has it. */
  readonly gone: boolean;
}

const nothing: ChosenMessage = { message: undefined, answer: undefined, gone: false };

/** A recorded message with its deliveries, read again while acknowledgements are pending. */
export function useChosenMessage(summary: MqttMessageSummary | undefined): ChosenMessage {
  const client = useControl();
  const id = summary?.id;
  /** As last read. It stays after its eviction, and until the next one was read, so that the panel does not flicker. */
  const [shown, setShown] = useState<MqttMessage>();
  const isOpen = shown !== undefined && shown.id === id && shown.acknowledged < shown.acknowledgeable;
  const movedAt = useMqttView("figures", ({ at }) => (isOpen ? at : 0));
  const answer = useAnswer({
    key: ["mqtt", "message", id],
    ask: () => client.action(mqttActions, "mqtt", "message.read", { id: id ?? 0 }),
    enabled: id !== undefined,
    // Without pending acknowledgements it changes only with its row.
    version: isOpen
      ? movedAt
      : summary && `${summary.acknowledged} ${summary.delivered} ${summary.dropped} ${summary.moved} ${summary.queued} ${summary.onDisk}`,
  });
  const { value, isCurrent } = answer;
  if (isCurrent && value && value !== shown) setShown(value);
  if (id === undefined) return nothing;
  const gone = isCurrent && value === null;
  return { message: gone && shown?.id !== id ? undefined : shown, answer, gone };
}

/** An older message, for the comparison. */
export function useMessage(id: number | undefined): ChosenMessage {
  const client = useControl();
  const answer = useAnswer({
    key: ["mqtt", "message", id],
    ask: () => client.action(mqttActions, "mqtt", "message.read", { id: id ?? 0 }),
    enabled: id !== undefined,
  });
  const { value, isCurrent } = answer;
  return isCurrent && id !== undefined ? { message: value ?? undefined, answer, gone: value === null } : nothing;
}

import { useEffect, useRef, useState } from "react";
import { type MqttFigures, mqttActions } from "../../../../../contract/services/mqtt.ts";
import type { MqttMessage, MqttMessageSummary } from "../../../../../contract/traffic/mqtt.ts";
import { useControl } from "../../../control/client-context.tsx";
import { tellUnlessGone } from "../tree/use-topic-branches.ts";

export interface ChosenMessage {
  readonly message: MqttMessage | undefined;
  /** It has left the recorder. */
  readonly gone: boolean;
}

const nothing: ChosenMessage = { message: undefined, gone: false };

/** The whole of a message, read again while acknowledgements are awaited. */
export function useChosenMessage(summary: MqttMessageSummary | undefined, figures: MqttFigures | undefined): ChosenMessage {
  const client = useControl();
  const [chosen, setChosen] = useState(nothing);
  const wanted = useRef<number>(undefined);
  const reading = useRef(false);
  const id = summary?.id;
  const isKnown = chosen.message !== undefined && chosen.message.id === id;
  const isOpen = isKnown && chosen.message.acknowledged < chosen.message.acknowledgeable;
  const hasMoved =
    isKnown &&
    summary !== undefined &&
    (summary.acknowledged !== chosen.message.acknowledged || summary.delivered !== chosen.message.delivered);
  // Only what may have changed is read again.
  const version = isOpen || hasMoved ? figures?.bytesIn : undefined;

  // biome-ignore lint/correctness/useExhaustiveDependencies: `version` says that there may be something new to read.
  useEffect(() => {
    wanted.current = id;
    if (id === undefined) {
      setChosen(nothing);
      return;
    }
    if (reading.current && isKnown) return;
    reading.current = true;
    client
      .action(mqttActions, "mqtt", "message.read", { id })
      .then((message) => {
        // What was shown stays until there is something else: no flicker from row to row.
        if (wanted.current === id)
          setChosen((known) =>
            message ? { message, gone: false } : { message: known.message?.id === id ? known.message : undefined, gone: true },
          );
      })
      .catch(tellUnlessGone)
      .finally(() => {
        reading.current = false;
      });
  }, [client, id, version]);
  return chosen;
}

/** An older message than another, for comparing; read once. */
export function useMessage(id: number | undefined): ChosenMessage {
  const client = useControl();
  const [read, setRead] = useState<{ readonly id: number; readonly message: MqttMessage | null }>();
  useEffect(() => {
    if (id === undefined) return;
    let isWanted = true;
    client
      .action(mqttActions, "mqtt", "message.read", { id })
      .then((message) => isWanted && setRead({ id, message }))
      .catch(tellUnlessGone);
    return () => {
      isWanted = false;
    };
  }, [client, id]);
  return read === undefined || read.id !== id ? nothing : { message: read.message ?? undefined, gone: read.message === null };
}

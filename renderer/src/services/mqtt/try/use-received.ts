import { useEffect, useRef, useState } from "react";
import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import type { MqttReceived, MqttTryState } from "../../../../../contract/services/mqtt-try.ts";
import { useControl } from "../../../control/client-context.tsx";
import { tellUnlessGone } from "../tree/use-topic-branches.ts";

export const shownMessages = 200;
const none: readonly MqttReceived[] = [];

/** The newest messages that the client of the Try tab received, newest first. */
export function useReceived(state: MqttTryState | undefined): readonly MqttReceived[] {
  const client = useControl();
  const [messages, setMessages] = useState(none);
  const reading = useRef(false);
  const received = state?.received ?? 0;
  useEffect(() => {
    if (received === 0) {
      setMessages(none);
      return;
    }
    if (reading.current) return;
    reading.current = true;
    client
      .action(mqttActions, "mqtt", "try.received", { limit: shownMessages })
      .then((page) => setMessages(page.messages))
      .catch(tellUnlessGone)
      .finally(() => {
        reading.current = false;
      });
  }, [client, received]);
  return messages;
}

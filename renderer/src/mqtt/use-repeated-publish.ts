import { useEffect, useMemo, useRef, useState } from "react";
import { type MqttPublishParams, mqttActions } from "../../../contract/mqtt.ts";
import { notifyFailure } from "../components/notify.tsx";
import { useControl } from "../control/client-context.tsx";

export interface RepeatedPublish {
  readonly running: { readonly topic: string; readonly everyMs: number; readonly sent: number } | undefined;
  start(params: MqttPublishParams, everyMs: number): void;
  stop(): void;
}

/** Publishes one message again and again while the page is open; a failure ends it. */
export function useRepeatedPublish(): RepeatedPublish {
  const client = useControl();
  const timer = useRef<ReturnType<typeof setInterval>>(undefined);
  const [running, setRunning] = useState<RepeatedPublish["running"]>();
  const controls = useMemo(() => {
    const stop = () => {
      clearInterval(timer.current);
      setRunning(undefined);
    };
    const start = (params: MqttPublishParams, everyMs: number) => {
      stop();
      const send = () =>
        client.action(mqttActions, "mqtt", "publish", params).then(
          () => setRunning((known) => known && { ...known, sent: known.sent + 1 }),
          (error: unknown) => {
            stop();
            notifyFailure(error);
          },
        );
      setRunning({ topic: params.topic, everyMs, sent: 0 });
      timer.current = setInterval(send, everyMs);
      void send();
    };
    return { start, stop };
  }, [client]);
  useEffect(() => () => clearInterval(timer.current), []);
  return { running, ...controls };
}

import { useEffect, useState } from "react";
import { type MqttCertificate, mqttActions } from "../../../../contract/services/mqtt.ts";
import { useControl } from "../../control/client-context.tsx";
import { useService } from "../../control/use-store.ts";

/** What the running broker's TLS listeners show; null where it has none. */
export function useCertificate(): MqttCertificate | null | undefined {
  const client = useControl();
  const isRunning = useService("mqtt")?.status.state === "running";
  const [certificate, setCertificate] = useState<MqttCertificate | null>();
  useEffect(() => {
    if (!isRunning) return;
    let isWanted = true;
    client.action(mqttActions, "mqtt", "tls.certificate", {}).then(
      (answer) => isWanted && setCertificate(answer),
      () => {},
    );
    return () => {
      isWanted = false;
    };
  }, [client, isRunning]);
  return certificate;
}

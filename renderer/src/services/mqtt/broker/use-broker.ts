import type { MqttCertificate } from "../../../../../contract/services/mqtt.ts";
import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import { useControl } from "../../../control/client-context.tsx";
import { useRefreshed } from "../../../control/use-refreshed.ts";
import { useService } from "../../../control/use-store.ts";

const ignored = () => {};

/** Whether the broker admits clients without a name; undefined until that is known. */
export function useAnonymous(): boolean | undefined {
  const client = useControl();
  // A start takes over what was configured.
  const state = useService("mqtt")?.status.state;
  const read = async () =>
    (await client.call("config.read", { id: "mqtt" })).fields.find(({ name }) => name === "anonymous")?.value === true;
  return useRefreshed({ key: "anonymous", version: state, read, onFailure: ignored })?.answer;
}

/** The certificate of the running broker's TLS listeners; null where it has none. */
export function useCertificate(): MqttCertificate | null | undefined {
  const client = useControl();
  const isRunning = useService("mqtt")?.status.state === "running";
  const read = () => client.action(mqttActions, "mqtt", "tls.certificate", {});
  return useRefreshed({ key: isRunning ? "certificate" : undefined, read, onFailure: ignored })?.answer;
}

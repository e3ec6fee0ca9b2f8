import { type MqttCertificate, type MqttViews, mqttActions } from "../../../../../contract/services/mqtt.ts";
import { useControl } from "../../../control/client-context.tsx";
import { useAnswer } from "../../../control/use-answer.ts";
import { useConfig } from "../../../control/use-config.ts";
import { lastViewsOf, useService, useTopic, viewsOf } from "../../../control/use-store.ts";

export const useMqttView = viewsOf<MqttViews>("mqtt");
export const useLastMqttView = lastViewsOf<MqttViews>("mqtt");

/** Calls back when the broker's figures have changed; does not render. */
export const useOnFigures = (onFigures: () => void): void =>
  useTopic("view/mqtt", ({ items }) => {
    if (items.some(({ name }) => name === "figures")) onFigures();
  });

/** Whether anonymous access is on; undefined until the configuration was read. */
export function useAnonymous(): boolean | undefined {
  const { value } = useConfig("mqtt");
  return value && value.fields.find(({ name }) => name === "anonymous")?.value === true;
}

/** The certificate of the running broker's TLS listeners; null if it has none. */
export function useCertificate(): MqttCertificate | null | undefined {
  const client = useControl();
  const enabled = useService("mqtt")?.status.state === "running";
  return useAnswer({ key: ["mqtt", "certificate"], ask: () => client.action(mqttActions, "mqtt", "tls.certificate", {}), enabled }).value;
}

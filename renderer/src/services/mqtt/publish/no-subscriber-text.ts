import type { MqttMessageSummary } from "../../../../../contract/traffic/mqtt.ts";

/** Of what other brokers' clients get nothing is known here. */
export const noSubscriberText = ({ cluster }: Pick<MqttMessageSummary, "cluster">): string =>
  cluster ? "No subscriber here" : "No subscriber";

import type { MqttSubscription } from "../../../../../contract/services/mqtt-client.ts";

/** "QoS 1, no local, id 4" */
export function subscriptionText({ qos, noLocal, retainAsPublished, retainHandling, identifier }: MqttSubscription): string {
  const parts = [
    `QoS ${qos}`,
    noLocal && "no local",
    retainAsPublished && "retain as published",
    retainHandling > 0 && `retain handling ${retainHandling}`,
    identifier > 0 && `id ${identifier}`,
  ];
  return parts.filter(Boolean).join(", ");
}

import type { MqttSubscription } from "../../../../../contract/services/mqtt-client.ts";
import type { MqttMessageSummary, MqttOwnPublisher } from "../../../../../contract/traffic/mqtt.ts";
import { formatCountOf } from "../../../ui/texts/quantity.ts";

/** The version of a protocol level: 3 is 3.1, 4 is 3.1.1. */
export function versionText(level: number): string {
  switch (level) {
    case 3:
      return "3.1";
    case 4:
      return "3.1.1";
    case 5:
      return "5.0";
    default:
      return String(level);
  }
}

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

const ownTexts: Readonly<Record<MqttOwnPublisher, string>> = {
  dashboard: "dashboard",
  "sample traffic": "sample traffic",
  device: "demo device",
  "reply rule": "reply rule",
  replay: "replay",
};

/** The client identifier, "will of" it, or the part of the broker that published the message. */
export const publisherText = ({
  publisher,
  internalSource,
  will,
}: Pick<MqttMessageSummary, "publisher" | "internalSource" | "will">): string =>
  will ? `will of ${publisher}` : publisher || (internalSource ? ownTexts[internalSource] : "broker");

/** In a cluster, other brokers may have subscribers, which is not known here. */
export const noSubscriberText = ({ cluster }: Pick<MqttMessageSummary, "cluster">): string =>
  cluster ? "No subscriber here" : "No subscriber";

/** What the page says of a message that it has published. */
export function publishedText({ matched, cluster }: { readonly matched: number; readonly cluster?: true }): string {
  const here = cluster ? " here" : "";
  return matched === 0 ? `Published; no subscriber${here}.` : `Published to ${formatCountOf(matched, "subscription")}${here}.`;
}

/** It matched, but its clients were away and it is of QoS 0, they have no rights for it, or messages came too fast. */
export const noDeliveryText = "No delivery recorded";

export const onDiskText = "The session is on disk, and no broker has it while persistence is off";

export const movedText = "The session went to another broker of the cluster, which delivers the message";

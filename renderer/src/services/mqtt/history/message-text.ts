import type { MqttMessageSummary, MqttOwnPublisher } from "../../../../../contract/traffic/mqtt.ts";

const ownTexts: Readonly<Record<MqttOwnPublisher, string>> = {
  dashboard: "dashboard",
  demo: "demo publisher",
  device: "demo device",
  "reply rule": "reply rule",
  replay: "replay",
};

/** The client's identifier, whose will it is, or which part of the broker published it. */
export const publisherText = ({ publisher, own, will }: Pick<MqttMessageSummary, "publisher" | "own" | "will">): string =>
  will ? `will of ${publisher}` : publisher || (own ? ownTexts[own] : "broker");

/** Of what other brokers' clients get nothing is known here. */
export const noSubscriberText = ({ cluster }: Pick<MqttMessageSummary, "cluster">): string =>
  cluster ? "No subscriber here" : "No subscriber";

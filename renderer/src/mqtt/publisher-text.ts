import type { MqttMessageSummary, MqttOwnPublisher } from "../../../contract/mqtt-message.ts";

const ownTexts: Readonly<Record<MqttOwnPublisher, string>> = {
  dashboard: "dashboard",
  demo: "demo publisher",
  device: "demo device",
  "reply rule": "reply rule",
  replay: "replay",
};

/** The client's identifier, or which part of the broker published it. */
export const publisherText = ({ publisher, own }: Pick<MqttMessageSummary, "publisher" | "own">): string =>
  publisher || (own ? ownTexts[own] : "broker");

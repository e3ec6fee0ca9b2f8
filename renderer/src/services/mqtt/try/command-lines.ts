import type { BrokerAddress } from "../broker/broker-address.ts";
import type { PublishDraft } from "../publish/publish-draft.ts";
import { mosquittoPub, mosquittoSub } from "./mqtt-commands.ts";
import { mqttJsLines } from "./mqtt-js-lines.ts";
import { pahoLines } from "./paho-lines.ts";
import type { SubscribeDraft } from "./subscribe-draft.ts";
import type { CommandClient } from "./try-client-draft.ts";

export const commandLanguages = [
  { value: "mosquitto", label: "mosquitto" },
  { value: "mqttjs", label: "MQTT.js" },
  { value: "paho", label: "Python" },
] as const;
export type Language = (typeof commandLanguages)[number]["value"];

/** A subscription and a message as commands or code. */
export function commandLines(
  language: Language,
  draft: PublishDraft,
  subscription: SubscribeDraft,
  address: BrokerAddress,
  client: CommandClient,
): string {
  switch (language) {
    case "mosquitto":
      return `${mosquittoSub(subscription, address, client)}\n\n${mosquittoPub(draft, address, client)}`;
    case "mqttjs":
      return mqttJsLines(draft, subscription, address, client);
    case "paho":
      return pahoLines(draft, subscription, address, client);
    default:
      return language satisfies never;
  }
}

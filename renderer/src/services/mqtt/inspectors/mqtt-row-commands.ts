import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import type { MqttMessage } from "../../../../../contract/traffic/mqtt.ts";
import type { ControlClient } from "../../../control/control-client.ts";
import { notCopied, notForTry, notWhole, type RowCommands } from "../../../inspectors/kind-commands.ts";
import { inBash } from "../../../ui/copy/shells.ts";
import { formatCountOf } from "../../../ui/texts/quantity.ts";
import { brokerAddress } from "../broker/broker-address.ts";
import { parsePublishDraft, recordedMessages, wholeDraftOf } from "../publish/publish-draft.ts";
import { mosquittoPubOf } from "../try/mqtt-commands.ts";

export const mqttRowCommands: RowCommands = {
  "mqtt-message": {
    target: "topic",
    copies: [
      {
        title: inBash("mosquitto_pub"),
        text: (message, broker) => mosquittoPubOf(wholeDraftOf(message, notCopied), brokerAddress(broker), undefined),
      },
    ],
    resend: { title: "Publish again", run: publishAgain },
    openInTry: (message) => recordedMessages.give("mqtt", wholeDraftOf(message, notForTry)),
  },
  "mqtt-event": { target: "transport", copies: [] },
};

async function publishAgain(client: ControlClient, message: MqttMessage): Promise<string> {
  const parsed = parsePublishDraft(wholeDraftOf(message, notWhole));
  if (!("params" in parsed)) throw notWhole(parsed.problem);
  const { matched, cluster } = await client.action(mqttActions, "mqtt", "publish", parsed.params);
  return `Published on ${message.topic} again, for ${formatCountOf(matched, "subscriber")}${cluster ? " here" : ""}`;
}

import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import type { MqttMessage } from "../../../../../contract/traffic/mqtt.ts";
import type { ControlClient } from "../../../control/control-client.ts";
import { notForTry, notWhole, type RowCommands } from "../../../inspectors/kind-commands.ts";
import { formatCountOf } from "../../../ui/texts/quantity.ts";
import { fromBase64 } from "../../../viewer/decode/bytes.ts";
import { brokerAddress } from "../broker/broker-address.ts";
import { draftOfMessage, type PublishDraft, parsePublishDraft, recordedMessages } from "../publish/publish-draft.ts";
import { mosquittoPubOf } from "../try/mqtt-commands.ts";

export const mqttRowCommands: RowCommands = {
  "mqtt-message": {
    target: "topic",
    copies: [
      { title: "mosquitto_pub", text: (message, broker) => mosquittoPubOf(draftOfMessage(message), brokerAddress(broker), undefined) },
    ],
    resend: { title: "Publish again", run: publishAgain },
    openInTry: (message) => recordedMessages.give("mqtt", wholeDraft(message, notForTry)),
  },
  "mqtt-event": { target: "transport", copies: [] },
};

function wholeDraft(message: MqttMessage, fault: (why: string) => Error): PublishDraft {
  if (fromBase64(message.payload).length < message.bytes) throw fault("Only the start of its payload was recorded.");
  return draftOfMessage(message);
}

async function publishAgain(client: ControlClient, message: MqttMessage): Promise<string> {
  const parsed = parsePublishDraft(wholeDraft(message, notWhole));
  if (!("params" in parsed)) throw notWhole(parsed.problem);
  const { matched } = await client.action(mqttActions, "mqtt", "publish", parsed.params);
  return `Published on ${message.topic} again, for ${formatCountOf(matched, "subscriber")}`;
}

import { mqttActions } from "../../../../../contract/services/mqtt.ts";
import type { MqttMessage } from "../../../../../contract/traffic/mqtt.ts";
import type { ControlClient } from "../../../control/control-client.ts";
import { notWhole, type RowCommands } from "../../../inspectors/kind-commands.ts";
import { formatCountOf } from "../../../ui/texts/quantity.ts";
import { fromBase64 } from "../../../viewer/decode/bytes.ts";
import { brokerAddress } from "../broker/broker-address.ts";
import { draftOfMessage, parsePublishDraft } from "../publish/publish-draft.ts";
import { mosquittoPubOf } from "../try/mqtt-commands.ts";

export const mqttRowCommands: RowCommands = {
  "mqtt-message": {
    target: "topic",
    copies: [
      { title: "mosquitto_pub", text: (message, broker) => mosquittoPubOf(draftOfMessage(message), brokerAddress(broker), undefined) },
    ],
    resend: { title: "Publish again", run: publishAgain },
  },
  "mqtt-event": { target: "transport", copies: [] },
};

async function publishAgain(client: ControlClient, message: MqttMessage): Promise<string> {
  const { topic, payload, bytes } = message;
  if (fromBase64(payload).length < bytes) throw notWhole("Only the start of its payload was recorded.");
  const parsed = parsePublishDraft(draftOfMessage(message));
  if (!("params" in parsed)) throw notWhole(parsed.problem);
  const { matched } = await client.action(mqttActions, "mqtt", "publish", parsed.params);
  return `Published on ${topic} again, for ${formatCountOf(matched, "subscriber")}`;
}

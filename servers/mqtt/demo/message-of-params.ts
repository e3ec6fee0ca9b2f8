import type { MqttMessageProperties, MqttParsedPublish } from "../../../contract/traffic/mqtt.ts";
import { Message } from "../engine/routing/message.ts";
import { propertyFields } from "./recorded-line.ts";

/** What a person asks to publish, as a message of now. */
export function messageOfParams({ topic, payload, encoding, qos, retain, ...properties }: MqttParsedPublish): Message {
  return new Message({
    topic,
    payload: Buffer.from(payload, encoding === "base64" ? "base64" : "utf8"),
    qos,
    retain,
    ...propertyFields(properties as MqttMessageProperties),
  });
}

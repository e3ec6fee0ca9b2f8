import { toHex } from "./base64.ts";
import { correlationBytes, type PublishDraft, usesVersion5 } from "./publish-draft.ts";

export interface BrokerAddress {
  readonly host: string;
  readonly port: string;
}

/** For a POSIX shell. */
export const shellQuoted = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

const at = ({ host, port }: BrokerAddress): string[] => ["-h", host, "-p", port];

export function mosquittoPub(draft: PublishDraft, address: BrokerAddress): string {
  const { topic, payload, encoding, qos, retain, expirySeconds, contentType, responseTopic, correlationData } = draft;
  const property = (name: string, ...values: string[]) => ["-D", "publish", name, ...values];
  const words = [
    "mosquitto_pub",
    ...at(address),
    ...(usesVersion5(draft) ? ["-V", "5"] : []),
    ...(qos > 0 ? ["-q", String(qos)] : []),
    ...(retain ? ["-r"] : []),
    "-t",
    topic,
    ...(draft.isUtf8 ? property("payload-format-indicator", "1") : []),
    ...(expirySeconds ? property("message-expiry-interval", expirySeconds) : []),
    ...(contentType ? property("content-type", contentType) : []),
    ...(responseTopic ? property("response-topic", responseTopic) : []),
    ...(correlationData ? property("correlation-data", correlationArgument(correlationData)) : []),
    ...draft.userProperties.filter(([key]) => key !== "").flatMap(([key, value]) => property("user-property", key, value)),
  ].map(shellQuoted);
  // mosquitto_pub takes bytes from its input.
  if (encoding === "base64") return `printf %s ${shellQuoted(payload)} | base64 -d | ${words.join(" ")} -s`;
  if (encoding === "hex") return `printf %s ${shellQuoted(payload.replace(/\s+/g, ""))} | xxd -r -p | ${words.join(" ")} -s`;
  return payload === "" ? `${words.join(" ")} -n` : `${words.join(" ")} -m ${shellQuoted(payload)}`;
}

const correlationArgument = (text: string): string => {
  const bytes = correlationBytes(text);
  // The tool takes text only: bytes that are none stand as their hex digits.
  return /^0x/i.test(text) && bytes ? toHex(bytes).replaceAll(" ", "") : text;
};

export const mosquittoSub = (filter: string, qos: number, address: BrokerAddress): string =>
  ["mosquitto_sub", ...at(address), "-V", "5", ...(qos > 0 ? ["-q", String(qos)] : []), "-t", filter, "-v"].map(shellQuoted).join(" ");

/** Publishes and subscribes with MQTT.js. */
export function mqttJsLines(draft: PublishDraft, filter: string, address: BrokerAddress): string {
  const options = { qos: draft.qos, ...(draft.retain && { retain: true }), ...propertiesOf(draft) };
  return `import mqtt from "mqtt";

const client = await mqtt.connectAsync("mqtt://${address.host}:${address.port}", { protocolVersion: 5 });
client.on("message", (topic, payload) => console.log(topic, payload.toString()));
await client.subscribeAsync(${JSON.stringify(filter)}, { qos: ${draft.qos} });
await client.publishAsync(${JSON.stringify(draft.topic)}, ${jsPayload(draft)}, ${JSON.stringify(options)});`;
}

function propertiesOf(draft: PublishDraft): { properties?: Record<string, unknown> } {
  const properties = {
    ...(draft.isUtf8 && { payloadFormatIndicator: true }),
    ...(draft.expirySeconds && { messageExpiryInterval: Number(draft.expirySeconds) }),
    ...(draft.contentType && { contentType: draft.contentType }),
    ...(draft.responseTopic && { responseTopic: draft.responseTopic }),
    ...(draft.userProperties.length > 0 && { userProperties: Object.fromEntries(draft.userProperties) }),
  };
  return Object.keys(properties).length > 0 ? { properties } : {};
}

const jsPayload = ({ payload, encoding }: PublishDraft): string =>
  encoding === "text" ? JSON.stringify(payload) : `Buffer.from(${JSON.stringify(payload.replace(/\s+/g, ""))}, "${encoding}")`;

/** Publishes and subscribes with Eclipse Paho. */
export function pahoLines(draft: PublishDraft, filter: string, { host, port }: BrokerAddress): string {
  return `import paho.mqtt.client as mqtt

client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5)
client.on_message = lambda client, data, message: print(message.topic, message.payload)
client.connect(${JSON.stringify(host)}, ${port})
client.subscribe(${JSON.stringify(filter)}, qos=${draft.qos})
client.publish(${JSON.stringify(draft.topic)}, ${pythonPayload(draft)}, qos=${draft.qos}, retain=${draft.retain ? "True" : "False"})
client.loop_forever()`;
}

const pythonPayload = ({ payload, encoding }: PublishDraft): string => {
  if (encoding === "text") return JSON.stringify(payload);
  const text = JSON.stringify(payload.replace(/\s+/g, ""));
  return encoding === "hex" ? `bytes.fromhex(${text})` : `__import__("base64").b64decode(${text})`;
};

import { toHex } from "../../../viewer/decode/bytes.ts";
import { type BrokerAddress, usesWebSocket } from "../broker/broker-address.ts";
import { correlationBytes, type PublishDraft, usesVersion5 } from "../publish/publish-draft.ts";
import type { SubscribeDraft } from "./subscribe-draft.ts";
import { type CommandClient, keepsSession } from "./try-client-draft.ts";

/** Publishes and subscribes with Eclipse Paho. */
export function pahoLines(draft: PublishDraft, subscription: SubscribeDraft, address: BrokerAddress, client: CommandClient): string {
  const isV5 = client.version === 5;
  const connectProperties = isV5 && Number(client.expirySeconds) > 0;
  const publishProperties = isV5 && usesVersion5(draft);
  const subscribeProperties = isV5 && subscription.identifier !== "";
  const lines = [
    "import paho.mqtt.client as mqtt",
    ...(connectProperties || publishProperties || subscribeProperties || hasDelayedWill(client)
      ? ["from paho.mqtt.packettypes import PacketTypes", "from paho.mqtt.properties import Properties"]
      : []),
    ...(isV5 ? ["from paho.mqtt.subscribeoptions import SubscribeOptions"] : []),
    "",
    // Debian 12 and Ubuntu 24.04 have Paho 1.6.
    `version = [mqtt.CallbackAPIVersion.VERSION2] if hasattr(mqtt, "CallbackAPIVersion") else []`,
    `client = mqtt.Client(${clientArguments(client, address).join(", ")})`,
    "client.on_message = lambda client, data, message: print(message.topic, message.payload)",
    ...(client.username
      ? [`client.username_pw_set(${[client.username, client.password].filter(Boolean).map(pythonText).join(", ")})`]
      : []),
    ...(address.caFile ? [`client.tls_set(${pythonText(address.caFile)})`] : []),
    ...willLines(client),
    ...(connectProperties
      ? ["session = Properties(PacketTypes.CONNECT)", `session.SessionExpiryInterval = ${Number(client.expirySeconds)}`]
      : []),
    `client.connect(${connectArguments(address, client, connectProperties).join(", ")})`,
    ...(subscribeProperties
      ? ["known = Properties(PacketTypes.SUBSCRIBE)", `known.SubscriptionIdentifier = ${Number(subscription.identifier)}`]
      : []),
    `client.subscribe(${subscribeArguments(subscription, isV5).join(", ")})`,
    ...(publishProperties ? propertyLines(draft) : []),
    `client.publish(${[
      pythonText(draft.topic),
      payloadText(draft),
      `qos=${draft.qos}`,
      `retain=${pythonText(draft.retain)}`,
      ...(publishProperties ? ["properties=properties"] : []),
    ].join(", ")})`,
    "client.loop_forever()",
  ];
  return lines.join("\n");
}

function clientArguments(client: CommandClient, address: BrokerAddress): string[] {
  const { version, clientId, cleanStart } = client;
  return [
    "*version",
    ...(usesWebSocket(address.transport) ? ['transport="websockets"'] : []),
    ...(keepsSession(client) && clientId ? [`client_id=${pythonText(clientId)}`] : []),
    ...(version === 5 ? ["protocol=mqtt.MQTTv5"] : cleanStart ? [] : ["clean_session=False"]),
  ];
}

const connectArguments = ({ host, port }: BrokerAddress, { version, cleanStart }: CommandClient, withProperties: boolean): string[] => [
  pythonText(host),
  port,
  ...(version === 5 && !cleanStart ? ["clean_start=False"] : []),
  ...(withProperties ? ["properties=session"] : []),
];

function subscribeArguments(subscription: SubscribeDraft, isV5: boolean): string[] {
  const { filter, qos, noLocal, retainAsPublished, retainHandling, identifier } = subscription;
  if (!isV5) return [pythonText(filter || "#"), `qos=${qos}`];
  const options = [
    `qos=${qos}`,
    ...(noLocal ? ["noLocal=True"] : []),
    ...(retainAsPublished ? ["retainAsPublished=True"] : []),
    ...(retainHandling > 0 ? [`retainHandling=${retainHandling}`] : []),
  ];
  return [pythonText(filter || "#"), `options=SubscribeOptions(${options.join(", ")})`, ...(identifier ? ["properties=known"] : [])];
}

const hasDelayedWill = ({ version, willTopic, willDelaySeconds }: CommandClient): boolean =>
  version === 5 && willTopic !== "" && Number(willDelaySeconds) > 0;

function willLines(client: CommandClient): string[] {
  const { willTopic, willPayload, willQos, willRetain, willDelaySeconds } = client;
  if (!willTopic) return [];
  const delayed = hasDelayedWill(client);
  return [
    ...(delayed ? ["will = Properties(PacketTypes.WILLMESSAGE)", `will.WillDelayInterval = ${Number(willDelaySeconds)}`] : []),
    `client.will_set(${[
      pythonText(willTopic),
      pythonText(willPayload),
      `qos=${willQos}`,
      `retain=${pythonText(willRetain)}`,
      ...(delayed ? ["properties=will"] : []),
    ].join(", ")})`,
  ];
}

function propertyLines(draft: PublishDraft): string[] {
  const { isUtf8, expirySeconds, contentType, responseTopic, correlationData } = draft;
  const correlation = correlationData === "" ? undefined : correlationBytes(correlationData);
  const users = draft.userProperties.filter(([key]) => key !== "");
  return [
    "properties = Properties(PacketTypes.PUBLISH)",
    ...(isUtf8 ? ["properties.PayloadFormatIndicator = 1"] : []),
    ...(expirySeconds ? [`properties.MessageExpiryInterval = ${Number(expirySeconds)}`] : []),
    ...(contentType ? [`properties.ContentType = ${pythonText(contentType)}`] : []),
    ...(responseTopic ? [`properties.ResponseTopic = ${pythonText(responseTopic)}`] : []),
    ...(correlation ? [`properties.CorrelationData = bytes.fromhex("${toHex(correlation).replaceAll(" ", "")}")`] : []),
    ...(users.length > 0
      ? [`properties.UserProperty = [${users.map(([key, value]) => `(${pythonText(key)}, ${pythonText(value)})`).join(", ")}]`]
      : []),
  ];
}

function payloadText({ payload, encoding }: PublishDraft): string {
  if (encoding === "text") return pythonText(payload);
  const text = pythonText(payload.replace(/\s+/g, ""));
  return encoding === "hex" ? `bytes.fromhex(${text})` : `__import__("base64").b64decode(${text})`;
}

/** A value as a Python literal. */
function pythonText(value: string | number | boolean): string {
  return typeof value === "boolean" ? (value ? "True" : "False") : JSON.stringify(value);
}

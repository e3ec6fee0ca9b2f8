import { toHex } from "../../../viewer/decode/bytes.ts";
import type { BrokerAddress } from "../broker/broker-address.ts";
import { correlationBytes, type PublishDraft } from "../publish/publish-draft.ts";
import type { SubscribeDraft } from "./subscribe-draft.ts";
import { type CommandClient, keepsSession } from "./try-client-draft.ts";

const plain = "(topic, payload) => console.log(topic, payload.toString())";
const withProperties = "(topic, payload, { properties }) => console.log(topic, payload.toString(), properties)";

/** Publishes and subscribes with MQTT.js. */
export function mqttJsLines(draft: PublishDraft, subscription: SubscribeDraft, address: BrokerAddress, client: CommandClient): string {
  const isV5 = client.version === 5;
  const { qos, noLocal, retainAsPublished, retainHandling, identifier } = subscription;
  const subscribed = {
    qos,
    ...(isV5 && noLocal && { nl: true }),
    ...(isV5 && retainAsPublished && { rap: true }),
    ...(isV5 && retainHandling > 0 && { rh: retainHandling }),
    ...(isV5 && identifier && { properties: { subscriptionIdentifier: Number(identifier) } }),
  };
  const published = { qos: draft.qos, ...(draft.retain && { retain: true }), ...(isV5 && { properties: propertiesOf(draft) }) };
  return `${address.caFile ? 'import { readFileSync } from "node:fs";\n' : ""}import mqtt from "mqtt";

const client = await mqtt.connectAsync("${address.transport}://${address.host}:${address.port}", ${javaScriptText(connectOptions(client, address))});
client.on("message", ${isV5 ? withProperties : plain});
await client.subscribeAsync(${JSON.stringify(subscription.filter || "#")}, ${javaScriptText(subscribed)});
await client.publishAsync(${JSON.stringify(draft.topic)}, ${payloadText(draft)}, ${javaScriptText(published)});`;
}

function connectOptions(client: CommandClient, { caFile }: BrokerAddress) {
  const { version, clientId, username, password, cleanStart, expirySeconds, willTopic } = client;
  const isV5 = version === 5;
  return {
    protocolVersion: version,
    ...(caFile && { ca: new Code(`readFileSync(${JSON.stringify(caFile)})`) }),
    ...(keepsSession(client) && clientId && { clientId }),
    ...(username && { username }),
    ...(username && password && { password }),
    ...(!cleanStart && { clean: false }),
    ...(isV5 && Number(expirySeconds) > 0 && { properties: { sessionExpiryInterval: Number(expirySeconds) } }),
    ...(willTopic && {
      will: {
        topic: willTopic,
        payload: client.willPayload,
        qos: client.willQos,
        retain: client.willRetain,
        ...(isV5 && Number(client.willDelaySeconds) > 0 && { properties: { willDelayInterval: Number(client.willDelaySeconds) } }),
      },
    }),
  };
}

function propertiesOf(draft: PublishDraft): Record<string, unknown> | undefined {
  const correlation = draft.correlationData === "" ? undefined : correlationBytes(draft.correlationData);
  const properties = {
    ...(draft.isUtf8 && { payloadFormatIndicator: true }),
    ...(draft.expirySeconds && { messageExpiryInterval: Number(draft.expirySeconds) }),
    ...(draft.contentType && { contentType: draft.contentType }),
    ...(draft.responseTopic && { responseTopic: draft.responseTopic }),
    ...(correlation && { correlationData: new Code(correlationCode(draft.correlationData, correlation)) }),
    userProperties: userProperties(draft),
  };
  return Object.values(properties).some((value) => value !== undefined) ? properties : undefined;
}

const correlationCode = (typed: string, bytes: Uint8Array): string =>
  /^0x/i.test(typed) ? `Buffer.from("${toHex(bytes).replaceAll(" ", "")}", "hex")` : `Buffer.from(${JSON.stringify(typed)})`;

/** The library takes a repeated key as a list. */
function userProperties(draft: PublishDraft): Record<string, string | string[]> | undefined {
  const byKey = new Map<string, string[]>();
  for (const [key, value] of draft.userProperties) if (key !== "") byKey.set(key, [...(byKey.get(key) ?? []), value]);
  if (byKey.size === 0) return undefined;
  return Object.fromEntries([...byKey].map(([key, values]) => [key, values.length === 1 ? (values[0] as string) : values]));
}

const payloadText = ({ payload, encoding }: PublishDraft): string =>
  encoding === "text" ? JSON.stringify(payload) : `Buffer.from(${JSON.stringify(payload.replace(/\s+/g, ""))}, "${encoding}")`;

/** An expression, in contrast to values that are written as literals. */
class Code {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A value as a JavaScript literal: `{ qos: 1, properties: { contentType: "text/plain" } }`; undefined properties are omitted. */
function javaScriptText(value: unknown): string {
  if (value instanceof Code) return value.text;
  if (Array.isArray(value)) return `[${value.map(javaScriptText).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined);
  if (entries.length === 0) return "{}";
  const key = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));
  return `{ ${entries.map(([name, entry]) => `${key(name)}: ${javaScriptText(entry)}`).join(", ")} }`;
}

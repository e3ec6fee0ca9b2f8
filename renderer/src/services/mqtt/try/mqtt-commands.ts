import { isLongArgument, printed, shellQuoted } from "../../../ui/copy/shells.ts";
import { decodeText, toHex } from "../../../viewer/decode/bytes.ts";
import type { BrokerAddress } from "../broker/broker-address.ts";
import { correlationBytes, type PublishDraft, usesVersion5 } from "../publish/publish-draft.ts";
import { firstSubscription, type SubscribeDraft } from "./subscribe-draft.ts";
import { type CommandClient, keepsSession, namedClient, plainClient } from "./try-client-draft.ts";

const at = ({ host, port, caFile }: BrokerAddress): string[] => ["-h", host, "-p", port, ...(caFile ? ["--cafile", caFile] : [])];

function credentials({ username, password }: CommandClient): string[] {
  return [...(username ? ["-u", username] : []), ...(username && password ? ["-P", password] : [])];
}

export function mosquittoPub(draft: PublishDraft, address: BrokerAddress, client: CommandClient): string {
  const { topic, payload, encoding, qos, retain } = draft;
  const isV5 = client.version === 5;
  const words = [
    "mosquitto_pub",
    ...at(address),
    ...(isV5 ? ["-V", "5"] : []),
    ...credentials(client),
    ...(qos > 0 ? ["-q", String(qos)] : []),
    ...(retain ? ["-r"] : []),
    "-t",
    topic,
    ...(isV5 ? propertyArguments(draft) : []),
  ];
  return withPayload(words.map(shellQuoted).join(" "), payload, encoding);
}

/** The command for a message without the settings of a client; with MQTT 5.0 only if the message needs it. */
export const mosquittoPubOf = (draft: PublishDraft, address: BrokerAddress, anonymous: boolean | undefined): string =>
  mosquittoPub(draft, address, namedClient({ ...plainClient, version: usesVersion5(draft) ? 5 : 4 }, anonymous));

function propertyArguments({ isUtf8, expirySeconds, contentType, responseTopic, correlationData, userProperties }: PublishDraft): string[] {
  const property = (name: string, ...values: string[]) => ["-D", "publish", name, ...values];
  return [
    ...(isUtf8 ? property("payload-format-indicator", "1") : []),
    ...(expirySeconds ? property("message-expiry-interval", expirySeconds) : []),
    ...(contentType ? property("content-type", contentType) : []),
    ...(responseTopic ? property("response-topic", responseTopic) : []),
    ...(correlationData ? property("correlation-data", correlationArgument(correlationData).text) : []),
    ...userProperties.filter(([key]) => key !== "").flatMap(([key, value]) => property("user-property", key, value)),
  ];
}

/** mosquitto_pub takes bytes from its input. */
function withPayload(command: string, payload: string, encoding: PublishDraft["encoding"]): string {
  switch (encoding) {
    case "base64":
      return `${printed(payload.replace(/\s+/g, ""))} | base64 -d | ${command} -s`;
    case "hex":
      return `printf '${payload.replace(/\s+/g, "").replace(/../g, octalEscape)}' | ${command} -s`;
    case "text":
      if (isLongArgument(payload)) return `${printed(payload)} | ${command} -s`;
      return payload === "" ? `${command} -n` : `${command} -m ${shellQuoted(payload)}`;
    default:
      return encoding satisfies never;
  }
}

/** Every printf knows these; only some know those of hex digits. */
const octalEscape = (digits: string): string => `\\${Number.parseInt(digits, 16).toString(8).padStart(3, "0")}`;

/** The tool takes only text: other bytes are written as hex digits. */
function correlationArgument(typed: string): { readonly text: string; readonly isHex: boolean } {
  const bytes = correlationBytes(typed);
  if (!bytes || !/^0x/i.test(typed)) return { text: typed, isHex: false };
  const text = decodeText(bytes, false);
  return text !== undefined && text !== "" ? { text, isHex: false } : { text: toHex(bytes).replaceAll(" ", ""), isHex: true };
}

export const mosquittoSubOf = (filter: string, qos: 0 | 1 | 2, address: BrokerAddress, anonymous: boolean | undefined): string =>
  mosquittoSub({ ...firstSubscription, filter, qos }, address, namedClient(plainClient, anonymous));

export function mosquittoSub(subscription: SubscribeDraft, address: BrokerAddress, client: CommandClient): string {
  const { filter, qos, identifier } = subscription;
  const isV5 = client.version === 5;
  const words = [
    "mosquitto_sub",
    ...at(address),
    ...(isV5 ? ["-V", "5"] : []),
    ...credentials(client),
    ...(keepsSession(client) && client.clientId ? ["-i", client.clientId, "-c"] : []),
    ...(isV5 && Number(client.expirySeconds) > 0 ? ["-x", client.expirySeconds] : []),
    ...willArguments(client),
    ...(qos > 0 ? ["-q", String(qos)] : []),
    "-t",
    filter || "#",
    ...(isV5 && identifier ? ["-D", "subscribe", "subscription-identifier", identifier] : []),
    "-v",
  ];
  return words.map(shellQuoted).join(" ");
}

/** Settings for which the tools have no option. Not as a comment after the command, which not every shell accepts. */
export function mosquittoNotes(draft: PublishDraft, subscription?: SubscribeDraft): string[] {
  const missing = subscription && [
    subscription.noLocal && "no local",
    subscription.retainAsPublished && "retain as published",
    subscription.retainHandling > 0 && `retain handling ${subscription.retainHandling}`,
  ];
  const named = missing?.filter(Boolean).join(", ");
  return [
    ...(named ? [`mosquitto_sub has no option for ${named}.`] : []),
    ...(draft.correlationData !== "" && correlationArgument(draft.correlationData).isHex
      ? ["mosquitto_pub takes correlation data as text only: these bytes go as their hex digits."]
      : []),
  ];
}

function willArguments({ version, willTopic, willPayload, willQos, willRetain, willDelaySeconds }: CommandClient): string[] {
  if (!willTopic) return [];
  return [
    "--will-topic",
    willTopic,
    ...(willPayload ? ["--will-payload", willPayload] : []),
    ...(willQos > 0 ? ["--will-qos", String(willQos)] : []),
    ...(willRetain ? ["--will-retain"] : []),
    ...(version === 5 && Number(willDelaySeconds) > 0 ? ["-D", "will", "will-delay-interval", willDelaySeconds] : []),
  ];
}

import { isUtf8 } from "node:buffer";
import { notRecorded } from "../../../contract/traffic/mqtt.ts";
import { hidden } from "../../../contract/traffic/secret-headers.ts";
import type { FoundCredentials } from "../../core/credentials/found-credentials.ts";
import { base64WithoutCredentials, type ContentLabel, textWithoutCredentials } from "../../core/http/record/without-credentials.ts";
import type { ConnectPacket, DisconnectPacket, SubscriptionRequest, Will } from "../codec/packet.ts";
import { decodeForwarded, type Properties } from "../codec/properties.ts";
import { reasonName } from "../codec/reason-code.ts";
import { keptText } from "../codec/topic.ts";

/** What a client's packet said, by the standard's names of the fields; the value as a person reads it. */
export type PacketFields = readonly (readonly [name: string, value: string])[];

/** In characters. */
const longestValue = 1_000;
/** Of a payload that is no text; its length is shown beside them. */
const mostHexBytes = 400;
/** Further ones are counted. */
const mostFields = 100;
/** Of all fields of a packet, in characters. */
const mostText = 16_384;
export const userPropertyName = "User property ";
export const willPayloadName = "Will payload";
const contentTypeName = "content type";
export const willContentTypeName = `Will: ${contentTypeName}`;

export const versionNames: Readonly<Record<number, string>> = { 3: "3.1", 4: "3.1.1", 5: "5.0" };

/** MQTT 5.0 §3.1, 3.1.1 §3.1. Without `withCredentials` there is the size alone of the password and of authentication data. */
export function connectFields(packet: ConnectPacket, withCredentials: boolean): PacketFields {
  const { version, cleanStart, keepAliveSeconds, clientId, username, password, will, properties = {} } = packet;
  return bounded([
    ["Protocol", `MQTT ${versionNames[version]}${packet.bridge ? ", of a bridge" : ""}`],
    ["Client identifier", clientId === "" ? "none" : clientId],
    [version === 5 ? "Clean start" : "Clean session", yesOrNo(cleanStart)],
    ["Keep alive", keepAliveSeconds === 0 ? "off" : `${keepAliveSeconds} s`],
    ...(username === undefined ? [] : [["User name", username] as const]),
    ...(password === undefined ? [] : [["Password", credentialText(password, withCredentials)] as const]),
    ...propertyFields(properties, withCredentials),
    ...(will ? willFields(will) : []),
  ]);
}

/** MQTT 5.0 §3.8; `reasons` are those of the answer. */
export const subscribeFields = (
  requests: readonly SubscriptionRequest[],
  reasons: readonly number[],
  properties: Properties | undefined,
): PacketFields =>
  bounded([
    ...propertyFields(properties ?? {}),
    ...requests.slice(0, mostFields + 1).map((request, index) => [request.filter, subscriptionText(request, reasons[index])] as const),
  ]);

/** MQTT 5.0 §3.10. */
export const unsubscribeFields = (filters: readonly string[], properties: Properties | undefined): PacketFields =>
  bounded([...propertyFields(properties ?? {}), ...filters.slice(0, mostFields + 1).map((filter) => ["Filter", filter] as const)]);

/** MQTT 5.0 §3.14. */
export const disconnectFields = ({ reason, properties = {} }: DisconnectPacket): PacketFields =>
  bounded([["Reason code", `0x${reason.toString(16).padStart(2, "0")} ${reasonName(reason)}`], ...propertyFields(properties)]);

function subscriptionText({ qos, noLocal, retainAsPublished, retainHandling }: SubscriptionRequest, reason: number | undefined): string {
  const options = [
    `QoS ${qos}`,
    ...(noLocal ? ["no local"] : []),
    ...(retainAsPublished ? ["retain as published"] : []),
    ...(retainHandling > 0 ? [`retain handling ${retainHandling}`] : []),
  ];
  const granted = reason === undefined ? "" : reason < 3 ? `, granted QoS ${reason}` : `, refused: ${reasonName(reason)}`;
  return `${options.join(", ")}${granted}`;
}

function willFields({ topic, qos, retain, payload, properties = {} }: Will): PacketFields {
  return [
    ["Will topic", topic],
    ["Will QoS", String(qos)],
    ["Will retain", yesOrNo(retain)],
    [willPayloadName, payloadText(payload)],
    ...propertyFields({ ...properties, ...(properties.forwarded && decodeForwarded(properties.forwarded)) }).map(
      ([name, value]) => [name.startsWith(userPropertyName) ? name : `Will: ${name}`, value] as const,
    ),
  ];
}

const yesOrNo = (is: boolean): string => (is ? "yes" : "no");

function payloadText(payload: Buffer): string {
  if (isUtf8(payload)) return payload.toString("utf8");
  const start = payload.subarray(0, mostHexBytes);
  return `${payload.length} bytes: ${start.toString("hex")}${payload.length > start.length ? "…" : ""}`;
}

/** What `payloadText` has made, for an export. */
export function payloadWithoutCredentials(text: string, found: FoundCredentials, type: ContentLabel, isCut: boolean): string {
  const [, bytes, hex] = /^(\d+ bytes: )([0-9a-f]+)…?$/.exec(text) ?? [];
  if (bytes === undefined || hex === undefined) return textWithoutCredentials(text, found, type, isCut);
  const base64 = Buffer.from(hex, "hex").toString("base64");
  return base64WithoutCredentials(base64, found, type, "perhaps") === base64 ? text : `${bytes}${hidden}`;
}

type Shown = readonly [name: string, text: (value: never) => string];
const seconds = (value: number): string => (value === 0xffff_ffff ? "never" : `${value} s`);
const credentialText = (value: Buffer, isShown: boolean): string => (isShown ? payloadText(value) : `${value.length} bytes${notRecorded}`);
const plain = (value: number | string): string => String(value);
const names = {
  sessionExpiryInterval: ["Session expiry interval", seconds],
  receiveMaximum: ["Receive maximum", plain],
  maximumPacketSize: ["Maximum packet size", plain],
  topicAliasMaximum: ["Topic alias maximum", plain],
  requestResponseInformation: ["Request response information", plain],
  requestProblemInformation: ["Request problem information", plain],
  authenticationMethod: ["Authentication method", plain],
  reasonString: ["Reason string", plain],
  subscriptionIdentifiers: ["Subscription identifier", (value: number[]) => value.join(", ")],
  willDelayInterval: ["delay interval", seconds],
  payloadFormatIndicator: ["payload format", plain],
  messageExpiryInterval: ["message expiry interval", seconds],
  contentType: [contentTypeName, plain],
  responseTopic: ["response topic", plain],
  correlationData: ["correlation data", (value: Buffer) => value.toString("hex")],
} as const satisfies Partial<Record<keyof Properties, Shown>>;

function propertyFields(properties: Properties, withCredentials = false): PacketFields {
  const fields: (readonly [string, string])[] = [];
  const { authenticationData } = properties;
  if (authenticationData) fields.push(["Authentication data", credentialText(authenticationData, withCredentials)]);
  for (const [property, [name, text]] of Object.entries(names) as [keyof Properties, Shown][]) {
    const value = properties[property];
    if (value !== undefined) fields.push([name, text(value as never)]);
  }
  for (const [key, value] of (properties.userProperties ?? []).slice(0, mostFields + 1)) fields.push([`${userPropertyName}${key}`, value]);
  return fields;
}

function bounded(fields: PacketFields): PacketFields {
  const kept = firstFields(fields);
  return kept.length < fields.length ? [...kept, ["", "Further fields are not recorded."]] : kept;
}

/** As many as are kept of a packet, long ones cut. */
export function firstFields(fields: PacketFields): PacketFields {
  const kept: (readonly [string, string])[] = [];
  let text = 0;
  for (const [name, value] of fields) {
    const field = [cut(name), cut(value)] as const;
    text += field[0].length + field[1].length;
    if (kept.length === mostFields || text > mostText) break;
    kept.push(field);
  }
  return kept;
}

const cut = (text: string): string =>
  text.length > longestValue ? `${keptText(text.slice(0, longestValue))}… (${text.length} characters)` : text;
const cutMark = /… \(\d+ characters\)$/;

/** A value of a field, and what is said behind one that was cut. */
export function withoutCutMark(value: string): { readonly text: string; readonly mark: string } {
  const at = cutMark.exec(value)?.index ?? value.length;
  return { text: value.slice(0, at), mark: value.slice(at) };
}

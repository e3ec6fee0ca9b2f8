import { ByteReader } from "./byte-reader.ts";
import { putVariable, variableLength } from "./byte-writer.ts";
import { PacketError, reasonCode } from "./reason-code.ts";

/** Packets that may contain properties, one bit each. */
export const propertyContext = {
  connect: 1,
  connack: 2,
  publish: 4,
  will: 8,
  /** PUBACK, PUBREC, PUBREL, PUBCOMP. */
  ack: 16,
  subscribe: 32,
  suback: 64,
  unsubscribe: 128,
  unsuback: 256,
  disconnect: 512,
  auth: 1024,
} as const;
export type PropertyContext = (typeof propertyContext)[keyof typeof propertyContext];

const { connect, connack, publish, will, ack, subscribe, suback, unsuback, disconnect, auth } = propertyContext;
const everywhere = 0x7ff;

export interface Properties {
  payloadFormatIndicator?: number | undefined;
  messageExpiryInterval?: number | undefined;
  contentType?: string | undefined;
  responseTopic?: string | undefined;
  correlationData?: Buffer | undefined;
  /** One in a SUBSCRIBE; any number in a PUBLISH to a client. */
  subscriptionIdentifiers?: number[] | undefined;
  sessionExpiryInterval?: number | undefined;
  assignedClientIdentifier?: string | undefined;
  serverKeepAlive?: number | undefined;
  authenticationMethod?: string | undefined;
  authenticationData?: Buffer | undefined;
  requestProblemInformation?: number | undefined;
  willDelayInterval?: number | undefined;
  requestResponseInformation?: number | undefined;
  responseInformation?: string | undefined;
  serverReference?: string | undefined;
  reasonString?: string | undefined;
  receiveMaximum?: number | undefined;
  topicAliasMaximum?: number | undefined;
  topicAlias?: number | undefined;
  maximumQos?: number | undefined;
  retainAvailable?: number | undefined;
  /** In order; a key may repeat. */
  userProperties?: (readonly [key: string, value: string])[] | undefined;
  maximumPacketSize?: number | undefined;
  wildcardSubscriptionAvailable?: number | undefined;
  subscriptionIdentifierAvailable?: number | undefined;
  sharedSubscriptionAvailable?: number | undefined;
  /**
   * PUBLISH and will: the encoded properties that are forwarded unaltered (§3.3.2.3: payload format, content type, response topic,
   * correlation data, user properties), in the original order. May be a view of what was received.
   */
  forwarded?: Buffer | undefined;
}
export type PropertyName = Exclude<keyof Properties, "forwarded">;

export type PropertyType = "bit" | "byte" | "twoBytes" | "fourBytes" | "variable" | "string" | "binary" | "pair";

export interface PropertyRow {
  readonly id: number;
  readonly name: PropertyName;
  readonly type: PropertyType;
  readonly contexts: number;
  /** A value of 0 is a protocol error. */
  readonly nonZero?: true;
  /** [MQTT5-3.3.2-4], -15, -16, -17, -20: forwarded to receivers unaltered. */
  readonly forwarded?: true;
}

/** MQTT 5.0 §2.2.2.2, table 2-4. */
export const propertyRows: readonly PropertyRow[] = [
  { id: 0x01, name: "payloadFormatIndicator", type: "bit", contexts: publish | will, forwarded: true },
  { id: 0x02, name: "messageExpiryInterval", type: "fourBytes", contexts: publish | will },
  { id: 0x03, name: "contentType", type: "string", contexts: publish | will, forwarded: true },
  { id: 0x08, name: "responseTopic", type: "string", contexts: publish | will, forwarded: true },
  { id: 0x09, name: "correlationData", type: "binary", contexts: publish | will, forwarded: true },
  { id: 0x0b, name: "subscriptionIdentifiers", type: "variable", contexts: publish | subscribe, nonZero: true },
  { id: 0x11, name: "sessionExpiryInterval", type: "fourBytes", contexts: connect | connack | disconnect },
  { id: 0x12, name: "assignedClientIdentifier", type: "string", contexts: connack },
  { id: 0x13, name: "serverKeepAlive", type: "twoBytes", contexts: connack },
  { id: 0x15, name: "authenticationMethod", type: "string", contexts: connect | connack | auth },
  { id: 0x16, name: "authenticationData", type: "binary", contexts: connect | connack | auth },
  { id: 0x17, name: "requestProblemInformation", type: "bit", contexts: connect },
  { id: 0x18, name: "willDelayInterval", type: "fourBytes", contexts: will },
  { id: 0x19, name: "requestResponseInformation", type: "bit", contexts: connect },
  { id: 0x1a, name: "responseInformation", type: "string", contexts: connack },
  { id: 0x1c, name: "serverReference", type: "string", contexts: connack | disconnect },
  { id: 0x1f, name: "reasonString", type: "string", contexts: connack | ack | suback | unsuback | disconnect | auth },
  { id: 0x21, name: "receiveMaximum", type: "twoBytes", contexts: connect | connack, nonZero: true },
  { id: 0x22, name: "topicAliasMaximum", type: "twoBytes", contexts: connect | connack },
  { id: 0x23, name: "topicAlias", type: "twoBytes", contexts: publish },
  { id: 0x24, name: "maximumQos", type: "bit", contexts: connack },
  { id: 0x25, name: "retainAvailable", type: "bit", contexts: connack },
  { id: 0x26, name: "userProperties", type: "pair", contexts: everywhere, forwarded: true },
  { id: 0x27, name: "maximumPacketSize", type: "fourBytes", contexts: connect | connack, nonZero: true },
  { id: 0x28, name: "wildcardSubscriptionAvailable", type: "bit", contexts: connack },
  { id: 0x29, name: "subscriptionIdentifierAvailable", type: "bit", contexts: connack },
  { id: 0x2a, name: "sharedSubscriptionAvailable", type: "bit", contexts: connack },
];

const rowById: readonly (PropertyRow | undefined)[] = Array.from({ length: 0x2b }, (_, id) => propertyRows.find((row) => row.id === id));
const forwardingContexts = publish | will;

const malformed = (message: string) => new PacketError(reasonCode.malformedPacket, message);
const protocolError = (message: string) => new PacketError(reasonCode.protocolError, message);

/** Reads property length and properties; undefined if there are none. Throws PacketError. */
export function readProperties(reader: ByteReader, context: PropertyContext): Properties | undefined {
  const length = reader.variableByteInteger();
  if (length === 0) return undefined;
  if (length > reader.remaining) throw malformed("The properties are longer than the packet.");
  const packetEnd = reader.end;
  const end = reader.position + length;
  // No field may extend beyond the property length.
  reader.end = end;
  const properties: Properties = {};
  const forwarding = (context & forwardingContexts) !== 0;
  const forwarded: Buffer[] = [];
  /** Of those to be forwarded that follow one another. */
  let run = { start: 0, end: 0 };
  while (reader.position < end) {
    const start = reader.position;
    const id = reader.variableByteInteger();
    const row = rowById[id];
    // §2.2.2.2: a property that is unknown, or not defined for this packet, makes the packet malformed.
    if (row === undefined) throw malformed(`Unknown property 0x${id.toString(16)}.`);
    if ((row.contexts & context) === 0) throw malformed(`The property ${row.name} is not allowed in this packet.`);
    readProperty(reader, row, properties, context);
    if (!forwarding || !row.forwarded) continue;
    if (run.end !== start) {
      if (run.end > 0) forwarded.push(reader.bytes.subarray(run.start, run.end));
      run = { start, end: start };
    }
    run.end = reader.position;
  }
  reader.end = packetEnd;
  if (run.end > 0) {
    const last = reader.bytes.subarray(run.start, run.end);
    properties.forwarded = forwarded.length > 0 ? Buffer.concat([...forwarded, last]) : last;
  }
  return properties;
}

function readProperty(reader: ByteReader, row: PropertyRow, properties: Properties, context: PropertyContext): void {
  if (row.name === "userProperties") {
    reader.countItem();
    if (reader.isOfClient && (context & (publish | ack)) !== 0) {
      reader.skipString();
      reader.skipString();
      return;
    }
    properties.userProperties ??= [];
    properties.userProperties.push([reader.string(), reader.string()]);
    return;
  }
  if (row.name === "subscriptionIdentifiers") {
    if (properties.subscriptionIdentifiers && context !== publish) throw protocolError("The subscription identifier appears twice.");
    reader.countItem();
    const identifier = reader.variableByteInteger();
    if (identifier === 0) throw protocolError("A subscription identifier is 0.");
    // [MQTT5-3.3.4-6]
    if (reader.isOfClient && context === publish) throw protocolError("A client does not send subscription identifiers.");
    properties.subscriptionIdentifiers ??= [];
    properties.subscriptionIdentifiers.push(identifier);
    return;
  }
  if (properties[row.name] !== undefined) throw protocolError(`The property ${row.name} appears twice.`);
  const value = readValue(reader, row);
  if (row.nonZero && value === 0) throw protocolError(`The property ${row.name} is 0.`);
  (properties as Record<string, unknown>)[row.name] = value;
}

function readValue(reader: ByteReader, row: PropertyRow): number | string | Buffer {
  switch (row.type) {
    case "bit": {
      const value = reader.byte();
      if (value > 1) throw protocolError(`The property ${row.name} is neither 0 nor 1.`);
      return value;
    }
    case "byte":
      return reader.byte();
    case "twoBytes":
      return reader.twoBytes();
    case "fourBytes":
      return reader.fourBytes();
    case "variable":
      return reader.variableByteInteger();
    case "string":
      return reader.string();
    case "binary":
      // Copied: a view would keep the much larger chunk in memory.
      return Buffer.from(reader.binary());
    case "pair":
      throw new Error("user properties are read as pairs");
    default:
      return row.type satisfies never;
  }
}

/** Decodes the forwarded properties of a message, as `encodeForwarded` wrote them. */
export function decodeForwarded(forwarded: Buffer): Properties | undefined {
  if (forwarded.length === 0) return undefined;
  const bytes = Buffer.allocUnsafe(variableLength(forwarded.length) + forwarded.length);
  const at = putVariable(bytes, 0, forwarded.length);
  forwarded.copy(bytes, at);
  const reader = new ByteReader();
  reader.open(bytes, 0, bytes.length);
  return readProperties(reader, propertyContext.publish);
}

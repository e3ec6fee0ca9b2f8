import type { MqttReceived } from "../../../contract/services/mqtt-try.ts";
import type { PublishPacket } from "../codec/packet.ts";
import { firstFields } from "../inspector/packet-fields.ts";

const keptMessages = 500;
/** As many as one answer has: the page asks again with each message. */
const keptBytes = 2 << 20;
const keptPayloadBytes = 16 << 10;
/** Memory of a message, and of a property, in addition to their texts. */
const messageBytes = 400;
const propertyBytes = 150;

export interface ReceivedMessages {
  /** Since the last clearing. */
  readonly count: number;
  add(packet: PublishPacket): void;
  /** Newest first. */
  newest(options: { readonly after: number; readonly limit: number }): readonly MqttReceived[];
  clear(): void;
}

/** Messages that the client of the Try tab received: the newest, bounded in number and in bytes. */
export function createReceivedMessages(): ReceivedMessages {
  let kept: { readonly message: MqttReceived; readonly size: number }[] = [];
  let bytes = 0;
  let count = 0;

  return {
    get count() {
      return count;
    },
    add(packet) {
      const message = describe(packet, ++count);
      const size = sizeOf(message);
      kept.push({ message, size });
      bytes += size;
      while (kept.length > keptMessages || (bytes > keptBytes && kept.length > 1)) bytes -= kept.shift()?.size ?? 0;
    },
    newest: ({ after, limit }) =>
      kept
        .map(({ message }) => message)
        .filter(({ place }) => place > after)
        .slice(-limit)
        .reverse(),
    clear() {
      kept = [];
      bytes = 0;
      count = 0;
    },
  };
}

/** Bytes in an answer, and memory besides: an answer has the texts of a stranger, which may grow sixfold in JSON. */
const sizeOf = (message: MqttReceived): number =>
  Buffer.byteLength(JSON.stringify(message)) + messageBytes + (message.properties.userProperties?.length ?? 0) * propertyBytes;

function describe({ topic, qos, retain, dup, payload, properties }: PublishPacket, place: number): MqttReceived {
  const {
    payloadFormatIndicator,
    messageExpiryInterval,
    contentType,
    responseTopic,
    correlationData,
    userProperties = [],
  } = properties ?? {};
  const keptProperties = firstFields(userProperties);
  const leftUserProperties = userProperties.length - keptProperties.length;
  return {
    place,
    at: Date.now(),
    topic,
    qos,
    retain,
    dup,
    bytes: payload.length,
    payload: payload.toString("base64", 0, keptPayloadBytes),
    properties: {
      ...(payloadFormatIndicator !== undefined && { payloadFormatIndicator }),
      ...(messageExpiryInterval !== undefined && { messageExpiryInterval }),
      ...(contentType !== undefined && { contentType }),
      ...(responseTopic !== undefined && { responseTopic }),
      ...(correlationData && { correlationData: correlationData.toString("base64") }),
      ...(keptProperties.length > 0 && { userProperties: keptProperties }),
    },
    ...(leftUserProperties > 0 && { leftUserProperties }),
    ...(properties?.subscriptionIdentifiers && { subscriptionIdentifiers: properties.subscriptionIdentifiers }),
  };
}

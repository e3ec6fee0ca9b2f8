import type { MqttReceived } from "../../../contract/services/mqtt-try.ts";
import type { PublishPacket } from "../codec/packet.ts";

const keptMessages = 500;
const keptBytes = 4 << 20;
const keptPayloadBytes = 16 << 10;

export interface ReceivedMessages {
  /** Since the last clearing. */
  readonly count: number;
  add(packet: PublishPacket): void;
  /** Newest first. */
  newest(options: { readonly after: number; readonly limit: number }): readonly MqttReceived[];
  clear(): void;
}

/** Messages that the client of the Try tab received: a bounded number of the newest. */
export function createReceivedMessages(): ReceivedMessages {
  let kept: MqttReceived[] = [];
  let bytes = 0;
  let count = 0;
  const sizeOf = ({ payload, topic }: MqttReceived) => payload.length + topic.length + 300;

  return {
    get count() {
      return count;
    },
    add(packet) {
      const message = describe(packet, ++count);
      kept.push(message);
      bytes += sizeOf(message);
      while (kept.length > keptMessages || (bytes > keptBytes && kept.length > 1)) bytes -= sizeOf(kept.shift() as MqttReceived);
    },
    newest: ({ after, limit }) =>
      kept
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

function describe({ topic, qos, retain, dup, payload, properties }: PublishPacket, place: number): MqttReceived {
  const { payloadFormatIndicator, messageExpiryInterval, contentType, responseTopic, correlationData, userProperties } = properties ?? {};
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
      ...(userProperties && { userProperties }),
    },
    ...(properties?.subscriptionIdentifiers && { subscriptionIdentifiers: properties.subscriptionIdentifiers }),
  };
}

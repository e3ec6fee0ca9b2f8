import { type ServiceHandlers, serverStream } from "../engine/handlers.ts";
import { StatusError } from "../engine/status.ts";
import { streamItem, streamRequest } from "./example-messages.ts";
import { paceStream } from "./paced-stream.ts";

const standardRate = 10;
const greatestRate = 100_000;

export interface StreamServiceOptions {
  /** Of the payload of an item. */
  readonly mostPayloadBytes: number;
}

/** example.StreamService: the item of a position is always the same, so a client can resume a broken stream. */
export const stream = ({ mostPayloadBytes }: StreamServiceOptions): ServiceHandlers => ({
  "example.StreamService": {
    Subscribe: serverStream(streamRequest, streamItem, ({ fromPosition, count, rate, payloadBytes }, call, send) => {
      const outOfRange = (field: string, least: number, greatest: number) =>
        new StatusError("INVALID_ARGUMENT", `${field} is not from ${least} to ${greatest}`);
      if (fromPosition < 0 || fromPosition > Number.MAX_SAFE_INTEGER) throw outOfRange("from_position", 0, Number.MAX_SAFE_INTEGER);
      if (count < 0 || count > Number.MAX_SAFE_INTEGER) throw outOfRange("count", 0, Number.MAX_SAFE_INTEGER);
      if (!(rate >= 0 && rate <= greatestRate)) throw outOfRange("rate", 0, greatestRate);
      if (payloadBytes < 0 || payloadBytes > mostPayloadBytes) throw outOfRange("payload_bytes", 0, mostPayloadBytes);
      const item = (position: number) =>
        send({ position, value: `item-${position}`, timestamp: new Date().toISOString(), payload: payloadOf(position, payloadBytes) });
      paceStream({
        call,
        first: fromPosition,
        count: count === 0 ? Number.POSITIVE_INFINITY : count,
        intervalMs: 1_000 / (rate === 0 ? standardRate : rate),
        send: item,
      });
    }),
  },
});

/** A message is made of it at once. One of its own for each would be as much garbage as there are messages. */
let space = Buffer.alloc(0);

/** The same bytes for a position each time, until the next one is asked for. */
function payloadOf(position: number, length: number): Buffer {
  if (space.length < length) space = Buffer.allocUnsafeSlow(length);
  return space.subarray(0, length).fill(`item-${position};`);
}

import { h264Nal, h264NalType } from "../media/h264.ts";
import { h265NalType, isH265KeyType } from "../media/h265.ts";
import { mostUnits } from "../media/nal-units.ts";
import { h264Payload, h265Payload } from "./nal-payload.ts";

/** What a payload holds: whole NAL units, or a fragment of one with the header of that unit; undefined where it is malformed. */
export type NalPayload =
  | { readonly units: readonly Buffer[] }
  | { readonly header: Buffer; readonly data: Buffer; readonly isFirst: boolean; readonly isLast: boolean };

/** How payloads of a format are read and what its NAL units are. */
export interface NalPayloads {
  read(payload: Buffer): NalPayload | undefined;
  /** A slice of a picture; and whether it is the first slice of it. */
  isSlice(unit: Buffer): boolean;
  isFirstSlice(slice: Buffer): boolean;
  isKey(slice: Buffer): boolean;
}

/** RFC 6184 §5.2; the payloads of its interleaved mode are not taken. */
export const h264Payloads: NalPayloads = {
  read(payload) {
    if (payload.length === 0) return undefined;
    const type = h264NalType(payload);
    if (type >= 1 && type < h264Payload.stapA) return { units: [payload] };
    if (type === h264Payload.stapA) return readAggregation(payload, 1, 0, 0, 1);
    if (type !== h264Payload.fuA || payload.length < 3) return undefined;
    const fragment = payload[1] as number;
    const header = Buffer.from([((payload[0] as number) & 0xe0) | (fragment & 0x1f)]);
    return { header, data: payload.subarray(2), isFirst: fragment >= 0x80, isLast: (fragment & 0x40) !== 0 };
  },
  isSlice: (unit) => h264NalType(unit) >= h264Nal.slice && h264NalType(unit) <= h264Nal.idr,
  // first_mb_in_slice is zero.
  isFirstSlice: (slice) => slice.length > 1 && (slice[1] as number) >= 0x80,
  isKey: (slice) => h264NalType(slice) === h264Nal.idr,
};

/** RFC 7798 §4.4. */
export const h265Payloads = (hasDecodingOrder: boolean): NalPayloads => ({
  read(payload) {
    if (payload.length < 3) return undefined;
    const type = h265NalType(payload);
    const orderBytes = hasDecodingOrder ? 2 : 0;
    if (type === h265Payload.aggregation) return readAggregation(payload, 2, orderBytes, hasDecodingOrder ? 1 : 0, 2);
    if (type === h265Payload.fragment) {
      const fragment = payload[2] as number;
      const isFirst = fragment >= 0x80;
      const header = Buffer.from([((payload[0] as number) & 0x81) | ((fragment & 0x3f) << 1), payload[1] as number]);
      const data = payload.subarray(3 + (isFirst ? orderBytes : 0));
      return data.length === 0 ? undefined : { header, data, isFirst, isLast: (fragment & 0x40) !== 0 };
    }
    if (type >= h265Payload.aggregation) return undefined;
    if (orderBytes === 0) return { units: [payload] };
    if (payload.length < 5) return undefined;
    return { units: [Buffer.concat([payload.subarray(0, 2), payload.subarray(4)])] };
  },
  isSlice: (unit) => h265NalType(unit) < 32,
  isFirstSlice: (slice) => slice.length > 2 && (slice[2] as number) >= 0x80,
  isKey: (slice) => isH265KeyType(h265NalType(slice)),
});

/** Units behind their lengths; the first may have more before it than the later ones. */
function readAggregation(payload: Buffer, start: number, before: number, beforeLater: number, leastBytes: number): NalPayload | undefined {
  const units: Buffer[] = [];
  let position = start + before;
  while (position < payload.length) {
    if (position + 2 > payload.length) return undefined;
    const length = payload.readUInt16BE(position);
    position += 2;
    if (length < leastBytes || length > payload.length - position) return undefined;
    if (units.length === mostUnits) return undefined;
    units.push(payload.subarray(position, position + length));
    position += length + beforeLater;
  }
  return units.length === 0 ? undefined : { units };
}

/** An access unit has far fewer; what has more is not video. */
export const mostUnits = 4_096;

/**
 * Splits a sample of ISO/IEC 14496-15, whose NAL units are prefixed with their length, into views of them. Empty units are left out.
 * Throws RangeError where a length is beyond the sample.
 */
export function splitLengthPrefixed(sample: Buffer, lengthBytes: 1 | 2 | 4): Buffer[] {
  const units: Buffer[] = [];
  let position = 0;
  for (let count = 0; position < sample.length; count++) {
    if (count === mostUnits) throw new RangeError(`it has more than ${mostUnits} NAL units`);
    if (position + lengthBytes > sample.length) throw new RangeError("it ends within the length of a NAL unit");
    const length = sample.readUIntBE(position, lengthBytes);
    position += lengthBytes;
    if (length > sample.length - position) {
      throw new RangeError(`a NAL unit of ${length} bytes begins where ${sample.length - position} are left`);
    }
    if (length > 0) units.push(sample.subarray(position, position + length));
    position += length;
  }
  return units;
}

/** The NAL units in one buffer, each with its length in four bytes before it, as MP4 has them. */
export function joinLengthPrefixed(units: readonly Buffer[]): Buffer {
  let size = 0;
  for (const unit of units) size += 4 + unit.length;
  const joined = Buffer.allocUnsafe(size);
  let position = 0;
  for (const unit of units) {
    position = joined.writeUInt32BE(unit.length, position);
    joined.set(unit, position);
    position += unit.length;
  }
  return joined;
}

const startCode = Buffer.from([0, 0, 0, 1]);

/** ITU-T H.264, annex B: each unit behind a start code, as MPEG-TS and decoders without a configuration take them. */
export const withStartCodes = (units: readonly Buffer[]): readonly Buffer[] => units.flatMap((unit) => [startCode, unit]);

/** ITU-T H.264 §7.4.1.1: the payload of a NAL unit without its emulation prevention bytes. */
export function withoutEmulationPrevention(unit: Buffer): Buffer {
  let found = unit.indexOf(prevention);
  if (found < 0) return unit;
  const plain = Buffer.allocUnsafe(unit.length);
  let length = 0;
  let from = 0;
  while (found >= 0) {
    length += unit.copy(plain, length, from, found + 2);
    from = found + 3;
    found = unit.indexOf(prevention, from);
  }
  length += unit.copy(plain, length, from);
  return plain.subarray(0, length);
}
const prevention = Buffer.from([0, 0, 3]);

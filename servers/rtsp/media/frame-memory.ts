import type { Frame } from "./track.ts";

/** What a frame and each of its units count beside their bytes: the objects that describe them and their packets. */
const frameOverheadBytes = 768;
export const unitOverheadBytes = 256;
/** Less than this is not worth a copy. */
const leastSavedBytes = 4 << 10;

/** The bytes of memory that a frame takes while it is kept: a frame of two bytes takes far more than those. */
export function memoryOf({ units }: Pick<Frame, "units">): number {
  let bytes = frameOverheadBytes;
  for (const unit of units) bytes += unitOverheadBytes + unit.length;
  return bytes;
}

/** A view of little in much memory keeps all of that memory: of it a copy is kept, in memory of its own. */
export function compact(unit: Buffer): Buffer {
  if (unit.buffer.byteLength <= 2 * unit.length + leastSavedBytes) return unit;
  // Not from the pool of Node, which is as large as what is read from a socket.
  const copy = Buffer.allocUnsafeSlow(unit.length);
  unit.copy(copy);
  return copy;
}

/** The same frame where its units have no more memory than they need. */
export function compactFrame<Described extends Pick<Frame, "units">>(frame: Described): Described {
  const units = frame.units.map(compact);
  return units.some((unit, index) => unit !== frame.units[index]) ? { ...frame, units } : frame;
}

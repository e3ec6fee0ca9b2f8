const slots = 2_048;
/** Longer topics are not cached. */
const rowBytes = 64;

/**
 * Caches topic names by their bytes. Most messages use the same few topics: comparing bytes is faster than creating a string,
 * validating it and hashing it for each map lookup. If two topics share a slot, the later one replaces the earlier one.
 */
export class TopicCache {
  private readonly rows = new Uint8Array(slots * rowBytes);
  private readonly lengths = new Uint8Array(slots);
  private readonly topics = new Array<string>(slots).fill("");

  find(bytes: Buffer, at: number, length: number): string | undefined {
    if (length === 0 || length > rowBytes) return undefined;
    const slot = slotOf(bytes, at, length);
    if (this.lengths[slot] !== length) return undefined;
    const { rows } = this;
    const row = slot * rowBytes;
    for (let index = 0; index < length; index++) if (rows[row + index] !== bytes[at + index]) return undefined;
    return this.topics[slot];
  }

  /** `topic` is the decoded bytes, and a valid topic name. */
  add(bytes: Buffer, at: number, length: number, topic: string): void {
    if (length === 0 || length > rowBytes) return;
    const slot = slotOf(bytes, at, length);
    this.lengths[slot] = length;
    this.topics[slot] = topic;
    for (let index = 0; index < length; index++) this.rows[slot * rowBytes + index] = bytes[at + index] as number;
  }
}

/** FNV-1a. */
function slotOf(bytes: Buffer, at: number, length: number): number {
  let hash = 0x811c9dc5;
  for (let index = at; index < at + length; index++) hash = Math.imul(hash ^ (bytes[index] as number), 0x01000193);
  return (hash ^ (hash >>> 15)) & (slots - 1);
}

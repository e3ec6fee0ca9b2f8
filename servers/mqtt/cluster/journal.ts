import type { Redis } from "ioredis";
import { PacketError } from "../codec/reason-code.ts";
import { keyPrefix } from "./cluster-scripts.ts";
import { type DecodedFrame, decodeFrame } from "./frame.ts";

export interface Received {
  /** Its id in the journal; empty if it is not there. */
  readonly id: string;
  readonly frame: DecodedFrame;
}

/** Identifiers of the journal's entries, as Redis gives them: milliseconds, a dash, and a count. */
export const firstJournalId = "0-0";

function parse(id: string): [time: number, count: number] {
  const dash = id.indexOf("-");
  return [Number(id.slice(0, dash)), Number(id.slice(dash + 1))];
}

export function isLater(one: string, other: string): boolean {
  if (one === other) return false;
  const [time, count] = parse(one);
  const [otherTime, otherCount] = parse(other);
  return time > otherTime || (time === otherTime && count > otherCount);
}

export const isJournalId = (text: string): boolean => /^\d{1,16}-\d{1,16}$/.test(text);

const framesAtOnce = 200;
const bytesAtOnce = 1 << 20;

/** The frames of the journal after a position, oldest first. */
export async function* readJournal(redis: Redis, after: string): AsyncIterable<{ readonly id: string; readonly bytes: Buffer }> {
  let from = after;
  // A frame may have some bytes or a megabyte.
  let count = 10;
  for (;;) {
    const entries = await redis.xrangeBuffer(`${keyPrefix}journal`, `(${from}`, "+", "COUNT", count);
    let read = 0;
    for (const [id, fields] of entries) {
      from = id.toString("latin1");
      const bytes = fields[1] ?? Buffer.alloc(0);
      read += bytes.length;
      yield { id: from, bytes };
    }
    if (entries.length < count) return;
    count = Math.max(1, Math.min(framesAtOnce, Math.floor((count * bytesAtOnce) / Math.max(1, read))));
  }
}

/** Skips frames that cannot be decoded: the live path has logged them. */
export async function* framesAfter(redis: Redis, after: string): AsyncIterable<Received> {
  for await (const { id, bytes } of readJournal(redis, after)) {
    if (bytes.length === 0) continue;
    try {
      yield { id, frame: decodeFrame(bytes) };
    } catch (error) {
      if (!(error instanceof PacketError)) throw error;
    }
  }
}

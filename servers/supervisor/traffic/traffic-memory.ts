import { createSlices } from "./turns.ts";

/** Memory for recorded traffic, in segments of one size, so that services can reuse each other's freed segments. */
export interface SegmentPool {
  /** A record that is longer than a segment has one of its own. */
  take(needed: number): Buffer;
  give(segment: Buffer): void;
}

/** One service's share of the memory. */
export interface MemoryUser {
  /** Bytes held now. */
  readonly bytes: number;
  /** Evicts the oldest data, at least so many bytes if there are as many. False if nothing can be evicted. */
  evict(bytes: number): boolean;
}

export interface TrafficMemory {
  readonly segments: SegmentPool;
  readonly limit: number;
  setLimit(bytes: number): void;
  join(user: MemoryUser): void;
  /** To be called after something was added: the service that holds the most evicts until all are within the limit, in slices. */
  makeRoom(): void;
}

const segmentBytes = 256 << 10;
/** Free segments that are kept for the next use. */
const spareSegments = 16;

/** The common limit for the traffic of all services. */
export function createTrafficMemory(limitBytes: number): TrafficMemory {
  let limit = limitBytes;
  const users: MemoryUser[] = [];
  const spare: Buffer[] = [];

  /** What could evict nothing since something was added. */
  const unable = new Set<MemoryUser>();
  const evictInSlices = createSlices(() => {
    let held = 0;
    // A quiet service keeps its rows as long as another service holds more.
    let largest: MemoryUser | undefined;
    for (const user of users) {
      held += user.bytes;
      if (!unable.has(user) && user.bytes > (largest?.bytes ?? -1)) largest = user;
    }
    if (held <= limit || !largest) return true;
    if (!largest.evict(segmentBytes)) unable.add(largest);
    return false;
  });
  function makeRoom() {
    unable.clear();
    evictInSlices();
  }

  return {
    segments: {
      take: (needed) => (needed > segmentBytes ? Buffer.allocUnsafeSlow(needed) : (spare.pop() ?? Buffer.allocUnsafeSlow(segmentBytes))),
      give(segment) {
        if (segment.length === segmentBytes && spare.length < spareSegments) spare.push(segment);
      },
    },
    get limit() {
      return limit;
    },
    setLimit(bytes) {
      limit = bytes;
      makeRoom();
    },
    join: (user) => void users.push(user),
    makeRoom,
  };
}

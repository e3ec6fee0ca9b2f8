import type { Allocation, AllocationClient } from "./allocation.ts";

/** Who is at the other end of a 5-tuple (RFC 8656 §2.2). It has at most one allocation. */
export interface TurnClient extends AllocationClient {
  allocation: Allocation | undefined;
  /** Ports are being bound for it. */
  isAllocating: boolean;
  /** Its connection was closed. */
  isGone: boolean;
}

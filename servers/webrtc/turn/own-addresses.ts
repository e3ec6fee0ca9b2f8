import os from "node:os";
import { withoutZone } from "../stun/transport-address.ts";
import { isLoopback } from "./peer-policy.ts";

/** Interfaces come and go. */
const knownMs = 1_000;

/** Tells the addresses of this computer from others. `now` is steady, in milliseconds. */
export function createOwnAddresses(now: () => number, interfaces = os.networkInterfaces): (address: string) => boolean {
  let own = new Set<string>();
  let until = Number.NEGATIVE_INFINITY;
  return (address) => {
    if (isLoopback(address)) return true;
    const at = now();
    if (at >= until) {
      own = new Set(Object.values(interfaces()).flatMap((list) => (list ?? []).map((one) => one.address)));
      until = at + knownMs;
    }
    return own.has(withoutZone(address));
  };
}

import os from "node:os";
import { knownBriefly } from "../../core/net/local-addresses.ts";
import { withoutZone } from "../stun/transport-address.ts";
import { isLoopback } from "./peer-policy.ts";

/** Tells the addresses of this computer from others. `now` is steady, in milliseconds. */
export function createOwnAddresses(now: () => number, interfaces = os.networkInterfaces): (address: string) => boolean {
  const own = knownBriefly(() => new Set(Object.values(interfaces()).flatMap((list) => (list ?? []).map((one) => one.address))), now);
  return (address) => isLoopback(address) || own().has(withoutZone(address));
}

import os from "node:os";
import type { Endpoint } from "../../contract/service.ts";

/** The endpoint on loopback and, open to the LAN, one for each address by which other machines reach this one. */
export function reachableEndpoints(
  openToLan: boolean,
  endpoint: (host: string) => Endpoint,
  interfaces = os.networkInterfaces(),
): readonly Endpoint[] {
  const local = endpoint("127.0.0.1");
  if (!openToLan) return [local];
  const addresses = Object.values(interfaces)
    .flatMap((list) => list ?? [])
    .filter(({ internal, family }) => !internal && family === "IPv4")
    .map(({ address }) => address);
  return [local, ...addresses.map((address) => ({ ...endpoint(address), label: `${local.label} (LAN)` }))];
}

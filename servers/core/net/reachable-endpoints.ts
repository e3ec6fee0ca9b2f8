import os from "node:os";
import { type Endpoint, lanLabel } from "../../../contract/service.ts";

/** The endpoints on loopback and, open to the LAN, the same for each address by which other machines reach this one. */
export function reachableEndpoints(
  openToLan: boolean,
  endpointsAt: (host: string) => readonly Endpoint[],
  interfaces = os.networkInterfaces(),
): readonly Endpoint[] {
  const local = endpointsAt("127.0.0.1");
  if (!openToLan) return local;
  const addresses = Object.values(interfaces)
    .flatMap((list) => list ?? [])
    .filter(({ internal, family }) => !internal && family === "IPv4")
    .map(({ address }) => address);
  const ofLan = ({ label, url }: Endpoint): Endpoint => ({ label: lanLabel(label), url });
  return [...local, ...addresses.flatMap((address) => endpointsAt(address).map(ofLan))];
}

import os from "node:os";
import type { RelayPortsOptions } from "../turn/relay-ports.ts";

export interface RelayAddressing {
  readonly addresses: RelayPortsOptions["addresses"];
  /** Of this computer: relays may reach one another. */
  readonly own: readonly string[];
}

/** On loopback only, or on all addresses; then clients are told the configured IPv4 address, or the first one of this computer. */
export function relayAddressing(openToLan: boolean, configured: string, interfaces = os.networkInterfaces()): RelayAddressing {
  const all = Object.values(interfaces).flatMap((list) => list ?? []);
  const hasIpv6Loopback = all.some(({ address }) => address === "::1");
  const loopback = {
    IPv4: { host: "127.0.0.1", advertised: "127.0.0.1" },
    ...(hasIpv6Loopback && { IPv6: { host: "::1", advertised: "::1" } }),
  };
  if (!openToLan) return { addresses: loopback, own: [] };
  const outer = all.filter(({ internal, address }) => !internal && !address.startsWith("fe80:"));
  const ipv4 = configured || outer.find(({ family }) => family === "IPv4")?.address;
  const ipv6 = outer.find(({ family }) => family === "IPv6")?.address;
  const addresses = {
    IPv4: ipv4 === undefined ? loopback.IPv4 : { host: "0.0.0.0", advertised: ipv4 },
    ...(ipv6 !== undefined ? { IPv6: { host: "::", advertised: ipv6 } } : hasIpv6Loopback && { IPv6: loopback.IPv6 }),
  };
  return { addresses, own: [...outer.map(({ address }) => address), ...(configured ? [configured] : [])] };
}

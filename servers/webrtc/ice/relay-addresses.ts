import { BlockList, isIPv6 } from "node:net";
import os, { type NetworkInterfaceInfo } from "node:os";
import type { RelayClient, RelayPortsOptions } from "../turn/relay-ports.ts";

export interface RelayAddressing {
  readonly addresses: RelayPortsOptions["addresses"];
  /** Of this computer: relays may reach one another. */
  readonly own: readonly string[];
}

/** On loopback only, or on all addresses; then clients are told the configured IPv4 address, or the one of this computer by which they came. */
export function relayAddressing(openToLan: boolean, configured: string, interfaces = os.networkInterfaces()): RelayAddressing {
  const all = Object.values(interfaces).flatMap((list) => list ?? []);
  const hasIpv6Loopback = all.some(({ address }) => address === "::1");
  const loopback = {
    IPv4: { host: "127.0.0.1", advertised: "127.0.0.1" },
    ...(hasIpv6Loopback && { IPv6: { host: "::1", advertised: "::1" } }),
  };
  if (!openToLan) return { addresses: loopback, own: [] };
  const outer = all.filter(({ internal, address }) => !internal && !address.startsWith("fe80:"));
  const ipv4 = configured || addressFor(outer.filter(({ family }) => family === "IPv4"));
  const ipv6 = addressFor(outer.filter(({ family }) => family === "IPv6"));
  const addresses = {
    IPv4: ipv4 === undefined ? loopback.IPv4 : { host: "0.0.0.0", advertised: ipv4 },
    ...(ipv6 !== undefined ? { IPv6: { host: "::", advertised: ipv6 } } : hasIpv6Loopback && { IPv6: loopback.IPv6 }),
  };
  return { addresses, own: [...outer.map(({ address }) => address), ...(configured ? [configured] : [])] };
}

/** Where its connection arrived, else the address in the client's network, else the first one. Undefined where there is none. */
function addressFor(own: readonly NetworkInterfaceInfo[]): string | ((client: RelayClient) => string) | undefined {
  const [first, ...others] = own;
  if (!first || others.length === 0) return first?.address;
  const networks = own.map(({ address, cidr }) => ({ address, network: networkOf(cidr ?? address) }));
  return ({ address, localAddress }) => {
    const arrived = networks.find((one) => one.address === localAddress);
    const near = networks.find(({ network }) => network.check(address, isIPv6(address) ? "ipv6" : "ipv4"));
    return (arrived ?? near)?.address ?? first.address;
  };
}

/** Of "192.0.2.7/24"; an address alone is a network of its own. */
function networkOf(cidr: string): BlockList {
  const [address = "", bits] = cidr.split("/");
  const network = new BlockList();
  const isLong = isIPv6(address);
  network.addSubnet(address, Number(bits ?? (isLong ? 128 : 32)), isLong ? "ipv6" : "ipv4");
  return network;
}

import { BlockList, isIPv6 } from "node:net";
import os, { type NetworkInterfaceInfo } from "node:os";
import { isLinkLocal, knownBriefly } from "../../core/net/local-addresses.ts";
import { withoutZone } from "../stun/transport-address.ts";
import type { RelayAddress, RelayClient, RelayPortsOptions } from "../turn/relay-ports.ts";

export interface RelayAddressing {
  readonly addresses: RelayPortsOptions["addresses"];
  /** Of this computer, as clients are told: relays may reach one another. */
  readonly isRelayAddress: (address: string) => boolean;
}

interface OwnAddress {
  readonly address: string;
  readonly network: BlockList;
}

const loopback: Readonly<Record<"IPv4" | "IPv6", RelayAddress>> = {
  IPv4: { host: "127.0.0.1", advertised: "127.0.0.1" },
  IPv6: { host: "::1", advertised: "::1" },
};

/**
 * On loopback only, or where others reach this computer: relays are at the configured IPv4 address, or at that by which the client came, else the one in its
 * network, else the first. Interfaces that come and go are followed.
 */
export function relayAddressing(openToLan: boolean, configured: string, interfaces = os.networkInterfaces): RelayAddressing {
  const own = knownBriefly(() => {
    const all = Object.values(interfaces()).flatMap((list) => list ?? []);
    const outer = all.filter(({ internal, address }) => !internal && !isLinkLocal(address));
    const of = (wanted: string) => outer.filter(({ family }) => family === wanted).map(withNetwork);
    return { IPv4: of("IPv4"), IPv6: of("IPv6"), hasIpv6Loopback: all.some(({ address }) => address === "::1") };
  });
  if (!openToLan) {
    const addresses = { IPv4: loopback.IPv4, ...(own().hasIpv6Loopback && { IPv6: loopback.IPv6 }) };
    return { addresses, isRelayAddress: () => false };
  }
  const isOwn = (address: string) => own().IPv4.some((one) => one.address === address) || own().IPv6.some((one) => one.address === address);
  const at = (address: string | undefined) => (address === undefined ? undefined : { host: address, advertised: address });
  // One of a NAT or of a container's host is none of this computer: the system chooses where it leads.
  const atConfigured = () => ({ host: isOwn(configured) ? configured : "0.0.0.0", advertised: configured });
  return {
    addresses: {
      IPv4: (client) => (configured ? atConfigured() : (at(addressFor(own().IPv4, client)) ?? loopback.IPv4)),
      IPv6: (client) => at(addressFor(own().IPv6, client)) ?? (own().hasIpv6Loopback ? loopback.IPv6 : undefined),
    },
    isRelayAddress: (address) => (configured !== "" && address === configured) || isOwn(address),
  };
}

/** Where the client arrived, else the address in its network, else the first one. Undefined where there is none. */
function addressFor(own: readonly OwnAddress[], client: RelayClient | undefined): string | undefined {
  if (!client || own.length < 2) return own[0]?.address;
  const { address, localAddress } = client;
  const arrived = own.find((one) => one.address === withoutZone(localAddress ?? ""));
  const near = arrived ?? own.find(({ network }) => network.check(withoutZone(address), isIPv6(address) ? "ipv6" : "ipv4"));
  return (near ?? own[0])?.address;
}

/** The network of "192.0.2.7/24"; an address alone is a network of its own. */
function withNetwork({ address, cidr }: NetworkInterfaceInfo): OwnAddress {
  const [first = "", bits] = (cidr ?? address).split("/");
  const network = new BlockList();
  const isLong = isIPv6(first);
  network.addSubnet(first, Number(bits ?? (isLong ? 128 : 32)), isLong ? "ipv6" : "ipv4");
  return { address, network };
}

import os from "node:os";

type Interfaces = ReturnType<typeof os.networkInterfaces>;

/** An address of this computer. */
export interface LocalAddress {
  /** To bind: "192.0.2.7"; one of a link alone has its interface, "fe80::7%eth0". */
  readonly host: string;
  readonly family: "IPv4" | "IPv6";
  readonly isInternal: boolean;
  /** Of a link alone: another one where the interface was made anew under its name. Else 0. */
  readonly scope: number;
}

/** A computer with many containers has an address for the link of each of them. */
const mostAddresses = 128;
/** How often the system is asked: Wi-Fi, VPN and containers come and go. */
const lookMs = 2_000;
const knownMs = 1_000;

export const isLinkLocal = (host: string): boolean => /^fe[89ab]/i.test(host);

/** Those of loopback first, then those by which others reach it; those of a link alone are last. */
export function localAddresses(interfaces: Interfaces = os.networkInterfaces()): readonly LocalAddress[] {
  const found = new Map<string, LocalAddress>([["127.0.0.1", { host: "127.0.0.1", family: "IPv4", isInternal: true, scope: 0 }]]);
  for (const [name, list] of Object.entries(interfaces))
    for (const { address, family, internal, ...others } of list ?? []) {
      const scope = "scopeid" in others ? (others.scopeid ?? 0) : 0;
      // Of Windows an interface is named by its number.
      const host = isLinkLocal(address) ? `${address}%${process.platform === "win32" ? scope : name}` : address;
      if (!found.has(host)) found.set(host, { host, family, isInternal: internal, scope });
    }
  const rank = ({ host, isInternal }: LocalAddress) => (isLinkLocal(host) ? 2 : isInternal ? 0 : 1);
  return [...found.values()].sort((left, right) => rank(left) - rank(right)).slice(0, mostAddresses);
}

type Follower = (addresses: readonly LocalAddress[]) => void;
const followers = new Set<Follower>();
let timer: NodeJS.Timeout | undefined;

/** Tells the addresses every two seconds, all followers by one look, until the function that is returned is called. */
export function followLocalAddresses(follower: Follower): () => void {
  followers.add(follower);
  timer ??= setInterval(look, lookMs).unref();
  return () => {
    followers.delete(follower);
    if (followers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function look(): void {
  let addresses: readonly LocalAddress[];
  try {
    addresses = localAddresses();
  } catch {
    // Without a free descriptor the system tells none. The next look does.
    return;
  }
  for (const follower of followers) follower(addresses);
}

/** What is read of the interfaces, for a second: who asks for each datagram costs the system nothing. What was read stays where it cannot be read again. */
export function knownBriefly<T>(read: () => T, now = () => performance.now()): () => T {
  let known: { readonly value: T } | undefined;
  let until = Number.NEGATIVE_INFINITY;
  return () => {
    const at = now();
    if (known && at < until) return known.value;
    until = at + knownMs;
    try {
      known = { value: read() };
    } catch (error) {
      if (!known) throw error;
    }
    return known.value;
  };
}

import type { Log } from "../service/log.ts";
import { ServiceError } from "../service/service-error.ts";
import { type BoundSocket, bindDualStack, bindError, type DualStackOptions } from "./dual-stack.ts";
import { followLocalAddresses, isLinkLocal, type LocalAddress, localAddresses } from "./local-addresses.ts";
import { bindSocket, OpenPlace, type UdpPlace, type UdpPlaceOptions } from "./udp-place.ts";

export interface ListenUdpOptions extends Pick<DualStackOptions, "port" | "openToLan" | "onStop">, UdpPlaceOptions {
  /**
   * Sockets of each address that share the port, on Linux: the system puts all datagrams of a client into the queue of one of them, so that a client
   * that sends faster than it is read fills one of several. 1 unless given; fewer where there are many addresses.
   */
  readonly queues?: number;
  readonly log?: Pick<Log, "warning">;
}

export interface UdpListener {
  readonly port: number;
  /** Those of addresses that are there now. */
  readonly places: readonly UdpPlace[];
  /** From which to send to `remote`, who came by this address of the computer; another one where that is none of its own. */
  placeFor(remote: string, local: string): UdpPlace | undefined;
}

const attempts = 20;
/** Queues of all addresses, where there are several of each. */
const mostQueues = 64;
/** Places without an address are kept: Wi-Fi is back with the same one, and temporary addresses of IPv6 never are. */
const mostGone = 64;

/**
 * One socket for each address: an answer has to come from the address that was asked (RFC 8489 §6.3.1), and Node cannot choose the source of a
 * socket that is bound to all of them. On loopback see `bindDualStack`. Open to the LAN the port is free for all addresses, or it rejects as that
 * does; addresses that come and go later are followed.
 */
export async function listenUdp(options: ListenUdpOptions): Promise<UdpListener> {
  const listener = new Listener(options);
  await (options.openToLan ? listener.listenEverywhere() : listener.listenOnLoopback());
  return listener;
}

class Listener implements UdpListener {
  port = 0;
  readonly #options: ListenUdpOptions;
  readonly #places = new Map<string, OpenPlace>();
  #following: Promise<void> | undefined;
  #isStopped = false;
  /** Addresses at which another program has the port. */
  readonly #taken = new Set<string>();

  constructor(options: ListenUdpOptions) {
    this.#options = options;
  }

  get places(): readonly UdpPlace[] {
    return this.#openPlaces;
  }

  get #openPlaces(): readonly OpenPlace[] {
    return [...this.#places.values()].filter(({ isOpen }) => isOpen);
  }

  placeFor(remote: string, local: string): UdpPlace | undefined {
    const exact = this.#places.get(local);
    if (exact?.isOpen) return exact;
    const family = remote.includes(":") ? "IPv6" : "IPv4";
    const isInner = remote === "::1" || remote.startsWith("127.");
    const ofFamily = this.places.filter((place) => place.family === family);
    return ofFamily.find(({ address, isInternal }) => isInternal === isInner && !isLinkLocal(address)) ?? ofFamily[0];
  }

  async listenOnLoopback(): Promise<void> {
    const bind = async (port: number, host: string): Promise<BoundSocket> => {
      const place = new OpenPlace({ host, family: host.includes(":") ? "IPv6" : "IPv4", isInternal: true, scope: 0 }, this.#options);
      const bound = await place.open(port, this.#options.queues ?? 1, 0);
      this.#places.set(host, place);
      return { port: bound, close: () => place.close() };
    };
    this.port = await bindDualStack({ ...this.#options, transport: "udp", bind });
  }

  async listenEverywhere(): Promise<void> {
    const { port, onStop } = this.#options;
    for (let attempt = 1; ; attempt++) {
      this.port = await this.#freePort();
      try {
        const addresses = localAddresses();
        for (const address of addresses) await this.#open(address, addresses.length);
        break;
      } catch (error) {
        await this.#closeAll();
        const again = port === 0 && attempt < attempts && error instanceof ServiceError && error.code === "PORT_IN_USE";
        if (!again) throw error;
      }
    }
    const stopFollowing = followLocalAddresses((addresses) => this.#follow(addresses));
    onStop(async () => {
      this.#isStopped = true;
      stopFollowing();
      await this.#following;
      await this.#closeAll();
    });
  }

  /** It was free on all addresses just now, also on those that the system does not list. */
  async #freePort(): Promise<number> {
    const releases: (() => Promise<void>)[] = [];
    const bind = async (wanted: number, host: string): Promise<BoundSocket> => {
      const socket = await bindSocket(wanted, host);
      return { port: socket.address().port, close: () => new Promise((resolve) => socket.close(() => resolve())) };
    };
    const { port } = this.#options;
    const found = await bindDualStack({ port, openToLan: true, transport: "udp", bind, onStop: (release) => void releases.push(release) });
    for (const release of releases) await release();
    return found;
  }

  /** Rejects where the port is taken or not allowed. An address of IPv6 that is new may not be bound at once. */
  async #open(address: LocalAddress, addresses: number): Promise<void> {
    const { host, scope } = address;
    const place = this.#places.get(host) ?? new OpenPlace(address, this.#options);
    const { queues = 1 } = this.#options;
    try {
      await place.open(this.port, Math.max(1, Math.min(queues, Math.floor(mostQueues / addresses))), scope);
    } catch (error) {
      const failure = bindError(error, "udp", this.port, host);
      if (failure.code !== "ADDRESS_UNAVAILABLE") throw failure;
      return;
    }
    this.#places.set(host, place);
  }

  /** Its place is kept for when the address is back. The latest is last: those that are gone for the longest time are forgotten. */
  async #leave(place: OpenPlace): Promise<void> {
    this.#places.delete(place.address);
    this.#places.set(place.address, place);
    await place.close();
  }

  #follow(addresses: readonly LocalAddress[]): void {
    // One that takes longer than until the next look.
    this.#following ??= this.#change(addresses).finally(() => {
      this.#following = undefined;
    });
  }

  async #change(addresses: readonly LocalAddress[]): Promise<void> {
    const present = new Map(addresses.map((address) => [address.host, address]));
    for (const host of this.#taken) if (!present.has(host)) this.#taken.delete(host);
    const left = this.#openPlaces.filter(({ address, scope }) => present.get(address)?.scope !== scope);
    for (const place of left) await this.#leave(place);
    for (const address of addresses) {
      if (this.#isStopped) return;
      if (!this.#places.get(address.host)?.isOpen) await this.#openLater(address, addresses.length);
    }
    const gone = [...this.#places.values()].filter(({ isOpen }) => !isOpen);
    for (const { address } of gone.slice(0, Math.max(0, gone.length - mostGone))) this.#places.delete(address);
  }

  /** Other addresses go on where this one cannot be had; it is tried again. */
  async #openLater(address: LocalAddress, addresses: number): Promise<void> {
    const { host } = address;
    try {
      await this.#open(address, addresses);
      this.#taken.delete(host);
    } catch (error) {
      if (!(error instanceof ServiceError) || this.#taken.has(host)) return;
      this.#taken.add(host);
      this.#options.log?.warning(`${error.message} at ${host}, an address that this computer has got: nobody is answered there.`);
    }
  }

  async #closeAll(): Promise<void> {
    await Promise.all([...this.#places.values()].map((place) => place.close()));
  }
}

import { randomInt } from "node:crypto";
import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";
import { createDatagramSender, type DatagramSender, leaveToNextTurn } from "../../core/net/datagram-sender.ts";
import { type AddressFamily, withoutZone } from "../stun/transport-address.ts";

/** For whom a relay is opened. */
export interface RelayClient {
  readonly address: string;
  /** Where it arrived. */
  readonly localAddress?: string | undefined;
}

/** Of one address family. */
export interface RelayAddress {
  /** Where the relay's socket is bound: peers see this address (RFC 8656 §11.3). */
  readonly host: string;
  /** What clients are told; another one where the host is "0.0.0.0" or "::", or a NAT is before it. */
  readonly advertised: string;
}

/** For a client, or for any. Undefined where this computer has none of the family now. */
export type ChooseRelayAddress = (client?: RelayClient) => RelayAddress | undefined;

export interface RelayPortsOptions {
  readonly addresses: Partial<Readonly<Record<AddressFamily, RelayAddress | ChooseRelayAddress>>>;
  /** Inclusive. */
  readonly ports: { readonly first: number; readonly last: number };
  readonly receiveBufferBytes: number;
}

interface RelaySurroundings {
  /** The time of a turn of the event loop: hundreds of relays may have datagrams in the same one. */
  readonly isUsedUp: () => boolean;
  /** Of this computer. */
  readonly isOwnAddress: (address: string) => boolean;
  /** A client of this computer, whose socket may be closed meanwhile, has an allocation from there. */
  readonly isClientPort: (port: number) => boolean;
}

/** Who takes the datagrams of a relay. */
export type RelayReceiver = (relay: Relay, data: Buffer, address: string, port: number) => void;

export interface Relay {
  readonly family: AddressFamily;
  /** As clients are told. */
  readonly address: string;
  readonly port: number;
  readonly sender: DatagramSender;
  /** Until there is a receiver, datagrams are dropped. */
  receiver: RelayReceiver | undefined;
  /** Resolves when the port is free. */
  close(): Promise<void>;
}

/** Ports of the range that other programs hold, before it gives up. */
const mostAttempts = 50;
/** Ports that are looked at for one relay: where so many in a row are taken, hardly any is left. */
const mostLooked = 1_000;

/** The UDP ports at which peers see the clients. */
export class RelayPorts {
  readonly #options: RelayPortsOptions;
  /** With the address at which it is bound. */
  readonly #used: Readonly<Record<AddressFamily, Map<number, string>>> = { IPv4: new Map(), IPv6: new Map() };
  readonly #surroundings: RelaySurroundings;

  constructor(options: RelayPortsOptions, surroundings: RelaySurroundings) {
    this.#options = options;
    this.#surroundings = surroundings;
  }

  get open(): number {
    return this.#used.IPv4.size + this.#used.IPv6.size;
  }

  /** Relays have all ports of the range. */
  isFull(family: AddressFamily): boolean {
    const { first, last } = this.#options.ports;
    return this.#used[family].size > last - first;
  }

  supports(family: AddressFamily): boolean {
    return this.#place(family) !== undefined;
  }

  #place(family: AddressFamily, client?: RelayClient): RelayAddress | undefined {
    const place = this.#options.addresses[family];
    return typeof place === "function" ? place(client) : place;
  }

  /** What comes from there is sent by a relay. */
  isRelay(address: string, port: number): boolean {
    const host = this.#used[address.includes(":") ? "IPv6" : "IPv4"].get(port);
    if (host === undefined) return false;
    return host === "0.0.0.0" || host === "::" ? this.#surroundings.isOwnAddress(address) : address === host;
  }

  /** A relay at any free port. Undefined if there is none. */
  async bindOne(family: AddressFamily, isEven: boolean, client: RelayClient): Promise<Relay | undefined> {
    const relays = await this.#bind(family, isEven ? 2 : 1, 1, client);
    return relays?.[0];
  }

  /** A relay at an even port, and one at the next port. */
  async bindPair(family: AddressFamily, client: RelayClient): Promise<readonly [Relay, Relay] | undefined> {
    const [first, second] = (await this.#bind(family, 2, 2, client)) ?? [];
    return first && second && [first, second];
  }

  /** Tries the range from a random port on, so that ports are hard to guess (RFC 6056). */
  async #bind(family: AddressFamily, step: 1 | 2, count: 1 | 2, client: RelayClient): Promise<readonly Relay[] | undefined> {
    const { first, last } = this.#options.ports;
    const { isClientPort } = this.#surroundings;
    const from = step === 2 ? first + (first & 1) : first;
    const places = Math.floor((last - from - count + 1) / step) + 1;
    const used = this.#used[family];
    const start = places > 0 ? randomInt(places) : 0;
    for (let place = 0, attempts = 0; place < Math.min(places, mostLooked) && attempts < mostAttempts; place++) {
      const port = from + ((start + place) % places) * step;
      if (used.has(port) || (count === 2 && used.has(port + 1))) continue;
      // What is sent to that client would go to the relay, and so on from relay to relay.
      if (isClientPort(port) || (count === 2 && isClientPort(port + 1))) continue;
      attempts++;
      const relay = await this.#bindPort(family, port, client);
      if (!relay) continue;
      if (count === 1) return [relay];
      const next = await this.#bindPort(family, port + 1, client);
      if (next) return [relay, next];
      await relay.close();
    }
    return undefined;
  }

  /** Undefined where the system does not give the port. */
  async #bindPort(family: AddressFamily, port: number, client: RelayClient): Promise<Relay | undefined> {
    const place = this.#place(family, client);
    const used = this.#used[family];
    // Another allocation may have taken it meanwhile.
    if (!place || used.has(port)) return undefined;
    used.set(port, place.host);
    const isIpv6 = family === "IPv6";
    const socket = createSocket({
      type: isIpv6 ? "udp6" : "udp4",
      ipv6Only: isIpv6,
      recvBufferSize: this.#options.receiveBufferBytes,
      // Node would take another turn of the event loop to look up an address.
      lookup: (host, _options, callback) => callback(null, host, isIpv6 ? 6 : 4),
    });
    const listening = once(socket, "listening");
    socket.bind({ port, address: place.host, exclusive: true });
    try {
      await listening;
    } catch {
      used.delete(port);
      socket.close();
      return undefined;
    }
    return createRelay(socket, {
      family,
      address: place.advertised,
      port,
      isUsedUp: this.#surroundings.isUsedUp,
      onClosed: () => used.delete(port),
    });
  }
}

interface RelayOptions extends Pick<Relay, "family" | "address" | "port">, Pick<RelaySurroundings, "isUsedUp"> {
  readonly onClosed: () => void;
}

function createRelay(socket: Socket, { family, address, port, isUsedUp, onClosed }: RelayOptions): Relay {
  let closing: Promise<void> | undefined;
  const relay: Relay = {
    ...{ family, address, port, sender: createDatagramSender(socket), receiver: undefined },
    close() {
      relay.receiver = undefined;
      closing ??= new Promise<void>((resolve) => socket.close(() => resolve())).then(onClosed);
      return closing;
    },
  };
  socket.on("message", (data: Buffer, from: RemoteInfo) => {
    relay.receiver?.(relay, data, withoutZone(from.address), from.port);
    if (isUsedUp()) leaveToNextTurn(socket);
  });
  // One datagram could not be sent; the others go on.
  socket.on("error", () => {});
  return relay;
}

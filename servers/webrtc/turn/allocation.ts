import type { SharedBudget } from "../../core/limits/shared-budget.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import type { AddressFamily } from "../stun/transport-address.ts";
import { writeDataIndication, writeIcmpIndication } from "./data-indication.ts";
import { ImpairedPath, type Impairment, noImpairment } from "./impairment.ts";
import { isLoopback } from "./peer-policy.ts";
import type { Relay } from "./relay-ports.ts";
import { channelHeaderBytes } from "./stream-framing.ts";

export type ClientTransport = "udp" | "tcp" | "tls";

/** Who is at the other end of a 5-tuple (RFC 8656 §2.2). It has at most one allocation. */
export interface TurnClient {
  readonly transport: ClientTransport;
  readonly address: string;
  readonly port: number;
  /** Of this computer, where the transport tells it. */
  readonly localAddress?: string | undefined;
  allocation: Allocation | undefined;
  /** Ports are being bound for it. */
  isAllocating: boolean;
  /** Its connection was closed. */
  isGone: boolean;
  /** False where it takes too little of what is sent to it, and the message is lost. */
  send(message: Buffer): boolean;
  /** A ChannelData message (RFC 8656 §12.4). */
  sendChannelData(channel: number, data: Buffer): boolean;
}

/** A channel number bound to a peer (RFC 8656 §12). */
export interface Channel {
  readonly number: number;
  readonly address: string;
  readonly port: number;
  readonly relay: Relay;
  expiresAt: number;
}

/** A permission (RFC 8656 §9), with the channels of its address. */
interface PeerHost {
  /** 0 without. */
  permittedUntil: number;
  readonly channels: Map<number, Channel>;
}

export interface DataCount {
  datagrams: number;
  bytes: number;
}

/** Why data was not passed on. */
export interface LostData {
  /** Of a peer without a permission, or to one. */
  notPermitted: number;
  /** On a channel that is not bound, or damaged. */
  withoutChannel: number;
  /** By the impairment that was asked for. */
  impaired: number;
  /** The client takes too little. */
  clientBehind: number;
  /** The system could not send it. */
  unsendable: number;
}

export interface AllocationLimits {
  readonly permissions: number;
  readonly channels: number;
  readonly delayedBytes: number;
}

export interface AllocationOptions {
  readonly id: number;
  readonly client: TurnClient;
  readonly username: string;
  readonly user: string;
  readonly software: string | undefined;
  /** One, or one of each family. */
  readonly relays: readonly Relay[];
  readonly openedAt: number;
  readonly expiresAt: number;
  readonly limits: AllocationLimits;
  /** What waits for all clients. */
  readonly unsent: SharedBudget;
  readonly turns: WorkTurns;
  /** A fault in the work for one datagram. */
  readonly onFault: (error: unknown) => void;
}

/** Without more than this in one datagram no router has to fragment it: 1,500 bytes with the headers of IPv6 and UDP. */
const unfragmentedBytes = 1_452;

/** What one client may relay (RFC 8656 §3). Times are those of one steady clock, and end by `expire`: no datagram looks at a clock. */
export class Allocation {
  readonly id: number;
  readonly client: TurnClient;
  readonly username: string;
  readonly user: string;
  readonly software: string | undefined;
  readonly openedAt: number;
  expiresAt: number;
  /** See `AllocationHolder`. */
  wrongCredentials = 0;
  readonly toPeers: DataCount = { datagrams: 0, bytes: 0 };
  readonly fromPeers: DataCount = { datagrams: 0, bytes: 0 };
  /** Another one whenever there are other permissions or channels. */
  revision = 0;
  readonly lost: LostData = { notPermitted: 0, withoutChannel: 0, impaired: 0, clientBehind: 0, unsendable: 0 };
  readonly #relays: Relay[];
  readonly #hosts = new Map<string, PeerHost>();
  readonly #channels = new Map<number, Channel>();
  readonly #options: AllocationOptions;
  /** Also while it forwards what it has delayed. */
  #impaired: ImpairedPath | undefined;

  constructor(options: AllocationOptions) {
    this.id = options.id;
    this.client = options.client;
    this.username = options.username;
    this.user = options.user;
    this.software = options.software;
    this.openedAt = options.openedAt;
    this.expiresAt = options.expiresAt;
    this.#relays = [...options.relays];
    this.#options = options;
    for (const relay of this.#relays) relay.receiver = this.#fromPeer;
  }

  get relays(): readonly Relay[] {
    return this.#relays;
  }

  get channels(): readonly Channel[] {
    return [...this.#channels.values()];
  }

  /** The peers' addresses that have a permission, with its end. */
  get permissions(): readonly { readonly address: string; readonly expiresAt: number }[] {
    return [...this.#hosts].flatMap(([address, { permittedUntil }]) =>
      permittedUntil > 0 ? [{ address, expiresAt: permittedUntil }] : [],
    );
  }

  get impairment(): Impairment {
    return this.#impaired?.impairment ?? noImpairment;
  }

  impair(impairment: Impairment): void {
    this.#impaired ??= this.#openPath();
    this.#impaired.change(impairment);
    if (!this.#impaired.isIdle) return;
    this.#impaired.close();
    this.#impaired = undefined;
  }

  #openPath(): ImpairedPath {
    const { limits, unsent, turns, onFault } = this.#options;
    const { address } = this.client;
    return new ImpairedPath({
      ...{ mostDelayedBytes: limits.delayedBytes, unsent, address, work: turns.background(address), onFault },
      onLost: (datagrams) => {
        this.lost.impaired += datagrams;
      },
    });
  }

  /** What an impairment delays is lost. */
  loseDelayed(): void {
    this.#impaired?.lose();
  }

  relayOf(family: AddressFamily): Relay | undefined {
    return this.#relays.find((relay) => relay.family === family);
  }

  /** Closes the relay of one family; false where it was the last one, and is left to `close`. */
  closeRelay(family: AddressFamily): boolean {
    const at = this.#relays.findIndex((relay) => relay.family === family);
    if (at < 0 || this.#relays.length === 1) return false;
    this.#relays.splice(at, 1)[0]?.close();
    // What is delayed may be for that relay.
    this.loseDelayed();
    for (const channel of this.channels) if (channel.relay.family === family) this.#release(channel);
    for (const address of [...this.#hosts.keys()]) if (address.includes(":") === (family === "IPv6")) this.#hosts.delete(address);
    return true;
  }

  /** False where there are too many, and none is installed. */
  permit(addresses: readonly string[], until: number): boolean {
    const added = new Set(addresses.filter((address) => !this.#hosts.has(address)));
    if (this.#hosts.size + added.size > this.#options.limits.permissions) return false;
    for (const address of addresses) {
      const host = this.#hostOf(address);
      if (host.permittedUntil === 0) this.revision++;
      host.permittedUntil = until;
    }
    return true;
  }

  /** "conflict" where number or peer belong to another binding (RFC 8656 §12.2). */
  bind(number: number, address: string, port: number, relay: Relay, until: number, permittedUntil: number): "bound" | "conflict" | "full" {
    const known = this.#channels.get(number);
    const ofPeer = this.#hosts.get(address)?.channels.get(port);
    if (known !== ofPeer) return "conflict";
    if (!known && this.#channels.size >= this.#options.limits.channels) return "full";
    if (!this.permit([address], permittedUntil)) return "full";
    if (known) known.expiresAt = until;
    else {
      const channel: Channel = { number, address, port, relay, expiresAt: until };
      this.#channels.set(number, channel);
      this.revision++;
      this.#hostOf(address).channels.set(port, channel);
    }
    return "bound";
  }

  /** Ends permissions and channels whose time is over. */
  expire(now: number): void {
    for (const channel of this.#channels.values()) if (channel.expiresAt <= now) this.#release(channel);
    for (const [address, host] of this.#hosts) {
      if (host.permittedUntil > now) continue;
      if (host.permittedUntil > 0) this.revision++;
      host.permittedUntil = 0;
      if (host.channels.size === 0) this.#hosts.delete(address);
    }
  }

  /** Resolves when the ports are free. */
  async close(): Promise<void> {
    this.#impaired?.close();
    this.#channels.clear();
    this.#hosts.clear();
    await Promise.all(this.#relays.map((relay) => relay.close()));
  }

  /** A whole ChannelData message of the client, from `start` to `end`; padding and what follows it are ignored. */
  receiveChannelData(bytes: Buffer, start: number, end: number): void {
    const channel = this.#channels.get(((bytes[start] as number) << 8) | (bytes[start + 1] as number));
    const dataAt = start + channelHeaderBytes;
    const dataEnd = dataAt + (((bytes[start + 2] as number) << 8) | (bytes[start + 3] as number));
    if (channel === undefined || dataEnd > end) {
      this.lost.withoutChannel++;
      return;
    }
    const data = bytes.subarray(dataAt, dataEnd);
    if (this.#impaired) this.#impairedToPeer(channel.relay, data, channel.port, channel.address);
    else this.#toPeer(channel.relay, data, channel.port, channel.address);
  }

  /** The data of a Send indication (RFC 8656 §11.2). */
  receiveSend(address: string, family: AddressFamily, port: number, data: Buffer, dontFragment: boolean): void {
    const relay = this.relayOf(family);
    if (!relay || !this.#isPermitted(address)) {
      this.lost.notPermitted++;
      return;
    }
    if (dontFragment && data.length > unfragmentedBytes && !isLoopback(address)) {
      this.#unsendable(relay, "EMSGSIZE", port, address);
      return;
    }
    if (this.#impaired) this.#impairedToPeer(relay, data, port, address);
    else this.#toPeer(relay, data, port, address);
  }

  #impairedToPeer(relay: Relay, data: Buffer, port: number, address: string): void {
    this.#impaired?.pass(data.length, () => this.#toPeer(relay, data, port, address));
  }

  #toPeer(relay: Relay, data: Buffer, port: number, address: string): void {
    const error = relay.sender.send(data, port, address);
    if (error !== undefined) {
      this.#unsendable(relay, error, port, address);
      return;
    }
    this.toPeers.datagrams++;
    this.toPeers.bytes += data.length;
  }

  #unsendable(relay: Relay, error: string, port: number, address: string): void {
    this.lost.unsendable++;
    const indication = writeIcmpIndication(error, relay.family, address, port);
    if (indication) this.client.send(indication);
  }

  readonly #fromPeer = (_relay: Relay, data: Buffer, address: string, port: number): void => {
    try {
      const host = this.#hosts.get(address);
      if (host === undefined || host.permittedUntil === 0) {
        this.lost.notPermitted++;
        return;
      }
      const channel = host.channels.get(port);
      if (this.#impaired === undefined) this.#toClient(channel, data, address, port);
      else this.#impaired.pass(data.length, () => this.#toClient(channel, data, address, port));
    } catch (error) {
      this.#options.onFault(error);
    }
  };

  #toClient(channel: Channel | undefined, data: Buffer, address: string, port: number): void {
    const sent = channel ? this.client.sendChannelData(channel.number, data) : this.client.send(writeDataIndication(address, port, data));
    if (!sent) {
      this.lost.clientBehind++;
      return;
    }
    this.fromPeers.datagrams++;
    this.fromPeers.bytes += data.length;
  }

  #isPermitted(address: string): boolean {
    return (this.#hosts.get(address)?.permittedUntil ?? 0) > 0;
  }

  #hostOf(address: string): PeerHost {
    const known = this.#hosts.get(address);
    if (known) return known;
    const host: PeerHost = { permittedUntil: 0, channels: new Map() };
    this.#hosts.set(address, host);
    return host;
  }

  #release({ number, address, port }: Channel): void {
    this.#channels.delete(number);
    this.revision++;
    this.#hosts.get(address)?.channels.delete(port);
  }
}

import type { RemoteInfo } from "node:dgram";
import type { DatagramSender } from "../../core/net/datagram-sender.ts";
import type { UdpPlace } from "../../core/net/udp-place.ts";
import type { Allocation, TurnClient } from "./allocation.ts";

class UdpClient implements TurnClient {
  readonly transport = "udp";
  readonly address: string;
  readonly port: number;
  readonly localAddress: string;
  allocation: Allocation | undefined;
  isAllocating = false;
  isGone = false;
  readonly #sender: DatagramSender;

  constructor(place: UdpPlace, address: string, port: number) {
    this.#sender = place.sender;
    this.localAddress = place.address;
    this.address = address;
    this.port = port;
  }

  send(message: Buffer): boolean {
    return this.#sender.send(message, this.port, this.address) === undefined;
  }

  sendChannelData(channel: number, data: Buffer): boolean {
    return this.#sender.sendPrefixed(((channel << 16) | data.length) >>> 0, data, this.port, this.address) === undefined;
  }
}

/** The clients that come by one address of this computer. Only those with an allocation are kept. */
export class UdpClients {
  readonly #place: UdpPlace;
  readonly #byAddress = new Map<string, Map<number, UdpClient>>();
  /** Datagrams of one client often come in a row. */
  #last: UdpClient | undefined;

  constructor(place: UdpPlace) {
    this.#place = place;
  }

  /** The one of this address and port, or a new one. */
  find({ address, port }: RemoteInfo): TurnClient {
    const last = this.#last;
    if (last && last.port === port && last.address === address) return last;
    const known = this.#byAddress.get(address)?.get(port);
    if (known === undefined) return new UdpClient(this.#place, address, port);
    this.#last = known;
    return known;
  }

  /** Keeps a client that has got an allocation, or waits for one. */
  keep(client: TurnClient): void {
    if (!(client instanceof UdpClient)) return;
    const ofAddress = this.#byAddress.get(client.address) ?? new Map<number, UdpClient>();
    this.#byAddress.set(client.address, ofAddress);
    ofAddress.set(client.port, client);
  }

  /** Forgets those without an allocation; true where none is left. */
  sweep(): boolean {
    this.#last = undefined;
    for (const [address, ofAddress] of this.#byAddress) {
      for (const [port, { allocation, isAllocating }] of ofAddress) if (!allocation && !isAllocating) ofAddress.delete(port);
      if (ofAddress.size === 0) this.#byAddress.delete(address);
    }
    return this.#byAddress.size === 0;
  }
}

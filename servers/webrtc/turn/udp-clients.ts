import type { RemoteInfo, Socket } from "node:dgram";
import { createDatagramSender, type DatagramSender } from "../../core/net/datagram-sender.ts";
import type { Allocation, TurnClient } from "./allocation.ts";

class UdpClient implements TurnClient {
  readonly transport = "udp";
  readonly address: string;
  readonly port: number;
  allocation: Allocation | undefined;
  isAllocating = false;
  isGone = false;
  readonly #sender: DatagramSender;

  constructor(sender: DatagramSender, address: string, port: number) {
    this.#sender = sender;
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

/** The clients of one UDP socket. Only those with an allocation are kept. */
export class UdpClients {
  readonly #sender: DatagramSender;
  readonly #byAddress = new Map<string, Map<number, UdpClient>>();
  /** Datagrams of one client often come in a row. */
  #last: UdpClient | undefined;

  constructor(socket: Socket) {
    this.#sender = createDatagramSender(socket);
  }

  /** The one of this address and port, or a new one. */
  find({ address, port }: RemoteInfo): TurnClient {
    const last = this.#last;
    if (last && last.port === port && last.address === address) return last;
    const known = this.#byAddress.get(address)?.get(port);
    if (known === undefined) return new UdpClient(this.#sender, address, port);
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

  /** Forgets those without an allocation. */
  sweep(): void {
    this.#last = undefined;
    for (const [address, ofAddress] of this.#byAddress) {
      for (const [port, { allocation, isAllocating }] of ofAddress) if (!allocation && !isAllocating) ofAddress.delete(port);
      if (ofAddress.size === 0) this.#byAddress.delete(address);
    }
  }
}

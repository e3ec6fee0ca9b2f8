interface Client {
  readonly address: string;
  readonly port: number;
}

/** Ports from which clients of this computer have allocations. Their sockets may be closed. */
export class ClientPorts {
  readonly #isOwnAddress: (address: string) => boolean;
  /** Of each port, the numbers of the allocations: interfaces, and so what is an address of this computer, change. */
  readonly #allocations = new Map<number, Set<number>>();

  constructor(isOwnAddress: (address: string) => boolean) {
    this.#isOwnAddress = isOwnAddress;
  }

  has(port: number): boolean {
    return this.#allocations.has(port);
  }

  opened(id: number, { address, port }: Client): void {
    if (!this.#isOwnAddress(address)) return;
    const ofPort = this.#allocations.get(port) ?? new Set();
    this.#allocations.set(port, ofPort.add(id));
  }

  closed(id: number, { port }: Client): void {
    const ofPort = this.#allocations.get(port);
    ofPort?.delete(id);
    if (ofPort?.size === 0) this.#allocations.delete(port);
  }
}

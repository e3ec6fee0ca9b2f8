import { Rotation } from "../../core/turns/fair-order.ts";

interface Address {
  underWay: number;
  readonly waiting: Rotation<() => void>;
}

/** Work for the clients of one address that may be under way. The rest of it waits in order, and nobody of another address behind it. */
export class WorkPlaces {
  private readonly addresses = new Map<string, Address>();
  private readonly most: number;

  constructor(most: number) {
    this.most = most;
  }

  /** Resolves when there is a place, which `leave` gives back. */
  enter(key: string): Promise<void> {
    const address = this.addresses.get(key) ?? { underWay: 0, waiting: new Rotation() };
    this.addresses.set(key, address);
    if (address.underWay < this.most) {
      address.underWay++;
      return Promise.resolve();
    }
    return new Promise((resolve) => address.waiting.add(resolve));
  }

  leave(key: string): void {
    const address = this.addresses.get(key);
    if (!address) return;
    const next = address.waiting.take();
    if (next) next();
    else if (--address.underWay === 0) this.addresses.delete(key);
  }
}

import { LimitedPlaces } from "../limits/limited-places.ts";

/** Of the connections of a service. */
export interface ServicePlaces {
  /** Whether one more of this address would be admitted now. */
  hasPlaceFor(address: string): boolean;
}

/** A connection that has a place. */
export interface Placed {
  /** Ends it; its row says why, where it has one. */
  end(why: string): void;
}

/** Who may have a connection: of a process, or in a thread of it. */
export interface SocketPlaces {
  /** Whether there is a place, or another one would give way; `open` are the sockets of this thread. */
  admits(address: string, open: number, ofService: ServicePlaces | undefined): boolean;
  take(address: string, placed: Placed): void;
  /** Nothing happens for what has none. */
  remove(placed: Placed): void;
}

/** So many more that were told to end may be open until they are closed. */
export const mostEnding = 32;

/** The connections of a process, of all its listeners and threads. Of more, those of the address that has most are ended, else the new ones, of which `onRefused` is told. */
export class ProcessPlaces implements SocketPlaces {
  readonly most: number;
  readonly #onRefused: () => void;
  readonly #openElsewhere: () => number;
  readonly #places: LimitedPlaces<Placed>;

  /** `openElsewhere`: the sockets of other threads. */
  constructor(most: number, onRefused: () => void, openElsewhere: () => number) {
    this.most = most;
    this.#onRefused = onRefused;
    this.#openElsewhere = openElsewhere;
    this.#places = new LimitedPlaces<Placed>({ most, mostOfAddress: most }, (placed) =>
      placed.end("too many connections for this process: this address had most"),
    );
  }

  admits(address: string, open: number, ofService: ServicePlaces | undefined): boolean {
    const places = this.#places;
    const hasRoom = open + this.#openElsewhere() < this.most + mostEnding;
    const hasPlace = places.size < this.most || (places.hasPlaceFor(address) && (ofService?.hasPlaceFor(address) ?? true));
    if (hasRoom && hasPlace) return true;
    this.refuse();
    return false;
  }

  /** Another one may have to give way; that there is room was seen before. */
  take(address: string, placed: Placed): void {
    this.#places.lacksPlaceFor(address);
    this.#places.add(address, placed);
  }

  /** Of a connection of another thread, which has admitted it. */
  takeOrEnd(address: string, placed: Placed): void {
    if (this.#places.lacksPlaceFor(address) === undefined) this.#places.add(address, placed);
    else {
      this.refuse();
      placed.end("too many connections for this process");
    }
  }

  remove(placed: Placed): void {
    this.#places.remove(placed);
  }

  refuse(): void {
    this.#onRefused();
  }
}

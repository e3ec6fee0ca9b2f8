/** A thread with listeners of its own: its connections are those of the process, which has one bound for all. */
import { countOpenIn, openCount, placeOpenSockets, processPlaces, withOtherThread } from "./open-sockets.ts";
import { mostEnding, type Placed, type ServicePlaces, type SocketPlaces } from "./process-places.ts";

/** What the thread is told when it begins. */
export interface ThreadSocketsBound {
  /** Connections of the process. */
  readonly most: number;
  /** Shared: how many sockets are open in the main thread, and in this one. */
  readonly inProcess: Int32Array;
  readonly inThread: Int32Array;
}

export type FromThreadSockets =
  | { readonly type: "opened"; readonly id: number; readonly address: string }
  | { readonly type: "left"; readonly id: number }
  | { readonly type: "refused" };
/** To a connection that has no place, or gives way. */
export interface ToThreadSockets {
  readonly id: number;
  readonly why: string;
}

/** In the main thread: the connections of another one. */
export class ThreadSockets {
  readonly bound: ThreadSocketsBound;
  readonly #post: (message: ToThreadSockets) => void;
  readonly #placed = new Map<number, Placed>();
  readonly #places = processPlaces();
  readonly #release: () => void;

  constructor(post: (message: ToThreadSockets) => void) {
    this.#post = post;
    const inThread = new Int32Array(new SharedArrayBuffer(4));
    this.bound = { most: this.#places?.most ?? Number.POSITIVE_INFINITY, inProcess: openCount, inThread };
    this.#release = withOtherThread(inThread);
  }

  receive(message: FromThreadSockets): void {
    if (message.type === "refused") {
      this.#places?.refuse();
      return;
    }
    const { id } = message;
    if (message.type === "left") {
      this.#leave(id);
      return;
    }
    const placed: Placed = {
      end: (why) => {
        this.#placed.delete(id);
        this.#post({ id, why });
      },
    };
    this.#placed.set(id, placed);
    this.#places?.takeOrEnd(message.address, placed);
  }

  #leave(id: number): void {
    const placed = this.#placed.get(id);
    if (placed) this.#places?.remove(placed);
    this.#placed.delete(id);
  }

  /** The thread has ended, and its connections with it. */
  close(): void {
    for (const id of [...this.#placed.keys()]) this.#leave(id);
    this.#release();
  }
}

/** In the thread, before it listens: the result takes what the main thread says. */
export function boundThreadSockets(
  bound: ThreadSocketsBound,
  post: (message: FromThreadSockets) => void,
): (message: ToThreadSockets) => void {
  countOpenIn(bound.inThread);
  const places = new ThreadPlaces(bound, post);
  if (Number.isFinite(bound.most)) placeOpenSockets(places);
  return ({ id, why }) => places.end(id, why);
}

/** The main thread knows the places of all; so that no more are open than may be meanwhile, their number is looked at here. */
class ThreadPlaces implements SocketPlaces {
  readonly #bound: ThreadSocketsBound;
  readonly #post: (message: FromThreadSockets) => void;
  readonly #ids = new Map<Placed, number>();
  readonly #placed = new Map<number, Placed>();
  #begun = 0;

  constructor(bound: ThreadSocketsBound, post: (message: FromThreadSockets) => void) {
    this.#bound = bound;
    this.#post = post;
  }

  admits(address: string, open: number, ofService: ServicePlaces | undefined): boolean {
    const { most, inProcess } = this.#bound;
    if (open + Atomics.load(inProcess, 0) < most + mostEnding && (ofService?.hasPlaceFor(address) ?? true)) return true;
    this.#post({ type: "refused" });
    return false;
  }

  take(address: string, placed: Placed): void {
    const id = ++this.#begun;
    this.#ids.set(placed, id);
    this.#placed.set(id, placed);
    this.#post({ type: "opened", id, address });
  }

  remove(placed: Placed): void {
    const id = this.#ids.get(placed);
    if (id === undefined) return;
    this.#forget(id, placed);
    this.#post({ type: "left", id });
  }

  end(id: number, why: string): void {
    const placed = this.#placed.get(id);
    if (!placed) return;
    // Its place is another one's.
    this.#forget(id, placed);
    placed.end(why);
  }

  #forget(id: number, placed: Placed): void {
    this.#ids.delete(placed);
    this.#placed.delete(id);
  }
}

/** Of all streams to one service: what its process has not taken is in the memory of the supervisor, which passes it on. */
const mostBytes = 32 << 20;
/** A stream may have this much of it however many there are: a picture. */
const leastOfStream = 512 << 10;
/** Of an item, beside its bytes. */
const overheadBytes = 512;

/** What the streams to one service have in flight. While much is, each has the same part. */
export class StreamsInFlight {
  readonly #streams = new Set<StreamInFlight>();
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#streams.size === 0;
  }

  /** `onRoom`: there may be room again for what did not fit. */
  open(onRoom: () => void): StreamInFlight {
    const stream = new StreamInFlight(this, onRoom);
    this.#streams.add(stream);
    return stream;
  }

  close(stream: StreamInFlight): void {
    this.#streams.delete(stream);
    this.#bytes -= stream.bytes;
    this.#wake();
  }

  fits(stream: StreamInFlight, cost: number): boolean {
    if (this.#bytes + cost <= mostBytes || this.#bytes === 0) return true;
    return stream.bytes + cost <= Math.max(leastOfStream, mostBytes / this.#streams.size);
  }

  add(cost: number): void {
    this.#bytes += cost;
    if (cost < 0) this.#wake();
  }

  #wake(): void {
    for (const stream of this.#streams) stream.onRoom();
  }
}

/** One of them. */
export class StreamInFlight {
  readonly #all: StreamsInFlight;
  readonly onRoom: () => void;
  bytes = 0;

  constructor(all: StreamsInFlight, onRoom: () => void) {
    this.#all = all;
    this.onRoom = onRoom;
  }

  /** False where it has to wait: an item of this many bytes. */
  trySend(bytes: number): boolean {
    const cost = bytes + overheadBytes;
    if (!this.#all.fits(this, cost)) return false;
    this.#add(cost);
    return true;
  }

  /** The reader has taken so many items of so many bytes together. */
  taken(items: number, bytes: number): void {
    this.#add(-Math.min(this.bytes, bytes + items * overheadBytes));
  }

  #add(cost: number): void {
    this.bytes += cost;
    this.#all.add(cost);
  }

  close(): void {
    this.#all.close(this);
  }
}

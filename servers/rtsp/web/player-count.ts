import type { Stream } from "../streams/stream.ts";

/** How many players of the WebRTC service read a path together: its streams have one reader for all of them. */
export class PlayerCount {
  #players = 1;
  readonly #streams = new Set<Stream>();

  set(players: number): void {
    for (const stream of this.#streams) stream.moreReaders += players - this.#players;
    this.#players = players;
  }

  /** The stream has that reader. Returns the function to be called before it leaves. */
  of(stream: Stream): () => void {
    this.#streams.add(stream);
    stream.moreReaders += this.#players - 1;
    return () => {
      if (this.#streams.delete(stream)) stream.moreReaders -= this.#players - 1;
    };
  }
}

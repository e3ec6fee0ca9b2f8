import { createGatheredStore, type GatheredStore, type ReadableStore } from "../../../../../renderer/src/control/frame-store.ts";

export interface ChatLine {
  readonly key: number;
  readonly name: string;
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly isOwn: boolean;
  /** To whom, or from whom, of a private message. */
  readonly isPrivate: boolean;
  readonly to?: string;
}

/** So many lines that came too fast to be shown. */
export interface LeftOutLines {
  readonly key: number;
  readonly leftOut: number;
}

export type ChatEntry = ChatLine | LeftOutLines;

const mostEntries = 500;
const mostCharacters = 1 << 20;
/** Rendering more of them at once would be felt, and nobody reads as fast. */
const mostInFrame = 100;

type NewLine = Omit<ChatLine, "key"> & { /** Of the room's history. */ readonly isHistory?: boolean };

/** What is said in a room. Bounded, and shown once per frame. */
export class ChatLog {
  readonly #store: GatheredStore<readonly ChatEntry[]>;
  #entries: readonly ChatEntry[] = [];
  #arrived: ChatLine[] = [];
  #mostArrived = mostInFrame;
  #leftOut = 0;
  #nextKey = 1;

  constructor(nextFrame: (run: () => void) => void) {
    this.#store = createGatheredStore(() => this.#read(), nextFrame);
  }

  get shown(): ReadableStore<readonly ChatEntry[]> {
    return this.#store;
  }

  add({ isHistory = false, ...line }: NewLine): void {
    // It comes once, at the join, and is wanted in full.
    if (isHistory) this.#mostArrived = mostEntries;
    this.#arrived.push({ key: this.#nextKey++, ...line });
    if (this.#arrived.length >= 2 * this.#mostArrived) this.#trim();
    this.#store.changed();
  }

  clear(): void {
    this.#entries = [];
    this.#arrived = [];
    this.#leftOut = 0;
    this.#store.changed();
  }

  /** The newest stay, and the own ones. */
  #trim(): void {
    const first = this.#arrived.length - this.#mostArrived;
    const kept = this.#arrived.filter(({ isOwn }, index) => index >= first || isOwn);
    this.#leftOut += this.#arrived.length - kept.length;
    this.#arrived = kept;
  }

  #read(): readonly ChatEntry[] {
    if (this.#arrived.length === 0) return this.#entries;
    this.#trim();
    const gap = this.#leftOut > 0 ? [{ key: this.#nextKey++, leftOut: this.#leftOut }] : [];
    this.#entries = newest([...this.#entries, ...gap, ...this.#arrived]);
    this.#arrived = [];
    this.#leftOut = 0;
    this.#mostArrived = mostInFrame;
    return this.#entries;
  }
}

/** As many as there is room for; the last one in any case. */
function newest(entries: readonly ChatEntry[]): readonly ChatEntry[] {
  let first = entries.length - 1;
  let characters = lengthOf(entries[first]);
  while (first > 0 && entries.length - first < mostEntries) {
    characters += lengthOf(entries[first - 1]);
    if (characters > mostCharacters) break;
    first--;
  }
  return entries.slice(first);
}

const lengthOf = (entry: ChatEntry | undefined): number => (entry && "text" in entry ? entry.text.length : 0);

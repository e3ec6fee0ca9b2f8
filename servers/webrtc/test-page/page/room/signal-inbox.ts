import { Allowance } from "./allowance.ts";
import type { CallMessage } from "./peer-call.ts";

const mostCandidates = 100;
/** A browser's has some 150 characters. */
const longestCandidate = 2_000;
/** Each one costs the browser some milliseconds, and a call needs a few. */
const descriptionRate = { atOnce: 10, perSecond: 2 };
const candidateRate = { atOnce: mostCandidates, perSecond: 5 };

/** Text of signals that wait, of all peers together. */
export class WaitingText {
  readonly #most: number;
  #characters = 0;

  constructor(most: number) {
    this.#most = most;
  }

  hold(characters: number): boolean {
    if (this.#characters + characters > this.#most) return false;
    this.#characters += characters;
    return true;
  }

  release(characters: number): void {
    this.#characters -= characters;
  }
}

/** The signals of one peer that wait: for a free place, or because it sends them faster than this page takes them. */
export class SignalInbox {
  readonly #text: WaitingText;
  readonly #descriptions = new Allowance(descriptionRate);
  readonly #candidates = new Allowance(candidateRate);
  #waiting: CallMessage[] = [];
  #leftOut = 0;

  constructor(text: WaitingText) {
    this.#text = text;
  }

  /** How many were never handled because they came too fast. */
  get leftOut(): number {
    return this.#leftOut;
  }

  get next(): CallMessage | undefined {
    return this.#waiting[0];
  }

  /** Until the next one may be handled; 0: now. */
  get waitMs(): number {
    return this.next ? this.#allowanceOf(this.next).waitMs : 0;
  }

  /** `isHeld`: they wait for a free place, so that one that replaces another is no sign of haste. */
  add(message: CallMessage, isHeld: boolean): void {
    // What waits before a description is of no use after it.
    if (message.type !== "candidate") {
      if (!isHeld) this.#leftOut += this.#waiting.length;
      this.clear();
    }
    const characters = lengthOf(message);
    const fits = message.type !== "candidate" || (characters <= longestCandidate && this.#waiting.length <= mostCandidates);
    if (fits && this.#text.hold(characters)) this.#waiting.push(message);
    else this.#leftOut++;
  }

  /** The next one, which may be handled now. */
  take(): CallMessage | undefined {
    const message = this.next;
    if (!message || !this.#allowanceOf(message).take()) return undefined;
    this.#waiting.shift();
    this.#text.release(lengthOf(message));
    return message;
  }

  clear(): void {
    for (const message of this.#waiting) this.#text.release(lengthOf(message));
    this.#waiting = [];
  }

  #allowanceOf({ type }: CallMessage): Allowance {
    return type === "candidate" ? this.#candidates : this.#descriptions;
  }
}

const lengthOf = (message: CallMessage): number =>
  message.type === "candidate" ? (message.candidate.candidate?.length ?? 0) : message.sdp.length;

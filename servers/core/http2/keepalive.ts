import { randomBytes } from "node:crypto";
import { errorCodes, frameTypes, makeFrame } from "./frames.ts";

export interface KeepaliveTimes {
  readonly handshakeMs: number;
  readonly keepaliveMs: number;
  readonly keepaliveTimeoutMs: number;
}

export interface KeepaliveActs {
  ping(frame: Buffer): void;
  fail(code: number, why: string): void;
}

/** Ends a connection whose client does not begin, or does not answer pings. */
export class Keepalive {
  readonly #times: KeepaliveTimes;
  readonly #acts: KeepaliveActs;
  readonly #handshake: NodeJS.Timeout;
  #interval: NodeJS.Timeout | undefined;
  #answer: NodeJS.Timeout | undefined;
  #content: Buffer = Buffer.alloc(0);

  constructor(times: KeepaliveTimes, acts: KeepaliveActs) {
    this.#times = times;
    this.#acts = acts;
    this.#handshake = setTimeout(() => acts.fail(errorCodes.settingsTimeout, "it sent no SETTINGS in time"), times.handshakeMs);
    if (times.keepaliveMs > 0) this.#interval = setInterval(() => this.#ping(), times.keepaliveMs);
  }

  /** The client's SETTINGS came. */
  begin(): void {
    clearTimeout(this.#handshake);
  }

  #ping(): void {
    if (this.#answer) return;
    // Nobody can answer it who has not read it.
    this.#content = randomBytes(8);
    this.#acts.ping(makeFrame(frameTypes.ping, 0, 0, this.#content));
    const late = () => this.#acts.fail(errorCodes.none, "it did not answer a ping in time");
    this.#answer = setTimeout(late, this.#times.keepaliveTimeoutMs);
  }

  /** False for an answer to no ping. */
  answered(content: Buffer): boolean {
    if (!this.#answer || !content.equals(this.#content)) return false;
    clearTimeout(this.#answer);
    this.#answer = undefined;
    return true;
  }

  end(): void {
    clearTimeout(this.#handshake);
    clearInterval(this.#interval);
    clearTimeout(this.#answer);
  }
}

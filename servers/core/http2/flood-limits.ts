import { errorCodes, Http2Error } from "./frames.ts";

/** So many at once, and so many a second after that. */
class FrameBudget {
  readonly #burst: number;
  readonly #perSecond: number;
  readonly #now: () => number;
  #left: number;
  #countedAt: number | undefined;

  /** `now` is in milliseconds. */
  constructor(burst: number, perSecond: number, now: () => number = () => performance.now()) {
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#now = now;
    this.#left = burst;
  }

  /** False for one that is too many. */
  take(): boolean {
    if (this.#left === 0) this.#refill();
    else this.#countedAt ??= this.#now();
    if (this.#left === 0) return false;
    this.#left--;
    return true;
  }

  /** So many more are allowed, up to as many as at once. */
  give(more: number): void {
    this.#left = Math.min(this.#burst, this.#left + more);
  }

  #refill(): void {
    const now = this.#now();
    const passed = Math.floor(((now - (this.#countedAt ?? now)) / 1_000) * this.#perSecond);
    if (passed <= 0) return;
    this.#left = Math.min(this.#burst, passed);
    this.#countedAt = now;
  }
}

/** Ends a connection whose client sends too many frames of a kind: each method throws an `Http2Error` then. */
export class FloodLimits {
  readonly #control: FrameBudget;
  readonly #resets: FrameBudget;
  readonly #withoutEffect: FrameBudget;

  /** `now` is in milliseconds. */
  constructor(now?: () => number) {
    this.#control = new FrameBudget(1_000, 50, now);
    this.#resets = new FrameBudget(1_000, 100, now);
    this.#withoutEffect = new FrameBudget(10_000, 1_000, now);
  }

  /** PING, SETTINGS, GOAWAY: they have to be answered, or have no meaning twice. Those that `answered` allows are free. */
  control(): void {
    count(this.#control, "too many PING, SETTINGS or GOAWAY frames");
  }

  /**
   * So many frames of answers were sent. Clients of gRPC measure the path by a PING or two for each frame that they get: grpc-go by default, and
   * grpc-java. The peers that they were made for count none of these either.
   */
  answered(frames: number): void {
    this.#control.give(2 * frames);
  }

  /** A stream ends by a reset, of the client's (CVE-2023-44487) or one of ours that it causes (CVE-2025-8671). */
  reset(): void {
    count(this.#resets, "too many streams are reset");
  }

  /** Such as frames of unknown types, priorities, and empty DATA (CVE-2019-9518). */
  withoutEffect(): void {
    count(this.#withoutEffect, "too many frames have no effect");
  }
}

function count(budget: FrameBudget, why: string): void {
  if (!budget.take()) throw new Http2Error(errorCodes.enhanceYourCalm, why);
}

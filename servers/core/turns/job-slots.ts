/** libuv has four threads, which files and names need too. */
const jobsAtOnce = 2;

/** Jobs of libuv's threads that are done at once: a few. Who waits, and in which order, is another's business. */
export class JobSlots {
  readonly #onFree: () => void;
  #running = 0;

  /** `onFree` is called when a job is over: another one may begin. */
  constructor(onFree: () => void) {
    this.#onFree = onFree;
  }

  get isFull(): boolean {
    return this.#running >= jobsAtOnce;
  }

  /** Begins at once. Settles as the job does. */
  async run<Result>(job: () => Promise<Result>): Promise<Result> {
    this.#running++;
    try {
      return await job();
    } finally {
      this.#running--;
      this.#onFree();
    }
  }
}

import { ServiceError } from "../service/service-error.ts";

export interface UploadsOptions<Upload> {
  /** In progress at the same time. */
  readonly most: number;
  /** Removes what an upload that will not be completed has left. Never throws. */
  readonly discard: (upload: Upload) => Promise<void>;
}

/** After this time without data, an upload is discarded: the page that sent it was closed. */
const idleMs = 60_000;

/** Files on their way from a page to a service, in pieces: each upload has a number. */
export class Uploads<Upload> {
  readonly #options: UploadsOptions<Upload>;
  readonly #open = new Map<number, { readonly upload: Upload; timer: NodeJS.Timeout }>();
  #begun = 0;

  constructor(options: UploadsOptions<Upload>) {
    this.#options = options;
  }

  /** To be called before an upload is prepared. Throws CALL_INVALID if too many are in progress. */
  checkRoom(): void {
    if (this.#open.size < this.#options.most) return;
    throw new ServiceError("CALL_INVALID", "Too many uploads are in progress", "Wait until the others are done.");
  }

  begin(upload: Upload): number {
    const number = ++this.#begun;
    this.#open.set(number, { upload, timer: this.#discardLater(number) });
    return number;
  }

  /** To be called for each piece. Throws JOB_UNKNOWN for an upload that has ended. */
  get(number: number): Upload {
    const open = this.#open.get(number);
    if (!open) throw new ServiceError("JOB_UNKNOWN", "This upload was cancelled", "Drop the file again.");
    clearTimeout(open.timer);
    open.timer = this.#discardLater(number);
    return open.upload;
  }

  /** Ends an upload that is complete: what it has left belongs to the caller. */
  take(number: number): Upload {
    const upload = this.get(number);
    clearTimeout(this.#open.get(number)?.timer);
    this.#open.delete(number);
    return upload;
  }

  /** Does nothing if it has ended. */
  async discard(number: number): Promise<void> {
    if (this.#open.has(number)) await this.#options.discard(this.take(number));
  }

  uploads(): Upload[] {
    return [...this.#open.values()].map(({ upload }) => upload);
  }

  /** Discards all. */
  async close(): Promise<void> {
    for (const number of [...this.#open.keys()]) await this.discard(number);
  }

  #discardLater(number: number): NodeJS.Timeout {
    return setTimeout(() => void this.discard(number), idleMs);
  }
}

export const retryAfter = { "Retry-After": "5" };

/** Why a request of WHEP or WHIP is refused: an answer of `application/problem+json` (RFC 9457). */
export class MediaProblem extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;

  /** Whole sentences: what is wrong, and what to do. */
  constructor(status: number, detail: string, headers: Readonly<Record<string, string | readonly string[]>> = {}) {
    super(detail);
    this.status = status;
    this.headers = headers;
  }
}

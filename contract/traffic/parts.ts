/** Parts of a long exchange, such as the events of a stream. */

/** Fields of every part. Parts never change: new ones are appended. */
export interface PartHead {
  /** Counts from 0 within its row; a missing number is a part that was dropped. */
  readonly index: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Counts of a row's parts. The newest are kept: the oldest are evicted, and those that came too fast are dropped. */
export interface PartsSummary {
  /** All parts, kept or not. */
  readonly total: number;
  /** Bytes of content of all parts. */
  readonly bytes: number;
  /** How many of `total` are not kept. */
  readonly leftOut: number;
  /** How many of `bytes` are not kept. */
  readonly leftOutBytes: number;
}

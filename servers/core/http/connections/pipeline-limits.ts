/** The memory of all connections, as one of them sees it. */
export interface PipelineMemory {
  /** A connection that has unanswered requests begins no more. */
  readonly isScarce: boolean;
  /** So many more bytes, or less, were read and not parsed. */
  unparsed(bytes: number): void;
}

export interface PipelineLimits {
  /** Requests that were read and not answered. */
  readonly unanswered: number;
  /** Names and values of a head, which Node's parser counts. */
  readonly headerBytes: number;
}

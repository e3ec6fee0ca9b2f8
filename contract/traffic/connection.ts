/** The connection of a client, in details of every kind that have one. */
export interface ConnectionHead {
  /** Counts from 1 within a listener. */
  readonly id: number;
  /** "127.0.0.1:53110"; empty if the client had already disconnected. */
  readonly remote: string;
  readonly local: string;
  /** Milliseconds since the epoch. */
  readonly openedAt: number;
  /** "TLSv1.3"; absent on a connection without TLS. */
  readonly tls?: string | undefined;
}

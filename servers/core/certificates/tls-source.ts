import type { TlsOptions } from "node:tls";

/** PEM texts. */
export interface TlsMaterial {
  readonly cert: string;
  readonly key: string;
}

/** What a TLS listener shows its clients; it may change while the listener serves. */
export interface TlsSource {
  readonly options: TlsOptions;
  /** Returns what ends the listening. */
  onChange(listener: () => void): () => void;
}

import type { Server, TlsOptions } from "node:tls";
import { type ListenOptions, listenTcp } from "./tcp-listener.ts";

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

export interface ListenTlsOptions extends Omit<ListenOptions, "createServer"> {
  /** `await context.certificates()`, or certificates of the user's own. */
  readonly certificates: TlsSource;
  /** Makes one server of `node:tls` or `node:https` with the options given; called once an address. */
  readonly createServer: (tls: TlsOptions) => Server;
}

/** As `listenTcp`; connections that come after a change of the certificate are shown the new one. */
export function listenTls({ certificates, createServer, ...options }: ListenTlsOptions): Promise<number> {
  return listenTcp({
    ...options,
    createServer() {
      const server = createServer(certificates.options);
      const release = certificates.onChange(() => server.setSecureContext(certificates.options));
      server.once("close", release);
      return server;
    },
  });
}

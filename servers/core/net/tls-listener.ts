import type { Server, TlsOptions } from "node:tls";
import { type ListenOptions, listenTcp } from "./tcp-listener.ts";

/** PEM texts. */
export interface TlsMaterial {
  readonly cert: string;
  readonly key: string;
}

/** The certificate of a TLS listener; it may change while the listener serves. */
export interface TlsSource {
  readonly options: TlsOptions;
  /** Returns the function that removes the listener. */
  onChange(listener: () => void): () => void;
}

export interface ListenTlsOptions extends Omit<ListenOptions, "createServer"> {
  /** `await context.certificates()`, or certificates of the user's own. */
  readonly certificates: TlsSource;
  /** Makes one server of `node:tls` or `node:https` with the options given; called once per address. */
  readonly createServer: (tls: TlsOptions) => Server;
}

/** As `listenTcp`; connections after a change of the certificate get the new one. */
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

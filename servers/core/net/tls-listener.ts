import type { Server, TlsOptions } from "node:tls";
import type { FaultLog } from "./fault-log.ts";
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
  /** Gets the handshakes that fail. */
  readonly faults: Pick<FaultLog, "handshakeFailed">;
  /** Makes one server of `node:tls` or `node:https` with the options given; called once per address. */
  readonly createServer: (tls: TlsOptions) => Server;
}

/** Passes on the handshakes that fail, and closes their sockets: Node does after an error, but not after the handshake's timeout. */
export function watchHandshakes(server: Server, faults: ListenTlsOptions["faults"]): void {
  // Node keeps an address that was read once; a client that refuses the certificate is gone before its error comes.
  server.prependListener("connection", (socket) => void socket.remoteAddress);
  // node:https would treat it as a malformed request.
  server.removeAllListeners("tlsClientError");
  server.on("tlsClientError", (error, socket) => {
    faults.handshakeFailed(error, socket);
    socket.destroy();
  });
}

/** As `listenTcp`; connections after a change of the certificate get the new one. */
export function listenTls({ certificates, faults, createServer, ...options }: ListenTlsOptions): Promise<number> {
  return listenTcp({
    ...options,
    createServer() {
      const server = createServer(certificates.options);
      watchHandshakes(server, faults);
      const release = certificates.onChange(() => server.setSecureContext(certificates.options));
      server.once("close", release);
      return server;
    },
  });
}

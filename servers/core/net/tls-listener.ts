import { createSecureContext, type Server, type TlsOptions } from "node:tls";
import { type ListenOptions, listenTcp } from "./tcp-listener.ts";
import { type HandshakeFaults, type HandshakeLimits, TlsAdmission } from "./tls-admission.ts";

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

export interface TlsServerOptions {
  /** `await context.certificates()`, or certificates of the user's own. */
  readonly certificates: TlsSource;
  /** For each of the first message and the rest of a handshake. */
  readonly handshakeMs: number;
  /** Gets the handshakes that fail. */
  readonly faults: HandshakeFaults;
  /** Makes one server of `node:tls` or `node:https` with the options given; called once per address. */
  readonly createServer: (tls: TlsOptions) => Server;
}

export interface ListenTlsOptions extends Omit<ListenOptions, "createServer">, TlsServerOptions, HandshakeLimits {}

/**
 * Without a list, OpenSSL serves P-384, P-521 and finite fields too, which take 15 to 40 times as long: work for which a client needs to send only
 * 200 bytes. Every client has P-256 (RFC 8446 §9.1).
 */
const groups = "X25519:P-256";
const groupsWithHybrid = `X25519MLKEM768:${groups}`;

/** Older versions of OpenSSL than 3.5 have no ML-KEM, and refuse a list with a name that they do not know. */
function servedGroups(): string {
  try {
    createSecureContext({ ecdhCurve: groupsWithHybrid });
    return groupsWithHybrid;
  } catch {
    return groups;
  }
}

const ecdhCurve = servedGroups();

/** Makes the server, keeps its certificate up to date, lets its handshakes take turns, and reports and closes those that fail. */
export function createTlsServer(options: TlsServerOptions, admission: TlsAdmission): Server {
  const { certificates, handshakeMs, faults } = options;
  const server = options.createServer({ ...certificates.options, ecdhCurve, handshakeTimeout: handshakeMs });
  admission.admit(server, handshakeMs, faults);
  // Node keeps an address that was read once; a client that refuses the certificate is gone before its error comes.
  server.prependListener("connection", (socket) => void socket.remoteAddress);
  // node:https would treat it as a malformed request.
  server.removeAllListeners("tlsClientError");
  server.on("tlsClientError", (error, socket) => {
    faults.handshakeFailed(error, socket);
    // Node does after an error, but not after the handshake's timeout.
    socket.destroy();
  });
  const release = certificates.onChange(() => server.setSecureContext({ ...certificates.options, ecdhCurve }));
  server.once("close", release);
  return server;
}

/** As `listenTcp`; connections after a change of the certificate get the new one. */
export async function listenTls(options: ListenTlsOptions): Promise<number> {
  const admission = new TlsAdmission(options);
  const port = await listenTcp({ ...options, createServer: () => createTlsServer(options, admission) });
  options.onStop(async () => admission.close());
  return port;
}

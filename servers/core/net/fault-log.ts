import type { Socket } from "node:net";
import type { ConnectionHead } from "../../../contract/traffic/connection.ts";
import type { Log } from "../service/log.ts";
import { countText } from "../service/quantity.ts";
import { errorText } from "../service/service-error.ts";
import { tlsTransportOf } from "./tls-transport.ts";

/** `authorizationError` says why the client's certificate was refused. */
type HandshakeSocket = Socket & { readonly authorizationError?: unknown };

export interface HandshakeFailure {
  readonly socket: Socket;
  /** Address and port; empty if they are not known. */
  readonly peer: string;
  readonly why: string;
  /** The client ended it when it had seen the service's certificate. */
  readonly isDistrust: boolean;
  /** It is worth a row: it has a log line, as of many at once only some have, and the client has sent something. Who sends nothing only looks whether the port is open. */
  readonly isShown: boolean;
}

const linesAtOnce = 20;
const periodMs = 10_000;

/** Log lines about faulty connections. If there are many at once, some are written and the others are counted. */
export class FaultLog {
  readonly #log: Pick<Log, "warning" | "error">;
  readonly #onHandshakeFailed: (failure: HandshakeFailure) => void;
  readonly #closed = new WeakSet<ConnectionHead>();
  #written = 0;
  #leftOut = 0;
  #period: NodeJS.Timeout | undefined;

  constructor(log: Pick<Log, "warning" | "error">, onHandshakeFailed: (failure: HandshakeFailure) => void = () => {}) {
    this.#log = log;
    this.#onHandshakeFailed = onHandshakeFailed;
  }

  /** Of what is no more than what clients do wrong every day: its lines are informations. */
  static ofInformation(log: Pick<Log, "info" | "error">): FaultLog {
    return new FaultLog({ warning: (text) => log.info(text), error: (text) => log.error(text) });
  }

  /** False if the line was left out. */
  write(text: string): boolean {
    this.#period ??= setTimeout(() => this.flush(), periodMs);
    if (this.#written >= linesAtOnce) {
      this.#leftOut++;
      return false;
    }
    this.#written++;
    this.#log.warning(text);
    return true;
  }

  handshakeFailed(error: Error, socket: HandshakeSocket): void {
    socket.on("error", () => {});
    const { remoteAddress, remotePort } = socket;
    const peer = remoteAddress === undefined ? "" : `${remoteAddress}:${remotePort}`;
    const why = whyHandshakeFailed(error, socket);
    const isDistrust = why === distrusted || why === perhapsDistrusted;
    const isLogged = this.write(`A TLS handshake${peer && ` from ${peer}`} failed: ${why}.`);
    const { bytesRead } = tlsTransportOf(socket)?.socket ?? socket;
    const hasSent = bytesRead > 0;
    this.#onHandshakeFailed({ socket, peer, why, isDistrust: isDistrust && hasSent, isShown: isLogged && hasSent });
  }

  /** One line for a connection, whatever else goes wrong with it. False if the line was left out. */
  closed(connection: ConnectionHead, why: string): boolean {
    if (this.#closed.has(connection)) return false;
    this.#closed.add(connection);
    return this.write(`The connection from ${connection.remote} was closed: ${why}.`);
  }

  /** An error of ours, in the work for one connection. */
  failed({ remote }: ConnectionHead, error: unknown): void {
    this.#log.error(`A message from ${remote} could not be carried out: ${errorText(error)}`);
  }

  /** Ends the period: says how many lines were left out. */
  flush(): void {
    clearTimeout(this.#period);
    this.#period = undefined;
    if (this.#leftOut > 0) this.#log.warning(`${countText(this.#leftOut)} more lines about faulty connections were left out.`);
    this.#written = 0;
    this.#leftOut = 0;
  }
}

const distrusted = "the client does not trust the service's certificate";
/** Node's clients, for example, send no alert. */
const perhapsDistrusted = "the client closed the connection, as some do that do not trust the service's certificate";
const handshakeFailures: Readonly<Record<string, string>> = {
  ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE: "the client sent no certificate, which is required",
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: distrusted,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN: distrusted,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: distrusted,
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: distrusted,
  ERR_SSL_HTTP_REQUEST: "the client sent HTTP without TLS",
  ERR_SSL_WRONG_VERSION_NUMBER: "the client sent bytes that are not TLS",
  ERR_SSL_PACKET_LENGTH_TOO_LONG: "the client sent bytes that are not TLS",
  ERR_SSL_UNSUPPORTED_PROTOCOL: "the client has no TLS version that is served",
  ERR_SSL_NO_SHARED_CIPHER: "the client has no cipher that is served",
  ERR_SSL_NO_APPLICATION_PROTOCOL: "the client speaks none of the protocols that are served here",
  ERR_TLS_HANDSHAKE_TIMEOUT: "the client did not finish it in time",
  ECONNRESET: perhapsDistrusted,
};

/** The messages of OpenSSL name addresses and files of its source; its reasons do not. */
function whyHandshakeFailed(error: Error, { authorizationError }: HandshakeSocket): string {
  if (authorizationError) return "the client's certificate is not trusted";
  const { message, code = "", reason } = error as NodeJS.ErrnoException & { readonly reason?: string };
  // Of OpenSSL 3.5.
  const known = code.replace("_SSL/TLS_ALERT_", "_SSLV3_ALERT_");
  return handshakeFailures[known] ?? reason ?? message;
}

import { constants, type Http2Session, type Http2Stream, type ServerOptions } from "node:http2";
import type { Socket } from "node:net";
import type { FaultLog } from "../../core/net/fault-log.ts";
import { headerListBytes, overheadOfField } from "./call-metadata.ts";
import type { GrpcConnection } from "./connections.ts";
import type { SessionReading } from "./session-reading.ts";

export interface Http2Limits {
  /** Open calls on a connection. */
  readonly concurrentStreams: number;
  /** Of the header fields of a call. */
  readonly metadataBytes: number;
}

/**
 * Node itself resets streams with more header fields than this, so that nobody learns which call it was. What is above the limit, and not
 * above this one, becomes a call that ends with a status.
 */
const mostHeaderBytes = ({ metadataBytes }: Http2Limits): number => 2 * metadataBytes;

/**
 * What Node allows a client of HTTP/2. Beyond it a stream is reset or the connection ends with GOAWAY. Node itself bounds CONTINUATION
 * frames of one header block, and answers to pings that are not read.
 */
export const http2Options = (limits: Http2Limits): ServerOptions => ({
  settings: { maxConcurrentStreams: limits.concurrentStreams, maxHeaderListSize: mostHeaderBytes(limits) },
  // Their bytes are limited, not their number.
  maxHeaderListPairs: Math.ceil(mostHeaderBytes(limits) / overheadOfField),
  maxSettings: 32,
  maxOutstandingPings: 10,
  maxSessionInvalidFrames: 100,
  maxSessionRejectedStreams: 1_000,
  // CVE-2023-44487: a client opens streams and resets them at once. After a burst it may reset this many a second.
  streamResetBurst: 1_000,
  streamResetRate: 100,
  // MB. Limits of messages are lower; grpc-js would allow any amount.
  maxSessionMemory: 256,
});

const looksEveryMs = 1_000;

/** Writes log lines about streams that are reset because of their header fields, by Node or here. */
export class RefusedStreams {
  readonly #faults: Pick<FaultLog, "write">;
  readonly #headerBytes: number;
  readonly #sessions = new Map<Http2Session, GrpcConnection>();
  #timer: NodeJS.Timeout | undefined;

  constructor(faults: Pick<FaultLog, "write">, limits: Http2Limits) {
    this.#faults = faults;
    this.#headerBytes = mostHeaderBytes(limits);
  }

  watch(session: Http2Session, socket: Socket, connection: GrpcConnection): void {
    this.#sessions.set(session, connection);
    this.#timer ??= setInterval(() => {
      for (const [one, of] of this.#sessions) this.#look(one, of);
    }, looksEveryMs).unref();
    // Before Node's own listener, which ends the session.
    socket.prependOnceListener("close", () => this.#look(session, connection));
    session.once("close", () => {
      this.#sessions.delete(session);
      if (this.#sessions.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    });
  }

  /** To be asked about each stream. Node's limit applies only once the client has acknowledged it. */
  refuse(stream: Http2Stream, rawHeaders: readonly string[], connection: GrpcConnection): boolean {
    connection.lastStream = stream.id ?? 0;
    if (headerListBytes(rawHeaders) <= this.#headerBytes) return false;
    stream.on("error", () => {});
    stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    this.#write(1, connection);
    return true;
  }

  #look(session: Http2Session, connection: GrpcConnection): void {
    // Node has no event for them, but nghttp2 counts them.
    const { lastProcStreamID: newest = 0 } = session.state;
    const count = (newest - connection.lastStream) >> 1;
    if (count <= 0) return;
    connection.lastStream = newest;
    this.#write(count, connection);
  }

  #write(count: number, { remote }: GrpcConnection): void {
    const what = count === 1 ? "A call" : `${count} calls`;
    const why = `the header fields are not valid, or longer than ${this.#headerBytes} bytes`;
    this.#faults.write(`${what} from ${remote} ended before a row began: ${why}.`);
  }
}

/** PING and SETTINGS frames have to be answered, and one GOAWAY is enough: a client may send this many at once, and this many a second. */
const controlBurst = 1_000;
const controlPerSecond = 50;

/** NGHTTP2_ERR_BAD_CLIENT_MAGIC */
const badPreface = -903;
export const notHttp2 = "its first bytes are not those of HTTP/2";

export interface GuardOptions {
  /** Time for the client's first SETTINGS. */
  readonly handshakeMs: number;
  /** A connection is pinged so often; 0 never. */
  readonly keepaliveMs: number;
  /** For the answer; then the connection is closed. */
  readonly keepaliveTimeoutMs: number;
}

/** Ends a session whose client does not speak HTTP/2, does not answer, or sends too many frames that have to be answered. */
export function guardSession(
  session: Http2Session,
  reading: Pick<SessionReading, "tookStep">,
  options: GuardOptions,
  onFault: (why: string) => void,
): void {
  const { handshakeMs, keepaliveMs, keepaliveTimeoutMs } = options;
  const handshake = setTimeout(() => end("it sent no SETTINGS in time", constants.NGHTTP2_SETTINGS_TIMEOUT), handshakeMs);
  let answer: NodeJS.Timeout | undefined;
  const keepalive = keepaliveMs === 0 ? undefined : setInterval(ping, keepaliveMs);
  let left = controlBurst;
  let countedAt = performance.now();

  function ping(): void {
    if (answer !== undefined || session.destroyed) return;
    const wasSent = session.ping(() => {
      clearTimeout(answer);
      answer = undefined;
    });
    if (wasSent) answer = setTimeout(() => end("it did not answer a ping in time", constants.NGHTTP2_NO_ERROR), keepaliveTimeoutMs);
  }

  function count(): void {
    reading.tookStep();
    left--;
    if (left >= 0) return;
    const now = performance.now();
    left = Math.min(controlBurst, Math.floor(((now - countedAt) / 1_000) * controlPerSecond));
    countedAt = now;
    if (left <= 0) end("too many PING, SETTINGS or GOAWAY frames", constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  function end(why: string, code: number): void {
    if (session.destroyed) return;
    onFault(why);
    session.destroy(undefined, code);
  }

  session.once("remoteSettings", () => clearTimeout(handshake));
  session.on("remoteSettings", count);
  session.on("ping", count);
  session.on("goaway", count);
  session.on("error", ({ errno, code, message }: NodeJS.ErrnoException) => {
    // The client has closed the connection, and something was left to be written, such as TLS's own farewell: that is no fault.
    if (code !== "EPIPE") onFault(errno === badPreface ? notHttp2 : message);
  });
  session.once("close", () => {
    clearTimeout(handshake);
    clearInterval(keepalive);
    clearTimeout(answer);
  });
}

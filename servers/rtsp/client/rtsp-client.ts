import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, isIP, type Socket } from "node:net";
import { type ConnectionOptions, connect as connectTls } from "node:tls";
import { digestParameters, digestResponse, digestSecret, parseDigestCredentials } from "../../core/credentials/digest.ts";
import type { WorkShare } from "../../core/turns/work-connection.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import { type HeaderFields, headerOf, headersOf, type RtspResponse, reasons, writeRequest } from "../protocol/message.ts";
import { RtspParser } from "../protocol/rtsp-parser.ts";
import { tunnelType } from "../sessions/http-tunnel.ts";

export interface RtspClientOptions {
  readonly host: string;
  readonly port: number;
  /** Over TLS, with these options. */
  readonly tls?: ConnectionOptions;
  readonly credentials?: { readonly username: string; readonly password: string };
  readonly userAgent: string;
  /** Of all connections of the service. */
  readonly turns: WorkTurns;
  /** For the connection and for each answer. */
  readonly timeoutMs: number;
  /** In a tunnel over HTTP: a GET brings what the server sends, a POST takes the rest. */
  readonly isTunnel?: boolean;
  /** The path of the tunnel's requests; "/" where it is left out. */
  readonly uri?: string;
  /** Each request, and each answer, as it crosses the wire. */
  readonly onMessage?: (direction: "sent" | "received", message: Buffer) => void;
  readonly onPacket: (channel: number, payload: Buffer) => void;
  readonly onClosed: (reason: string) => void;
}

interface Waiting {
  readonly resolve: (response: RtspResponse) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

const mostUnsentBytes = 1 << 20;
const limits = { headBytes: 64 << 10, headerFields: 500, bodyBytes: 1 << 20, uriBytes: 8 << 10 };

const wordsOf: ReadonlyMap<number, string> = new Map(Object.entries(reasons).map(([status, words]) => [Number(status), words]));

/** An answer other than 2xx, in our words: a server may repeat the credentials of the request in its own, and they may be long. */
export class RtspFailure extends Error {
  readonly status: number;
  constructor(method: string, { status }: RtspResponse) {
    super([method, "was answered", status, wordsOf.get(status)].filter((word) => word !== undefined).join(" "));
    this.status = status;
  }
}

/** A client of another server, or of our own. Requests and packets share one connection. */
export class RtspClient {
  readonly #options: RtspClientOptions;
  readonly #socket: Socket;
  /** Of a tunnel: takes base64. */
  readonly #post: Socket | undefined;
  readonly #parser = new RtspParser(limits);
  readonly #share: WorkShare;
  readonly #waiting = new Map<string, Waiting>();
  #cseq = 0;
  #challenges: readonly string[] = [];
  #reason = "the server has closed the connection";

  private constructor(socket: Socket, post: Socket | undefined, options: RtspClientOptions) {
    this.#socket = socket;
    this.#post = post;
    this.#options = options;
    this.#share = options.turns.join(options.host, this.#goOn);
    socket.setNoDelay(true);
    post?.setNoDelay(true);
    post?.on("error", (error) => socket.destroy(error));
    post?.once("close", () => socket.destroy());
    socket.on("data", (chunk) => this.#receive(chunk));
    socket.on("error", (error) => {
      this.#reason = error.message;
    });
    socket.once("close", () => this.#closed());
    socket.resume();
  }

  /** Rejects where there is no connection in time. */
  static async connect(options: RtspClientOptions): Promise<RtspClient> {
    const socket = await openSocket(options);
    if (!options.isTunnel) return new RtspClient(socket, undefined, options);
    try {
      return await RtspClient.#openTunnel(socket, options);
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }

  static async #openTunnel(socket: Socket, options: RtspClientOptions): Promise<RtspClient> {
    const cookie = `x-sessioncookie: ${randomBytes(11).toString("hex")}`;
    const path = URL.parse(options.uri ?? "")?.pathname ?? "/";
    const head = (method: string, ...fields: readonly string[]) =>
      `${[`${method} ${path} HTTP/1.0`, `User-Agent: ${options.userAgent}`, cookie, ...fields].join("\r\n")}\r\n\r\n`;
    socket.write(head("GET", `Accept: ${tunnelType}`));
    const rest = await readTunnelAnswer(socket, options.timeoutMs);
    const post = await openSocket(options);
    // The length is not known: QuickTime says this.
    post.write(head("POST", `Content-Type: ${tunnelType}`, "Content-Length: 32767"));
    const client = new RtspClient(socket, post, options);
    if (rest.length > 0) client.#receive(rest);
    return client;
  }

  get localAddress(): string {
    return this.#socket.localAddress ?? "";
  }

  get remoteAddress(): string {
    return this.#socket.remoteAddress ?? "";
  }

  /** Resolves with an answer of 2xx. Rejects with an RtspFailure, or where the connection ends. Sends credentials when they are asked for. */
  async request(method: string, uri: string, headers: HeaderFields = [], body?: Buffer): Promise<RtspResponse> {
    let response = await this.#send(method, uri, headers, body);
    if (response.status === 401 && this.#options.credentials) {
      this.#challenges = headersOf(response.headers, "WWW-Authenticate");
      response = await this.#send(method, uri, headers, body);
    }
    if (response.status < 200 || response.status > 299) throw new RtspFailure(method, response);
    return response;
  }

  #send(method: string, uri: string, headers: HeaderFields, body: Buffer | undefined): Promise<RtspResponse> {
    if (this.#socket.destroyed) return Promise.reject(new Error(this.#reason));
    const cseq = String(++this.#cseq);
    const authorization = this.#authorization(method, uri);
    const fields: HeaderFields = [
      ["CSeq", cseq],
      ["User-Agent", this.#options.userAgent],
      ...(authorization === undefined ? [] : [["Authorization", authorization] as const]),
      ...headers,
    ];
    const request = writeRequest(method, uri, fields, body);
    this.#options.onMessage?.("sent", request);
    this.#write(request);
    return new Promise((resolve, reject) => {
      const { timeoutMs } = this.#options;
      const timer = setTimeout(() => {
        this.#waiting.delete(cseq);
        reject(new Error(`no answer to ${method} within ${timeoutMs / 1_000} s`));
      }, timeoutMs);
      this.#waiting.set(cseq, { resolve, reject, timer });
    });
  }

  #authorization(method: string, uri: string): string | undefined {
    const { credentials } = this.#options;
    if (!credentials || this.#challenges.length === 0) return undefined;
    const { username, password } = credentials;
    const digests = this.#challenges.map(digestParameters).filter((challenge) => challenge !== undefined);
    const known = digests.filter((challenge) => /^(?:MD5|SHA-256)$/i.test(challenge.get("algorithm") ?? "MD5"));
    const digest = known.find((challenge) => /^SHA-256$/i.test(challenge.get("algorithm") ?? "")) ?? known[0];
    if (!digest) {
      const isBasic = this.#challenges.some((challenge) => /^basic\b/i.test(challenge));
      return isBasic ? `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` : undefined;
    }
    const [realm, nonce, opaque] = [digest.get("realm") ?? "", digest.get("nonce") ?? "", digest.get("opaque")];
    const named = digest.get("algorithm");
    const algorithm = /^SHA-256$/i.test(named ?? "") ? "SHA-256" : "MD5";
    const hasQop = (digest.get("qop") ?? "").split(",").some((qop) => qop.trim().toLowerCase() === "auth");
    const fields = [
      `username=${quoted(username)}`,
      `realm=${quoted(realm)}`,
      `nonce=${quoted(nonce)}`,
      `uri=${quoted(uri)}`,
      ...(named === undefined ? [] : [`algorithm=${named}`]),
      ...(hasQop ? ["qop=auth", "nc=00000001", `cnonce="${randomBytes(8).toString("hex")}"`] : []),
      ...(opaque === undefined ? [] : [`opaque=${quoted(opaque)}`]),
    ].join(", ");
    const given = parseDigestCredentials(`Digest ${fields}`);
    const secret = digestSecret(algorithm, username, realm, password);
    return (
      given && `Digest ${fields}, response="${digestResponse({ algorithm, session: false, secret, method, body: Buffer.alloc(0) }, given)}"`
    );
  }

  #write(bytes: Buffer): void {
    const socket = this.#post ?? this.#socket;
    if (this.#post) socket.write(bytes.toString("base64"));
    else socket.write(bytes);
    // A server that asks and never reads.
    if (socket.writableLength > mostUnsentBytes) this.#socket.destroy(new Error("the server takes nothing"));
  }

  sendPacket(channel: number, packet: Buffer): void {
    if (this.#socket.destroyed) return;
    const head = Buffer.from([0x24, channel, packet.length >> 8, packet.length & 0xff]);
    this.#write(Buffer.concat([head, packet]));
  }

  #receive(chunk: Buffer): void {
    this.#parser.push(chunk);
    this.#work();
  }

  #work(): void {
    try {
      while (!this.#socket.destroyed) {
        if (this.#share.isOver) {
          this.#socket.pause();
          this.#share.later();
          return;
        }
        const item = this.#parser.next();
        if (!item) return;
        if (item.kind === "packet") this.#options.onPacket(item.channel, item.payload);
        else if (item.kind === "response") this.#answered(item);
        // A server may ask whether its client is there (RFC 2326 §10.8).
        else this.#refuse(headerOf(item.headers, "CSeq"));
      }
    } catch (error) {
      this.#socket.destroy(error as Error);
    }
  }

  readonly #goOn = (): void => {
    this.#socket.resume();
    this.#work();
  };

  #refuse(cseq: string | undefined): void {
    this.#write(Buffer.from(`RTSP/1.0 501 Not Implemented\r\n${cseq === undefined ? "" : `CSeq: ${cseq}\r\n`}\r\n`));
  }

  #answered(response: RtspResponse): void {
    this.#options.onMessage?.("received", Buffer.concat([response.head, response.body]));
    const cseq = headerOf(response.headers, "CSeq") ?? "";
    const waiting = this.#waiting.get(cseq);
    if (!waiting) return;
    this.#waiting.delete(cseq);
    clearTimeout(waiting.timer);
    waiting.resolve(response);
  }

  #closed(): void {
    this.#post?.destroy();
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new Error(this.#reason));
    }
    this.#waiting.clear();
    this.#options.onClosed(this.#reason);
  }

  close(): void {
    this.#reason = "closed";
    this.#socket.destroy();
  }
}

async function openSocket({ host, port, tls, timeoutMs }: RtspClientOptions): Promise<Socket> {
  const socket = tls ? connectTls({ ...(isIP(host) === 0 && { servername: host }), ...tls, host, port }) : connect({ host, port });
  try {
    await once(socket, tls ? "secureConnect" : "connect", { signal: AbortSignal.timeout(timeoutMs) });
    return socket;
  } catch (error) {
    socket.destroy();
    throw (error as Error).name === "AbortError" ? new Error(`no connection to ${host}:${port} within ${timeoutMs / 1_000} s`) : error;
  }
}

/** Reads the answer to the GET of a tunnel, and pauses the socket. Returns what came behind it; rejects where the server opens none. */
async function readTunnelAnswer(socket: Socket, timeoutMs: number): Promise<Buffer> {
  const refused = () => new Error("the server opens no tunnel over HTTP");
  const signal = AbortSignal.timeout(timeoutMs);
  const closed = once(socket, "close", { signal }).then(
    () => Promise.reject(refused()),
    () => Promise.reject(refused()),
  );
  let read = Buffer.alloc(0);
  for (;;) {
    const [chunk] = (await Promise.race([once(socket, "data", { signal }), closed])) as [Buffer];
    socket.pause();
    read = Buffer.concat([read, chunk]);
    const end = read.indexOf("\r\n\r\n");
    if (end >= 0 && /^HTTP\/1\.\d 200 /.test(read.toString("latin1", 0, 20))) return read.subarray(end + 4);
    if (end >= 0 || read.length > limits.headBytes) throw refused();
    socket.resume();
  }
}

/** RFC 9110 §5.6.4 */
const quoted = (text: string): string => `"${text.replace(/["\\]/g, "\\$&")}"`;

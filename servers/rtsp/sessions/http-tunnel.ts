/** RTSP over HTTP, as QuickTime invented it: a GET whose answer never ends carries the server's bytes, a POST the client's in base64. */
import type { Socket } from "node:net";
import type { WorkShare } from "../../core/turns/work-connection.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import { headerOf, type RtspRequest } from "../protocol/message.ts";

/** Where bytes of a connection come from: its socket, or a POST. */
export interface ByteInput {
  pause(): void;
  resume(): void;
}

/** The connection of a GET: requests that come by a POST are its own. */
export interface TunnelEnd {
  readonly address: string;
  readonly isOpen: boolean;
  /** While it is busy, `from` is paused. */
  receiveTunnelled(bytes: Buffer, from: ByteInput): void;
}

export const tunnelType = "application/x-rtsp-tunnelled";

/** The tunnels that are open, by the cookie that both requests of a client have. */
export class HttpTunnels {
  readonly #ends = new Map<string, TunnelEnd>();

  /** False where the cookie is in use. */
  open(cookie: string, end: TunnelEnd): boolean {
    if (this.#ends.has(cookie)) return false;
    this.#ends.set(cookie, end);
    return true;
  }

  /** Of the same client. */
  find(cookie: string, address: string): TunnelEnd | undefined {
    const end = this.#ends.get(cookie);
    return end?.address === address ? end : undefined;
  }

  close(cookie: string, end: TunnelEnd): void {
    if (this.#ends.get(cookie) === end) this.#ends.delete(cookie);
  }
}

/** Undefined where the request opens no tunnel. */
export function tunnelCookie({ headers }: RtspRequest): string | undefined {
  const cookie = headerOf(headers, "x-sessioncookie");
  return cookie !== undefined && /^[\x21-\x7e]{1,200}$/.test(cookie) ? cookie : undefined;
}

const lines = (...fields: readonly string[]): string => `${fields.join("\r\n")}\r\n\r\n`;

export const tunnelAnswer: string = lines(
  "HTTP/1.0 200 OK",
  "Server: Backlot",
  "Cache-Control: no-store",
  "Pragma: no-cache",
  `Content-Type: ${tunnelType}`,
  "Connection: close",
);

export function httpRefusal(status: "400 Bad Request" | "404 Not Found", text: string): string {
  const length = `Content-Length: ${Buffer.byteLength(text)}`;
  return lines(`HTTP/1.1 ${status}`, "Server: Backlot", "Content-Type: text/plain; charset=utf-8", length, "Connection: close") + text;
}

/** Decoded in one step: a fraction of a millisecond, also where each byte has padding of its own. */
const stepBytes = 1 << 10;

/** What comes by a POST, on its way to the connection of its GET: it is decoded in turns. */
export class TunnelInput implements ByteInput {
  readonly end: TunnelEnd;
  readonly #socket: Socket;
  readonly #share: WorkShare;
  readonly #decoder = new TunnelDecoder();
  #unread: Buffer | undefined;
  #isPaused = false;

  constructor(end: TunnelEnd, socket: Socket, turns: WorkTurns) {
    this.end = end;
    this.#socket = socket;
    this.#share = turns.join(end.address, this.#work);
  }

  /** Its socket is paused until these are decoded. */
  receive(chunk: Buffer): void {
    this.#unread = this.#unread ? Buffer.concat([this.#unread, chunk]) : chunk;
    this.#work();
  }

  readonly #work = (): void => {
    while (this.#unread && !this.#isPaused && !this.#socket.destroyed) {
      if (this.#share.isOver) {
        this.#share.later();
        break;
      }
      const step = this.#unread.subarray(0, stepBytes);
      this.#unread = step.length < this.#unread.length ? this.#unread.subarray(stepBytes) : undefined;
      this.end.receiveTunnelled(this.#decoder.decode(step), this);
    }
    if (this.#unread || this.#isPaused) this.#socket.pause();
    else this.#socket.resume();
  };

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#work();
  }
}

/** Decodes base64 in any pieces; each request of a client may end with padding of its own. */
export class TunnelDecoder {
  #rest = "";

  decode(chunk: Buffer): Buffer {
    const text = this.#rest + chunk.toString("latin1").replace(/[^A-Za-z0-9+/=]/g, "");
    const whole = text.length - (text.length % 4);
    this.#rest = text.slice(whole);
    return Buffer.concat((text.slice(0, whole).match(/[^=]+={0,2}/g) ?? []).map((part) => Buffer.from(part, "base64")));
  }
}

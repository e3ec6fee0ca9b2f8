/** RTSP over HTTP, as QuickTime invented it: a GET whose answer never ends carries the server's bytes, a POST the client's in base64. */
import type { Socket } from "node:net";
import { headerOf, type RtspRequest } from "../protocol/message.ts";

/** The connection of a GET: requests that come by a POST are its own. */
export interface TunnelEnd {
  readonly address: string;
  readonly isOpen: boolean;
  /** While it is busy, `from` is not read. */
  receiveTunnelled(bytes: Buffer, from: Socket): void;
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

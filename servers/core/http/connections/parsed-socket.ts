import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";

/** What Node's parser reports with a `clientError`. */
export interface ClientError extends Error {
  readonly code?: string;
  readonly reason?: string;
  rawPacket?: Buffer;
  /** The parser's position in the packet. */
  bytesParsed?: number;
}

/** What is used of Node's parser without a public name. */
export interface RequestParser {
  /** Called with each head of a request. What it returns goes to llhttp. */
  onIncoming(request: IncomingMessage & { readonly upgrade: boolean }, shouldKeepAlive: boolean): number;
  resume(): void;
  /** Returns how many bytes it has parsed, or an error. */
  execute(bytes: Buffer): number | Error;
}

export interface ParsedSocket extends Socket {
  /** None once the connection was closed or upgraded. */
  readonly parser?: RequestParser | null;
  readonly server?: Server;
  /** Node stops reading by itself when many bytes of answers wait, and resumes when they are written. */
  _paused?: boolean;
  /** Reads from the handle, where that is not done. */
  _read(size: number): void;
}

/** As the stream's own method does, which may be overridden. */
export const pushTo = (socket: Socket, packet: Buffer | null): boolean => Readable.prototype.push.call(socket, packet);

/** A listener of "resume". */
export function stopReading(this: Socket): void {
  // Node's own listener stops the handle.
  this.emit("pause");
}

export const ignoreError = (): void => {};

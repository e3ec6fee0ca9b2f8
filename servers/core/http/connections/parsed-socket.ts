import type { Server } from "node:http";
import { Socket } from "node:net";
import { Readable } from "node:stream";
import { StacklessError } from "../../service/stackless-error.ts";
import type { PipelinedRequest } from "./pipelined-request.ts";

/** What Node's parser reports with a `clientError`. */
export interface ClientError extends Error {
  readonly code?: string;
  readonly reason?: string;
  rawPacket?: Buffer;
  /** The parser's position in the packet. */
  bytesParsed?: number;
}

/** As Node's parser reports a head that is too large. */
export const headerOverflow = (rawPacket: Buffer): ClientError =>
  Object.assign(new StacklessError("Parse Error: Header overflow"), { code: "HPE_HEADER_OVERFLOW", rawPacket, bytesParsed: 0 });

/** `upgrade`: it offers another protocol. */
export type ParsedRequest = PipelinedRequest & { readonly upgrade: boolean };

/** Goes on with what was parsed. An empty buffer without memory would be the end for the parser. */
export const nothing = Buffer.alloc(1).subarray(1);

/** llhttp's HPE_PAUSED: the parser stops here, and Node reports it as an error, with what was not parsed. */
export const pauseParser = 21;

/** What is used of Node's parser without a public name. */
export interface RequestParser {
  /** Called with each head of a request. What it returns goes to llhttp. */
  onIncoming(request: ParsedRequest, shouldKeepAlive: boolean): number;
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

/** The same at once, where the stream would only pass it on, and ask for more in a tick: reading goes on anyway. */
export function passOn(socket: Socket, packet: Buffer | null): boolean {
  if (packet === null || socket.readableFlowing !== true || socket.readableLength > 0) return pushTo(socket, packet);
  socket.emit("data", packet);
  return true;
}

/** As the stream's own method does, which may be overridden. */
export function resume(socket: Socket): Socket {
  Socket.prototype.resume.call(socket);
  return socket;
}

/** A listener of "resume". */
export function stopReading(this: Socket): void {
  // Node's own listener stops the handle.
  this.emit("pause");
}

export const ignoreError = (): void => {};

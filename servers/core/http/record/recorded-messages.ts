import { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { PipelinedRequest } from "../connections/pipelined-request.ts";
import type { HttpRefusal } from "../messages/http-refusal.ts";
import type { HttpEntry } from "./http-entry.ts";

/** Takes the pieces of a body as they come. */
export interface BodyReader {
  take(piece: Buffer): void;
  end(): void;
  /** The client has disconnected before the end. */
  left(): void;
}

export interface RecordedRequest extends PipelinedRequest {
  /** Set once the recorder has begun its row. */
  entry: HttpEntry | undefined;
  /** Of its head and body, in memory. */
  heldBytes: number;
  /** Of these, of its body: they came, and its reader has not begun or is behind. */
  waitingBytes: number;
  /** Its body was dropped before it was read. */
  refusal: HttpRefusal | undefined;
  /** Gives the reader what came and what comes of the body: without the buffer, the events and the ticks of a stream. */
  readWith(reader: BodyReader): void;
}

export interface RecordedResponse extends ServerResponse {
  readonly req: RecordedRequest;
  entry: HttpEntry | undefined;
}

export interface RecordedClasses {
  readonly IncomingMessage: new (socket: Socket) => RecordedRequest;
  readonly ServerResponse: new (request: RecordedRequest) => RecordedResponse;
}

/** Request and response classes that report bytes and phases to their entry; Node instantiates them. */
export function createRecordedClasses(): RecordedClasses {
  class Request extends PipelinedRequest implements RecordedRequest {
    entry: HttpEntry | undefined = undefined;
    heldBytes = 0;
    waitingBytes = 0;
    refusal: HttpRefusal | undefined = undefined;
    reader: BodyReader | undefined = undefined;

    // Called for every byte of a body, whether a handler reads it or not.
    override push(chunk: unknown, encoding?: BufferEncoding): boolean {
      const { entry, reader } = this;
      if (entry) {
        if (chunk === null) entry.receivedAll();
        else entry.received(chunk as Uint8Array);
      }
      if (reader) {
        this.arriving?.took(chunk as Uint8Array | null);
        if (chunk !== null) reader.take(chunk as Buffer);
        else {
          this.reader = undefined;
          closeRead(this);
          reader.end();
        }
        return true;
      }
      const mayGoOn = super.push(chunk, encoding);
      countWaiting(this);
      return mayGoOn;
    }

    override read(size?: number): unknown {
      const taken: unknown = super.read(size);
      countWaiting(this);
      return taken;
    }

    readWith(reader: BodyReader): void {
      if (this.destroyed) {
        reader.left();
        return;
      }
      for (let piece = this.read(); piece !== null; piece = this.read()) reader.take(piece as Buffer);
      if (this.complete) reader.end();
      else this.reader = reader;
    }

    override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
      const { reader } = this;
      this.reader = undefined;
      super._destroy(error, callback);
      reader?.left();
    }
  }

  class Response extends ServerResponse<Request> implements RecordedResponse {
    entry: HttpEntry | undefined = undefined;

    override writeHead(status: number, ...rest: never[]): this {
      this.entry?.answering(status, this);
      return super.writeHead(status, ...rest);
    }

    override write(chunk: unknown, ...rest: never[]): boolean {
      if (this.entry) record(this.entry, chunk, rest[0]);
      return super.write(chunk, ...rest);
    }

    override end(chunk?: unknown, ...rest: never[]): this {
      if (this.entry && chunk !== undefined && chunk !== null && typeof chunk !== "function") record(this.entry, chunk, rest[0]);
      return super.end(chunk, ...rest);
    }
  }

  return { IncomingMessage: Request, ServerResponse: Response as unknown as RecordedClasses["ServerResponse"] };
}

/** What is used of Node's requests without a public name. Older ones have no such method. */
interface ClosedRequest {
  _dumpAndCloseReadable?(): void;
}

/** All of its body came. Mostly nobody waits for the events of the stream, each of which takes a tick: Node does for "end" where the answer came before. */
function closeRead(request: RecordedRequest & ClosedRequest): void {
  if (request._dumpAndCloseReadable && request.listenerCount("end") === 0) request._dumpAndCloseReadable();
  else IncomingMessage.prototype.push.call(request.resume(), null);
}

/** In a function, since each object with a private method takes time to make. */
function countWaiting(request: RecordedRequest): void {
  const { readableLength } = request;
  if (readableLength !== request.waitingBytes) request.entry?.head.connection.held?.waiting(request, readableLength);
}

function record(entry: HttpEntry, chunk: unknown, encoding: unknown): void {
  // RFC 9110 §9.3.2: an answer to HEAD has no content, whatever the handler writes.
  if (entry.head.method === "HEAD") return;
  entry.sent(chunk as string | Uint8Array, typeof encoding === "string" ? (encoding as BufferEncoding) : undefined);
}

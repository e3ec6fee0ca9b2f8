import { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { HttpRefusal } from "../messages/http-refusal.ts";
import type { HttpEntry } from "./http-entry.ts";

export interface RecordedRequest extends IncomingMessage {
  /** Set once the recorder has begun its row. */
  entry: HttpEntry | undefined;
  /** Of its head and body, in memory. */
  heldBytes: number;
  /** Of these, of its body: they came, and its reader has not begun or is behind. */
  waitingBytes: number;
  /** Its body was dropped before it was read. */
  refusal: HttpRefusal | undefined;
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
  class Request extends IncomingMessage implements RecordedRequest {
    entry: HttpEntry | undefined = undefined;
    heldBytes = 0;
    waitingBytes = 0;
    refusal: HttpRefusal | undefined = undefined;

    // Called for every byte of a body, whether a handler reads it or not.
    override push(chunk: unknown, encoding?: BufferEncoding): boolean {
      if (this.entry) {
        if (chunk === null) this.entry.receivedAll();
        else this.entry.received(chunk as Uint8Array);
      }
      const mayGoOn = super.push(chunk, encoding);
      this.#countWaiting();
      return mayGoOn;
    }

    override read(size?: number): unknown {
      const taken: unknown = super.read(size);
      this.#countWaiting();
      return taken;
    }

    #countWaiting(): void {
      if (this.readableLength !== this.waitingBytes) this.entry?.head.connection.held?.waiting(this, this.readableLength);
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

function record(entry: HttpEntry, chunk: unknown, encoding: unknown): void {
  // RFC 9110 §9.3.2: an answer to HEAD has no content, whatever the handler writes.
  if (entry.head.method === "HEAD") return;
  entry.sent(chunk as string | Uint8Array, typeof encoding === "string" ? (encoding as BufferEncoding) : undefined);
}

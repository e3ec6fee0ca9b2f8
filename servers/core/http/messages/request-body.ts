import type { IncomingMessage, ServerResponse } from "node:http";
import { ClientLeft } from "../../service/client-left.ts";
import { StacklessError } from "../../service/stackless-error.ts";
import { GatheredPieces } from "../connections/gathered-pieces.ts";
import type { HeldRequests } from "../connections/held-requests.ts";
import type { BodyReader, RecordedRequest } from "../record/recorded-messages.ts";
import type { HttpRefusal } from "./http-refusal.ts";

/** The body is larger than the limit; the rest is read and discarded. */
export class BodyTooLarge extends StacklessError {
  override readonly name = "BodyTooLarge";
}

/** Most bytes that are read and discarded: many clients read no answer before they have sent the whole body. */
const drainedBytes = 256 << 20;
const drainIdleMs = 500;

export const hasBody = (request: IncomingMessage): boolean =>
  request.headers["transfer-encoding"] !== undefined || (request.headers["content-length"] ?? "0") !== "0";

/** RFC 9110 §8.4: its bytes are not those of its media type. */
export const isCoded = ({ headers }: IncomingMessage): boolean => !/^(?:identity)?$/i.test(headers["content-encoding"]?.trim() ?? "");

/** To be called where an answer begins, or waits to: a body that nobody reads would be kept as it came, and the end of its connection not be seen. */
export function dropUnreadBody(request: IncomingMessage): void {
  if (request.readableFlowing === null && !request.destroyed && hasBody(request)) request.resume();
}

/**
 * Reads the body; sends the 100 first if the client waits for it. Throws ClientLeft, BodyTooLarge, and 503 where the bodies of all clients
 * take too much memory.
 */
export async function readBody(request: RecordedRequest, response: ServerResponse, limitBytes: number): Promise<Buffer> {
  if (!hasBody(request)) return Buffer.alloc(0);
  if (request.refusal) throw request.refusal;
  const isTooLarge = Number(request.headers["content-length"] ?? 0) > limitBytes;
  if (request.headers.expect !== undefined && request.httpVersion === "1.1") {
    // RFC 9110 §10.1.1: the refusal replaces the 100, so that the body is never sent.
    if (isTooLarge) throw new BodyTooLarge();
    if (!response.headersSent) {
      response.writeContinue();
      response.shouldKeepAlive = !/\bclose\b/i.test(request.headers.connection ?? "");
    }
  }
  return await new Promise((resolve, reject) => {
    const reading = new BodyReading(request, response, limitBytes, resolve, reject);
    if (isTooLarge) reading.refuse(new BodyTooLarge());
    request.readWith(reading);
  });
}

/** One body that is being read. */
class BodyReading implements BodyReader {
  readonly #request: RecordedRequest;
  readonly #response: ServerResponse;
  readonly #limitBytes: number;
  readonly #resolve: (body: Buffer) => void;
  readonly #reject: (error: unknown) => void;
  readonly #held: HeldRequests | undefined;
  #pieces = new GatheredPieces();
  #received = 0;
  #idle: NodeJS.Timeout | undefined;
  #refusal: BodyTooLarge | HttpRefusal | undefined;

  constructor(
    request: RecordedRequest,
    response: ServerResponse,
    limitBytes: number,
    resolve: (body: Buffer) => void,
    reject: (error: unknown) => void,
  ) {
    this.#request = request;
    this.#response = response;
    this.#limitBytes = limitBytes;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#held = request.entry?.head.connection.held;
    this.#held?.reading(this);
  }

  refuse(why: BodyTooLarge | HttpRefusal): void {
    this.#refusal = why;
    this.#pieces = new GatheredPieces();
    this.#held?.read(this);
    this.#held?.releaseBody(this.#request);
    // Closing with unread bytes would lose the answer: it waits until the rest was read.
    if (this.#response.shouldKeepAlive) this.#rejectBody();
    else this.#idle = setTimeout(() => this.#rejectBody(), drainIdleMs);
  }

  #rejectBody(): void {
    this.#reject(this.#refusal);
  }

  take(piece: Buffer): void {
    this.#received += piece.length;
    this.#idle?.refresh();
    if (!this.#refusal) {
      if (this.#received > this.#limitBytes) {
        this.refuse(new BodyTooLarge());
        return;
      }
      this.#pieces.add(piece);
      this.#held?.hold(this.#request, piece.length);
    } else if (this.#received > drainedBytes) {
      if (this.#idle) this.#rejectBody();
      else this.#request.socket.destroy();
    }
  }

  end(): void {
    clearTimeout(this.#idle);
    this.#held?.read(this);
    if (this.#refusal) this.#rejectBody();
    else this.#resolve(this.#pieces.count === 1 ? (this.#pieces.first as Buffer) : Buffer.concat(this.#pieces.all()));
  }

  left(): void {
    clearTimeout(this.#idle);
    this.#held?.read(this);
    this.#reject(new ClientLeft());
  }
}

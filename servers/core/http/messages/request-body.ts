import type { IncomingMessage, ServerResponse } from "node:http";
import { ClientLeft } from "../../service/client-left.ts";
import { StacklessError } from "../../service/stackless-error.ts";
import { GatheredPieces } from "../connections/gathered-pieces.ts";
import type { RecordedRequest } from "../record/recorded-messages.ts";
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

/** To be called where an answer begins, or waits to: a body that nobody reads would be kept as it came, and the end of its connection not be seen. */
export function dropUnreadBody(request: IncomingMessage): void {
  if (request.readableFlowing === null && hasBody(request)) request.resume();
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
    let pieces = new GatheredPieces();
    let received = 0;
    let whole = false;
    let idle: NodeJS.Timeout | undefined;
    let refusal: BodyTooLarge | HttpRefusal | undefined;
    const held = request.entry?.head.connection.held;
    const rejectBody = () => reject(refusal);
    function refuse(why: BodyTooLarge | HttpRefusal): void {
      refusal = why;
      pieces = new GatheredPieces();
      held?.read(refuse);
      held?.releaseBody(request);
      // Closing with unread bytes would lose the answer: it waits until the rest was read.
      if (response.shouldKeepAlive) rejectBody();
      else idle = setTimeout(rejectBody, drainIdleMs);
    }
    held?.reading(refuse);
    request.on("data", (chunk: Buffer) => {
      received += chunk.length;
      idle?.refresh();
      if (!refusal) {
        if (received > limitBytes) return refuse(new BodyTooLarge());
        pieces.add(chunk);
        // It waits no more: where it counted as both for a moment, its request could be refused for it.
        held?.waiting(request, request.readableLength);
        held?.hold(request, chunk.length);
      } else if (received > drainedBytes) {
        if (idle) rejectBody();
        else request.socket.destroy();
      }
    });
    request.on("end", () => {
      whole = true;
      held?.read(refuse);
      if (refusal) rejectBody();
      else resolve(pieces.count === 1 ? (pieces.first as Buffer) : Buffer.concat(pieces.all()));
      // What listens to the request lives as long as it.
      pieces = new GatheredPieces();
    });
    // Creating an error is expensive: it is not made for requests that end normally.
    function left(): void {
      clearTimeout(idle);
      held?.read(refuse);
      if (!whole) reject(new ClientLeft());
    }
    request.on("close", left);
    request.on("error", left);
    if (isTooLarge) refuse(new BodyTooLarge());
  });
}

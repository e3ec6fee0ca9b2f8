import type { IncomingMessage, ServerResponse } from "node:http";

/** The client disconnected before the end of the body: there is nobody to answer. */
export class ClientLeft extends Error {
  override readonly name = "ClientLeft";
}

/** The body is larger than the limit; the rest is read and discarded. */
export class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge";
}

/** Most bytes that are read and discarded: many clients read no answer before they have sent the whole body. */
const drainedBytes = 256 << 20;
const drainIdleMs = 500;

export const hasBody = (request: IncomingMessage): boolean =>
  request.headers["transfer-encoding"] !== undefined || (request.headers["content-length"] ?? "0") !== "0";

/**
 * Reads the body; sends the 100 first if the client waits for it. Throws ClientLeft and BodyTooLarge.
 */
export async function readBody(request: IncomingMessage, response: ServerResponse, limitBytes: number): Promise<Buffer> {
  if (!hasBody(request)) return Buffer.alloc(0);
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
    let chunks: Buffer[] = [];
    let received = 0;
    let refused = false;
    let whole = false;
    let idle: NodeJS.Timeout | undefined;
    const rejectTooLarge = () => reject(new BodyTooLarge());
    function refuse(): void {
      refused = true;
      chunks = [];
      // Closing with unread bytes would lose the answer: it waits until the rest was read.
      if (response.shouldKeepAlive) rejectTooLarge();
      else idle = setTimeout(rejectTooLarge, drainIdleMs);
    }
    request.on("data", (chunk: Buffer) => {
      received += chunk.length;
      idle?.refresh();
      if (!refused) {
        if (received > limitBytes) refuse();
        else chunks.push(chunk);
      } else if (received > drainedBytes) {
        if (idle) rejectTooLarge();
        else request.socket.destroy();
      }
    });
    request.on("end", () => {
      whole = true;
      if (refused) rejectTooLarge();
      else resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    });
    // Creating an error is expensive: it is not made for requests that end normally.
    function left(): void {
      clearTimeout(idle);
      if (!whole) reject(new ClientLeft());
    }
    request.on("close", left);
    request.on("error", left);
    if (isTooLarge) refuse();
  });
}

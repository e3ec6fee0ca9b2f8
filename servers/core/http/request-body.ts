import type { IncomingMessage, ServerResponse } from "node:http";

/** The client went away in the middle: there is nobody left to answer. */
export class ClientLeft extends Error {
  override readonly name = "ClientLeft";
}

/** The body is larger than the service takes; its rest is read and thrown away. */
export class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge";
}

/** What is read and thrown away at most: many senders read no answer before they have sent it all. */
const drainedBytes = 256 << 20;
const drainIdleMs = 500;

export const hasBody = (request: IncomingMessage): boolean =>
  request.headers["transfer-encoding"] !== undefined || (request.headers["content-length"] ?? "0") !== "0";

/**
 * The bytes of the body, which is asked for here where the client waits for that. Throws ClientLeft and BodyTooLarge.
 */
export async function readBody(request: IncomingMessage, response: ServerResponse, limitBytes: number): Promise<Buffer> {
  if (!hasBody(request)) return Buffer.alloc(0);
  const isTooLarge = Number(request.headers["content-length"] ?? 0) > limitBytes;
  if (request.headers.expect !== undefined && request.httpVersion === "1.1") {
    // RFC 9110 §10.1.1: the refusal comes instead of the 100, so that the body is never sent.
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
      // An answer that closes the connection would be lost together with what is not read yet: it waits for that.
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
    // An error is costly to make: not for each request that ends as it should.
    function left(): void {
      clearTimeout(idle);
      if (!whole) reject(new ClientLeft());
    }
    request.on("close", left);
    request.on("error", left);
    if (isTooLarge) refuse();
  });
}

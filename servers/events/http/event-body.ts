import type { IncomingMessage, ServerResponse } from "node:http";
import { type CompletionEvent, completionEvent } from "../completion-event.ts";
import { ClientLeft, Refusal, validationFailed } from "./refusal.ts";

/** What is read and thrown away of a body that is too large, so that its sender gets to read the answer. */
const drainedBytes = 8 << 20;

/** Resolves with the body's bytes. Throws 413 above the limit, at once where the length is told. */
export function readBody(request: IncomingMessage, response: ServerResponse, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let received = 0;
    let refused = false;
    function refuse(): void {
      refused = true;
      chunks = [];
      reject(new Refusal(413, "Request body too large"));
    }
    request.on("data", (chunk: Buffer) => {
      received += chunk.length;
      if (refused) {
        if (received > drainedBytes) request.socket.destroy();
      } else if (received > limitBytes) refuse();
      else chunks.push(chunk);
    });
    let whole = false;
    request.on("end", () => {
      whole = true;
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    });
    // An error is costly to make: not for each request that ends as it should.
    const left = () => whole || reject(new ClientLeft());
    request.on("close", left);
    request.on("error", left);
    const { headers } = request;
    if (Number(headers["content-length"] ?? 0) > limitBytes) refuse();
    // RFC 9110 §10.1.1: asked to only once the body is wanted.
    else if (headers.expect !== undefined) response.writeContinue();
  });
}

/** The event in a body, whatever its Content-Type says. Throws 400. */
export function parseEvent(body: Buffer): CompletionEvent {
  const parsed = completionEvent.safeParse(parseJson(body));
  if (parsed.success) return parsed.data;
  throw validationFailed(parsed.error.issues.map(({ path, message }) => ({ path: path.join("."), message })));
}

function parseJson(body: Buffer): unknown {
  let text = body.toString("utf8");
  // RFC 8259 §8.1: a byte order mark may be ignored.
  if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400, "Malformed JSON in request body");
  }
}

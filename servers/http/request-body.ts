import type { IncomingMessage } from "node:http";
import type { Request } from "express";
import { decodeContent } from "./content-coding.ts";
import { ClientLeft, HttpProblem } from "./http-problem.ts";

/** What is read and thrown away of a body that is too large: many senders read no answer before they have sent it all. */
const drainedBytes = 32 << 20;
const drainIdleMs = 500;

export const hasBody = (request: IncomingMessage): boolean =>
  request.headers["transfer-encoding"] !== undefined || (request.headers["content-length"] ?? "0") !== "0";

/** The body after its content codings are undone; 413 above the limit, before or after. */
export async function readBody(request: Request, limitBytes: number): Promise<Buffer> {
  if (!hasBody(request)) return Buffer.alloc(0);
  if (request.headers.expect !== undefined && request.httpVersion === "1.1") askForBody(request, limitBytes);
  const raw = await readRaw(request, limitBytes);
  const codings = request.headers["content-encoding"];
  return codings === undefined ? raw : decodeContent(raw, codings, limitBytes);
}

/** RFC 9110 §10.1.1: a refusal comes instead of the 100, so that the body is never sent. */
function askForBody(request: Request, limitBytes: number): void {
  if (Number(request.headers["content-length"] ?? 0) > limitBytes) throw bodyTooLarge(limitBytes, { Connection: "close" });
  const { res } = request;
  if (!res || res.headersSent) return;
  res.writeContinue();
  res.shouldKeepAlive = !/\bclose\b/i.test(request.headers.connection ?? "");
}

const bodyTooLarge = (limitBytes: number, headers?: Record<string, string>): HttpProblem =>
  new HttpProblem(413, `The body is larger than ${limitBytes} bytes`, headers);

function readRaw(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let received = 0;
    let drain: NodeJS.Timeout | undefined;
    const refuseNow = () => reject(bodyTooLarge(limitBytes, { Connection: "close" }));
    const refuse = () => {
      chunks.length = 0;
      drain = setTimeout(refuseNow, drainIdleMs);
      if (Number(request.headers["content-length"] ?? 0) > drainedBytes) refuseNow();
    };
    request.on("data", (chunk: Buffer) => {
      received += chunk.length;
      if (drain) {
        drain.refresh();
        if (received > drainedBytes) refuseNow();
      } else if (received > limitBytes) refuse();
      else chunks.push(chunk);
    });
    request.once("end", () => {
      if (drain) reject(bodyTooLarge(limitBytes));
      else resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    });
    request.once("close", () => {
      clearTimeout(drain);
      if (!request.complete) reject(new ClientLeft());
    });
    request.on("error", () => reject(new ClientLeft()));
    if (Number(request.headers["content-length"] ?? 0) > limitBytes) refuse();
  });
}

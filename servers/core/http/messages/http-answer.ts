import type { ServerResponse } from "node:http";

export type AnswerHeaders = Readonly<Record<string, string | number | readonly string[]>>;

/** RFC 8259 §11: the type has no charset parameter. */
export const jsonType = "application/json";

/** Up to here the pieces of a body are joined to a text: Node writes it with the head at once, for half of what a list of buffers costs. */
const joinedBytes = 16 << 10;

/** Sends a complete answer; its body may be in pieces. */
export function send(
  response: ServerResponse,
  status: number,
  type: string,
  body: string | Buffer | readonly Buffer[],
  headers?: AnswerHeaders,
): void {
  // The client may have disconnected meanwhile.
  if (response.destroyed) return;
  const length = bytesOf(body);
  const fields: (string | number | readonly string[])[] = ["Content-Type", type, "Content-Length", length];
  if (headers) for (const name of Object.keys(headers)) fields.push(name, headers[name] as string);
  response.writeHead(status, fields as string[]);
  if (typeof body === "string" || Buffer.isBuffer(body)) response.end(body);
  else if (length <= joinedBytes) response.end(Buffer.concat(body).toString("latin1"), "latin1");
  else {
    for (const piece of body) response.write(piece);
    response.end();
  }
}

function bytesOf(body: string | Buffer | readonly Buffer[]): number {
  if (typeof body === "string") return Buffer.byteLength(body);
  return Buffer.isBuffer(body) ? body.length : body.reduce((sum, piece) => sum + piece.length, 0);
}

/** An answer without content; 204 and 304 have no Content-Length either (RFC 9110 §8.6). */
export function sendEmpty(response: ServerResponse, status: number, headers?: AnswerHeaders): void {
  const fields: (string | number | readonly string[])[] = status === 204 || status === 304 ? [] : ["Content-Length", 0];
  if (headers) for (const name of Object.keys(headers)) fields.push(name, headers[name] as string);
  response.writeHead(status, fields as string[]);
  response.end();
}

/** Adds a request field to Vary (RFC 9110 §12.5.5). */
export function varyBy(response: ServerResponse, field: string): void {
  const others = response.getHeader("Vary");
  response.setHeader("Vary", others === undefined ? field : `${others}, ${field}`);
}

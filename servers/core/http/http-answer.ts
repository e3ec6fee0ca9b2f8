import type { ServerResponse } from "node:http";

export type AnswerHeaders = Readonly<Record<string, string | number | readonly string[]>>;

export const jsonType = "application/json; charset=utf-8";

/** Sends a complete answer. */
export function send(response: ServerResponse, status: number, type: string, body: string | Buffer, headers?: AnswerHeaders): void {
  // The client may have disconnected meanwhile.
  if (response.destroyed) return;
  const fields: (string | number | readonly string[])[] = [
    "Content-Type",
    type,
    "Content-Length",
    typeof body === "string" ? Buffer.byteLength(body) : body.length,
  ];
  if (headers) for (const name of Object.keys(headers)) fields.push(name, headers[name] as string);
  response.writeHead(status, fields as string[]);
  response.end(body);
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

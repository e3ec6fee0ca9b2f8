import type { ServerResponse } from "node:http";
import { errorBody } from "./http-problem.ts";

type Headers = Readonly<Record<string, string | number | readonly string[]>>;

const jsonType = "application/json; charset=utf-8";

/** The compact JSON of the reference's own routes. */
export function sendJson(response: ServerResponse, status: number, value: unknown, headers?: Headers): void {
  send(response, status, jsonType, JSON.stringify(value), headers);
}

/** JSON as httpbin prints it: for people as much as for programs. */
export function sendPrettyJson(response: ServerResponse, value: unknown, headers?: Headers): void {
  send(response, 200, jsonType, `${JSON.stringify(value, null, 2)}\n`, headers);
}

export function sendError(response: ServerResponse, status: number, message: string, headers?: Headers): void {
  send(response, status, jsonType, errorBody(status, message), headers);
}

export function sendText(response: ServerResponse, text: string, headers?: Headers): void {
  send(response, 200, "text/plain; charset=utf-8", text, headers);
}

/** Pages of our own: no script, nothing loaded, in no frame. */
export function sendHtml(response: ServerResponse, html: string): void {
  send(response, 200, "text/html; charset=utf-8", html, {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  });
}

export function send(response: ServerResponse, status: number, type: string, body: string | Buffer, headers?: Headers): void {
  response.setHeader("Content-Type", type);
  response.setHeader("Content-Length", typeof body === "string" ? Buffer.byteLength(body) : body.length);
  if (headers) for (const name of Object.keys(headers)) response.setHeader(name, headers[name] as string);
  response.statusCode = status;
  response.end(body);
}

/** An answer without content; 204 and 304 have no Content-Length either (RFC 9110 §8.6). */
export function sendEmpty(response: ServerResponse, status: number, headers?: Headers): void {
  if (headers) for (const name of Object.keys(headers)) response.setHeader(name, headers[name] as string);
  if (status !== 204 && status !== 304) response.setHeader("Content-Length", 0);
  response.statusCode = status;
  response.end();
}

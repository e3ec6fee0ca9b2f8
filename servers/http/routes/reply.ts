import type { ServerResponse } from "node:http";
import { type AnswerHeaders, jsonType, send } from "../../core/http/messages/http-answer.ts";

export const errorBody = (_status: number, message: string): string => JSON.stringify({ status: "error", message });

/** The compact JSON of the reference's own routes. */
export function sendJson(response: ServerResponse, status: number, value: unknown, headers?: AnswerHeaders): void {
  send(response, status, jsonType, JSON.stringify(value), headers);
}

/** JSON as httpbin prints it: indented. */
export function sendPrettyJson(response: ServerResponse, value: unknown, headers?: AnswerHeaders): void {
  send(response, 200, jsonType, `${JSON.stringify(value, null, 2)}\n`, headers);
}

export function sendError(response: ServerResponse, status: number, message: string, headers?: AnswerHeaders): void {
  send(response, status, jsonType, errorBody(status, message), headers);
}

export function sendText(response: ServerResponse, text: string, headers?: AnswerHeaders): void {
  send(response, 200, "text/plain; charset=utf-8", text, headers);
}

/** Pages of our own: no script, nothing loaded, in no frame. */
export function sendHtml(response: ServerResponse, html: string): void {
  send(response, 200, "text/html; charset=utf-8", html, {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  });
}

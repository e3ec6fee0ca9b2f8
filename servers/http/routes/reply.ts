import type { ServerResponse } from "node:http";
import { type AnswerHeaders, jsonType, send } from "../../core/http/http-answer.ts";
import { HttpRefusal } from "../../core/http/http-refusal.ts";

export const errorBody = (_status: number, message: string): string => JSON.stringify({ status: "error", message });

/** Throws 400 if it is nested too deeply to be serialized. */
export function jsonText(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, null, indent);
  } catch (cause) {
    // V8 parses any depth but serializes only what fits the stack.
    if (cause instanceof RangeError) throw tooDeep();
    throw cause;
  }
}

const tooDeep = () => new HttpRefusal(400, "Invalid JSON: nested too deeply");
/** The size of indentation grows with the square of the depth. */
const deepestIndented = 1_000;

/** Throws 400 for JSON that indentation would make many times as large. */
export function requireIndentable(value: unknown, depth = 0): void {
  if (typeof value !== "object" || value === null) return;
  if (depth === deepestIndented) throw tooDeep();
  for (const part of Object.values(value)) requireIndentable(part, depth + 1);
}

/** The compact JSON of the reference's own routes. */
export function sendJson(response: ServerResponse, status: number, value: unknown, headers?: AnswerHeaders): void {
  send(response, status, jsonType, JSON.stringify(value), headers);
}

/** JSON as httpbin prints it: indented. */
export function sendPrettyJson(response: ServerResponse, value: unknown, headers?: AnswerHeaders): void {
  send(response, 200, jsonType, `${jsonText(value, 2)}\n`, headers);
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

import type { ServerResponse } from "node:http";
import { send, sendEmpty } from "../reply.ts";

/** Fields without which an answer of that status breaks RFC 9110. */
const requiredFields: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { "WWW-Authenticate": 'Basic realm="backlot"' },
  405: { Allow: "GET, HEAD, OPTIONS" },
  407: { "Proxy-Authenticate": 'Basic realm="backlot"' },
  426: { Upgrade: "websocket", Connection: "Upgrade" },
};

/** An answer of any status from 200 to 599 as RFC 9110 frames it: 204, 205 and 304 have no content. */
export function answerStatus(
  response: ServerResponse,
  status: number,
  content?: { readonly type: string; readonly body: string },
  headers?: Readonly<Record<string, string>>,
): void {
  const fields = { ...requiredFields[status], ...headers };
  if (content === undefined || status === 204 || status === 205 || status === 304) sendEmpty(response, status, fields);
  else send(response, status, content.type, content.body, fields);
}

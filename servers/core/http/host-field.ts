import type { IncomingMessage } from "node:http";

const host = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\da-f:.]+\])(?::\d{0,5})?$/i;

/** RFC 9112 §3.2: HTTP/1.1 needs exactly one Host field, and its value must be a host. */
export function hasValidHost(request: IncomingMessage): boolean {
  const { rawHeaders, headers } = request;
  let found = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") found += 1;
  }
  if (found === 0) return request.httpVersion !== "1.1";
  return found === 1 && host.test(headers.host ?? "");
}

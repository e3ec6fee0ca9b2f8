import type { HeaderList } from "../../../../contract/traffic/http.ts";

/** Tags of the pieces of an exchange's detail. Pieces are written in the order in which they become known. */
export const httpTag = {
  /** HTTP version, header fields, connection, number of the request on it. */
  head: 1,
  /** The full target, if the row's is truncated or different. */
  target: 2,
  /** The next bytes of a body. */
  requestBody: 3,
  responseBody: 4,
  /** The number of bytes of a body before redaction. */
  hiddenIn: 5,
  /** The response head as it was written: status line and header fields in one text. */
  responseHead: 6,
  /** The response head as separate fields. */
  responseFields: 7,
  trailers: 8,
  /** Milliseconds to each phase's end; NaN until then. */
  timing: 9,
  aborted: 10,
  /** Of a WebSocket: code and reason of the close frame. */
  closed: 11,
  /** A body was not kept whole because the budget was used up. */
  overBudget: 12,
  /** Of a request that could not be parsed: how many bytes came, how many are kept, and those with secrets redacted. */
  unparsed: 13,
  /** The exchange ended before all of the request's body was read. */
  partOfBody: 14,
} as const;

export const bodySide = { request: 0, response: 1 } as const;

/** Flags of a WebSocket's message. */
const binaryFlag = 1;
const sentFlag = 2;
const overBudgetFlag = 4;
/** The content is the index of the part with the same bytes. */
const echoFlag = 8;
export const echoFlags = (binary: boolean): number => messageFlags(binary, true, false) | echoFlag;
export const isEcho = (flags: number): boolean => (flags & echoFlag) !== 0;
export const messageFlags = (binary: boolean, sent: boolean, isOverBudget: boolean): number =>
  (binary ? binaryFlag : 0) | (sent ? sentFlag : 0) | (isOverBudget ? overBudgetFlag : 0);
export const isBinary = (flags: number): boolean => (flags & binaryFlag) !== 0;
export const isSent = (flags: number): boolean => (flags & sentFlag) !== 0;
export const isOverBudget = (flags: number): boolean => (flags & overBudgetFlag) !== 0;

/** "HTTP/1.1 200 OK\r\nName: value\r\n…" */
export function parseHead(head: string): { reason: string; headers: HeaderList } {
  const headers: [string, string][] = [];
  let start = head.indexOf("\r\n");
  const statusLine = start === -1 ? head : head.slice(0, start);
  while (start !== -1) {
    start += 2;
    const end = head.indexOf("\r\n", start);
    const line = end === -1 ? head.slice(start) : head.slice(start, end);
    const colon = line.indexOf(":");
    if (colon > 0) headers.push([line.slice(0, colon), line.slice(colon + 1).trim()]);
    start = end;
  }
  // After "HTTP/1.1 200 ".
  return { reason: statusLine.slice(13), headers };
}

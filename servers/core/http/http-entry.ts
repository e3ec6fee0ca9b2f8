import type { ServerResponse } from "node:http";
import type { Detail } from "../../../contract/traffic/detail.ts";
import type { HeaderList, HttpBody, HttpExchange, HttpExchangeFacts } from "../../../contract/traffic/http.ts";
import type { Tone, TrafficRow } from "../../../contract/traffic/row.ts";
import type { TrafficEntry } from "../service/service.ts";
import { previewText } from "../traffic/preview-text.ts";
import { BodyCapture } from "./body-capture.ts";
import type { HttpConnection } from "./http-connections.ts";
import type { HttpRedaction } from "./http-redaction.ts";

/** What an entry is begun with. `rawHeaders` is kept by reference: name, value, name, value. */
export interface HttpEntryHead {
  readonly id: number;
  readonly kind: "http" | "websocket" | "websocket-message";
  /** Id of the row that it belongs to. */
  readonly parent?: number | undefined;
  readonly method: string;
  readonly target: string;
  readonly httpVersion: string;
  readonly rawHeaders: readonly string[];
  readonly client: string;
  readonly connection: HttpConnection;
  /** Bytes that are kept of each body. */
  readonly bodyLimit: number;
  readonly redaction?: HttpRedaction | undefined;
}

const rowTargetLength = 1_024;
const nothing = { kept: Buffer.alloc(0), told: Buffer.alloc(0) };

/** One exchange as it goes on; told as a row and as a whole only when a batch leaves. */
export class HttpEntry implements TrafficEntry {
  readonly id: number;
  readonly at = Date.now();
  readonly head: HttpEntryHead;
  readonly requestBody = new BodyCapture();
  readonly responseBody = new BodyCapture();
  readonly ordinal: number;
  /** Streams last as long as the client likes: they say nothing about how fast the service answers. */
  longLived = false;
  /** Why it ended before its time. */
  aborted: string | undefined;
  /** Instead of the status in the row: "closed 1000". */
  outcome: string | undefined;
  /** Who asked, where the service knows. */
  user: string | undefined;
  /** Why it was refused, in a few words. */
  reason: string | undefined;
  #startedAt = performance.now();
  #receivedAt = 0;
  #answeredAt = 0;
  #endedAt = 0;
  #status = 0;
  #requestTrailers: readonly string[] = [];
  /** Held until the end only: its head is read from it when someone asks meanwhile. */
  #response: ServerResponse | undefined;
  #responseHead = "";
  /** Of the body that was told last: a row's preview and the detail behind it tell the same one. */
  #hidden: { readonly of: BodyCapture; readonly bytes: number; readonly kept: Buffer; readonly told: Buffer } | undefined;

  constructor(head: HttpEntryHead) {
    this.id = head.id;
    this.head = head;
    this.ordinal = head.connection.requests;
  }

  received(chunk: string | Uint8Array): void {
    this.requestBody.add(chunk, undefined, this.head.bodyLimit);
  }

  receivedAll(): void {
    this.#receivedAt = performance.now();
  }

  answering(status: number, response: ServerResponse): void {
    if (this.#answeredAt !== 0) return;
    this.#answeredAt = performance.now();
    this.#status = status;
    this.#response = response;
  }

  sent(chunk: string | Uint8Array, encoding?: BufferEncoding): void {
    this.responseBody.add(chunk, encoding, this.head.bodyLimit);
  }

  /** An answer that was written without a ServerResponse; `head` is its text up to the empty line. */
  answeredRaw(status: number, head: string, body: string | Uint8Array = ""): void {
    this.#answeredAt = performance.now();
    this.#status = status;
    this.#responseHead = head;
    this.sent(body);
  }

  end(requestTrailers: readonly string[] = []): void {
    this.#endedAt = performance.now();
    this.#requestTrailers = requestTrailers;
    if (this.#response) this.#responseHead = writtenHead(this.#response);
    this.#response = undefined;
  }

  get ended(): boolean {
    return this.#endedAt !== 0;
  }

  /** 0 until an answer was begun. */
  get status(): number {
    return this.#status;
  }

  get tookMs(): number {
    return (this.#endedAt || performance.now()) - this.#startedAt;
  }

  get tone(): Tone {
    // A stream goes on until its client leaves: that is its end, not a mishap.
    const isStream = this.longLived && this.head.kind === "http";
    if (this.aborted !== undefined && !isStream) return this.#status >= 400 ? statusTone(this.#status) : "aborted";
    return this.ended ? statusTone(this.#status) : "pending";
  }

  /** What a log line says of how it ended. */
  get outcomeText(): string {
    if (this.outcome !== undefined) return this.outcome;
    if (this.aborted !== undefined) return this.#status === 0 ? this.aborted : `${this.#status}, ${this.aborted}`;
    return this.#status === 0 ? "" : String(this.#status);
  }

  // An estimate of the head, since counting it would cost more than it helps.
  get heldBytes(): number {
    return 400 + this.head.target.length + this.head.rawHeaders.length * 40 + this.requestBody.held + this.responseBody.held;
  }

  row(): Omit<TrafficRow, "service"> {
    const { head } = this;
    const target = head.redaction?.target(head.target) ?? head.target;
    return {
      id: this.id,
      at: this.at,
      ...(head.parent !== undefined && { parent: head.parent }),
      kind: head.kind,
      verb: head.method,
      target: target.length > rowTargetLength ? `${target.slice(0, rowTargetLength)}…` : target,
      tone: this.tone,
      outcome: this.outcomeText,
      ...(this.ended && { tookMs: rounded(this.tookMs) }),
      bytesIn: this.requestBody.bytes,
      bytesOut: this.responseBody.bytes,
      client: head.client,
      peer: head.connection.remote,
      preview: this.#preview(this.requestBody.bytes > 0 ? this.requestBody : this.responseBody),
      ...(this.user !== undefined && { user: this.user }),
      ...(this.reason !== undefined && { reason: this.reason }),
    };
  }

  detail(): Detail {
    const { kind, parent = 0, method } = this.head;
    switch (kind) {
      case "http":
        return { kind, ...this.#facts() };
      case "websocket":
        return { kind, ...this.#facts(), parts: { total: 0, bytes: 0, leftOut: 0, leftOutBytes: 0 } };
      case "websocket-message": {
        const body = this.#tellBody(this.requestBody);
        const type = method === "binary" ? "binary" : "text";
        const { id, at, outcomeText: outcome } = this;
        return {
          kind,
          id,
          parent,
          at,
          index: 0,
          direction: "received",
          type,
          body,
          outcome,
          ...(this.ended && { tookMs: rounded(this.tookMs) }),
        };
      }
      default:
        return kind satisfies never;
    }
  }

  #facts(): HttpExchangeFacts {
    const { head } = this;
    const { connection } = head;
    return {
      id: this.id,
      at: this.at,
      request: {
        method: head.method,
        target: head.redaction?.target(head.target) ?? head.target,
        httpVersion: head.httpVersion,
        headers: this.#tellHeaders(headerPairs(head.rawHeaders)),
        trailers: this.#tellHeaders(headerPairs(this.#requestTrailers)),
        body: this.#tellBody(this.requestBody),
      },
      ...(this.#status !== 0 && { response: this.#tellResponse() }),
      ...(this.aborted !== undefined && { aborted: this.aborted }),
      timing: this.#timing(),
      connection: {
        id: connection.id,
        remote: connection.remote,
        local: connection.local,
        requests: this.ordinal,
        openedAt: connection.openedAt,
      },
    };
  }

  #tellResponse(): NonNullable<HttpExchange["response"]> {
    const head = this.#response ? writtenHead(this.#response) : this.#responseHead;
    const { reason, headers } = parseHead(head);
    return { status: this.#status, reason, headers: this.#tellHeaders(headers), body: this.#tellBody(this.responseBody) };
  }

  #tellHeaders(headers: HeaderList): HeaderList {
    return this.head.redaction?.headers(headers) ?? headers;
  }

  #tellBody(body: BodyCapture): HttpBody {
    const { bodyLimit, redaction } = this.head;
    if (!redaction) return body.tell(bodyLimit);
    const { kept, told } = this.#hide(body, redaction);
    return { bytes: body.bytes, base64: told.toString("base64"), ...(!told.equals(kept) && { hiddenIn: kept.length }) };
  }

  #preview(body: BodyCapture): string {
    const { redaction } = this.head;
    return redaction ? previewText(this.#hide(body, redaction).told) : body.preview();
  }

  #hide(body: BodyCapture, redaction: HttpRedaction): { readonly kept: Buffer; readonly told: Buffer } {
    if (body.bytes === 0) return nothing;
    const known = this.#hidden;
    if (known?.of === body && known.bytes === body.bytes) return known;
    const kept = body.kept(this.head.bodyLimit);
    this.#hidden = { of: body, bytes: body.bytes, kept, told: redaction.body(kept) };
    return this.#hidden;
  }

  #timing(): HttpExchange["timing"] {
    // Node reports the end of an empty body only after the handler has run.
    const receivedAt = this.requestBody.bytes === 0 && this.#answeredAt !== 0 ? this.#startedAt : this.#receivedAt;
    return {
      ...(receivedAt !== 0 && { receiveMs: rounded(receivedAt - this.#startedAt) }),
      ...(this.#answeredAt !== 0 && { answerMs: rounded(Math.max(0, this.#answeredAt - (receivedAt || this.#startedAt))) }),
      ...(this.ended && this.#answeredAt !== 0 && { sendMs: rounded(this.#endedAt - this.#answeredAt) }),
      ...(this.ended && { totalMs: rounded(this.#endedAt - this.#startedAt) }),
    };
  }
}

export function statusTone(status: number): Tone {
  if (status >= 500) return "failed";
  if (status >= 400) return "refused";
  return status >= 300 ? "redirect" : "ok";
}

const rounded = (milliseconds: number) => Math.round(milliseconds * 1_000) / 1_000;

// `_header` is the head as written, with what Node itself adds; there is no public way to ask for it.
const writtenHead = (response: ServerResponse): string => (response as ServerResponse & { readonly _header?: string | null })._header ?? "";

/** "HTTP/1.1 200 OK\r\nName: value\r\n…": told for each exchange, so without patterns and intermediate lists. */
function parseHead(head: string): { reason: string; headers: HeaderList } {
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

function headerPairs(raw: readonly string[]): HeaderList {
  const pairs: [string, string][] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) pairs.push([raw[index] ?? "", raw[index + 1] ?? ""]);
  return pairs;
}

import type { ServerResponse } from "node:http";
import type { ConnectionHead } from "../../../../contract/traffic/connection.ts";
import { previewBytes, type Tone } from "../../../../contract/traffic/row.ts";
import { notQueued, type TrafficEntry } from "../../service/service.ts";
import type { PendingParts } from "../../traffic/pending-parts.ts";
import { toMicroseconds } from "../../traffic/record-reader.ts";
import type { RecordWriter } from "../../traffic/record-writer.ts";
import { type BodyBudget, keptBytesOf } from "../connections/body-budget.ts";
import type { HeldRequests } from "../connections/held-requests.ts";
import type { Pipeline } from "../connections/pipeline.ts";
import { BodyCapture } from "./body-capture.ts";
import { bodySide, httpTag, parseHead } from "./http-record.ts";
import type { HttpRedaction } from "./http-redaction.ts";

/** The connection of an exchange. */
export interface ConnectionFacts extends ConnectionHead {
  /** Requests begun on it so far. */
  readonly requests: number;
  /** The answer to the newest request: the only one whose request may still be arriving. */
  latest: ServerResponse | undefined;
  readonly pipeline?: Pipeline | undefined;
  readonly held?: HeldRequests | undefined;
  /** Requests without a log line of their own: they ended together with others. */
  unlogged: number;
}

/** Facts known when an entry begins. `rawHeaders` is kept by reference: name, value, name, value. */
export interface HttpEntryHead {
  readonly id: number;
  readonly kind: "http" | "websocket";
  readonly method: string;
  readonly target: string;
  readonly httpVersion: string;
  readonly rawHeaders: readonly string[];
  readonly client: string;
  readonly connection: ConnectionFacts;
  /** First bytes that are kept of each body; further ones as far as the budget allows. */
  readonly bodyLimit: number;
  readonly bodyBudget?: BodyBudget | undefined;
  readonly redaction?: HttpRedaction | undefined;
  /** Of a request that could not be parsed: the bytes that arrived with its beginning. */
  readonly unparsed?: Buffer | undefined;
}

const rowTargetLength = 1_024;
const nothing = { kept: Buffer.alloc(0), shown: Buffer.alloc(0) };

interface HiddenBody {
  readonly kept: Buffer;
  /** The body with secret values redacted. */
  readonly shown: Buffer;
}

/** One exchange while it lasts; it is serialized only when a batch is sent. */
export class HttpEntry implements TrafficEntry {
  queueSlot = notQueued;
  isAnnounced = false;
  readonly id: number;
  readonly at = Date.now();
  readonly head: HttpEntryHead;
  readonly requestBody = new BodyCapture();
  readonly responseBody = new BodyCapture();
  readonly ordinal: number;
  /** Streams last as long as the client stays: they are left out of the latency figures. */
  longLived = false;
  /** Why it ended early. */
  aborted: string | undefined;
  /** Shown in place of the status: "closed 1000". */
  outcome: string | undefined;
  /** Events or messages of a stream. */
  parts: PendingParts | undefined;
  /** The close frame of a WebSocket. */
  closed: { readonly code: number; readonly reason: string } | undefined;
  /** The user, if the service knows. */
  user: string | undefined;
  /** Why it was refused, in a few words. */
  reason: string | undefined;
  /** It ended before all of the request's body was read. */
  hasPartOfBody = false;
  #startedAt = performance.now();
  #receivedAt = 0;
  #answeredAt = 0;
  #endedAt = 0;
  #status = 0;
  #requestTrailers: readonly string[] = [];
  /** Held until the end: a batch that leaves earlier reads the head from it. */
  #response: ServerResponse | undefined;
  #responseHead = "";
  /** The last redacted body: a row's preview and its detail use the same one. */
  #hidden: (HiddenBody & { readonly of: BodyCapture; readonly bytes: number }) | undefined;
  #wroteHead = false;
  #wroteResponse = false;
  #wroteTiming = false;

  constructor(head: HttpEntryHead) {
    this.id = head.id;
    this.head = head;
    this.ordinal = head.connection.requests;
  }

  received(chunk: string | Uint8Array): void {
    this.requestBody.add(chunk, undefined, this.head.bodyLimit, this.head.bodyBudget);
  }

  /** Bytes of messages, which are kept as parts. */
  countReceived(bytes: number): void {
    this.requestBody.bytes += bytes;
  }

  countSent(bytes: number): void {
    this.responseBody.bytes += bytes;
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
    // The content of a stream is kept as parts.
    this.responseBody.add(chunk, encoding, this.head.bodyLimit, this.longLived ? undefined : this.head.bodyBudget);
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
    // A stream normally ends when its client disconnects: that is no failure.
    const isStream = this.longLived && this.head.kind === "http";
    if (this.aborted !== undefined && !isStream) return this.#status >= 400 ? statusTone(this.#status) : "aborted";
    return this.ended ? statusTone(this.#status) : "pending";
  }

  /** How it ended, for the log line. */
  get outcomeText(): string {
    if (this.outcome !== undefined) return this.outcome;
    if (this.aborted !== undefined) return this.#status === 0 ? this.aborted : `${this.#status}, ${this.aborted}`;
    return this.#status === 0 ? "" : String(this.#status);
  }

  // An estimate: counting the bytes of the head exactly would cost too much.
  get heldBytes(): number {
    const bodies = this.requestBody.held + this.responseBody.held;
    const { target, rawHeaders, unparsed } = this.head;
    return 400 + target.length + rawHeaders.length * 40 + (unparsed?.length ?? 0) + bodies + (this.parts?.held ?? 0);
  }

  get open(): boolean {
    return !this.ended;
  }

  dropParts(): void {
    this.parts?.drop();
  }

  write(record: RecordWriter): void {
    const { head } = this;
    const target = head.redaction?.target(head.target) ?? head.target;
    const isLong = target.length > rowTargetLength;
    record.row({
      id: this.id,
      at: this.at,
      kind: head.kind,
      verb: head.method,
      target: isLong ? `${target.slice(0, rowTargetLength)}…` : target,
      tone: this.tone,
      outcome: this.outcomeText,
      tookMs: this.ended ? toMicroseconds(this.tookMs) : undefined,
      bytesIn: this.requestBody.bytes,
      bytesOut: this.responseBody.bytes,
      ...(this.parts && { parts: this.parts.total, partBytes: this.parts.bytes }),
      isCut: this.requestBody.isCut || this.responseBody.isCut,
      client: head.client,
      peer: head.connection.remote,
      preview: this.#preview(this.requestBody.bytes > 0 ? this.requestBody : this.responseBody),
      user: this.user,
      reason: this.reason,
    });
    if (!this.#wroteHead) {
      this.#writeHead(record);
      if (isLong) {
        record.u8(httpTag.target);
        record.text(target);
      }
    }
    this.#writeBody(record, this.requestBody, bodySide.request);
    this.#writeResponseHead(record);
    this.#writeBody(record, this.responseBody, bodySide.response);
    if (this.#answeredAt !== 0 || this.ended) this.#writeTiming(record);
    if (this.ended) this.#writeEnd(record);
    this.parts?.write(record);
  }

  #writeHead(record: RecordWriter): void {
    this.#wroteHead = true;
    const { httpVersion, rawHeaders, connection } = this.head;
    record.u8(httpTag.head);
    record.text(httpVersion);
    this.#writeFields(record, rawHeaders);
    record.connection(connection);
    record.u32(this.ordinal);
    if (this.head.unparsed) this.#writeUnparsed(record, this.head.unparsed);
  }

  #writeUnparsed(record: RecordWriter, bytes: Buffer): void {
    const { bodyLimit, bodyBudget } = this.head;
    const kept = keptBytesOf(bytes, bodyLimit, bodyBudget);
    record.u8(httpTag.unparsed);
    record.u32(bytes.length);
    record.u32(kept.length);
    record.bytes(this.head.redaction?.body(kept) ?? kept);
  }

  #writeFields(record: RecordWriter, raw: readonly string[]): void {
    const { redaction } = this.head;
    const fields = raw.length >> 1;
    record.u32(fields);
    for (let index = 0; index < fields; index++) {
      const name = raw[2 * index] as string;
      const value = raw[2 * index + 1] as string;
      record.text(name);
      record.text(redaction ? redaction.field(name, value) : value);
    }
  }

  #writeResponseHead(record: RecordWriter): void {
    if (this.#status === 0 || this.#wroteResponse) return;
    const head = this.#response ? writtenHead(this.#response) : this.#responseHead;
    // Node writes the head a little after the status is known.
    if (head === "" && !this.ended) return;
    this.#wroteResponse = true;
    const { redaction } = this.head;
    if (redaction?.mayHoldCredential(head)) {
      const { reason, headers } = parseHead(head);
      record.u8(httpTag.responseFields);
      record.u32(this.#status);
      record.text(reason);
      this.#writeFields(record, headers.flat());
    } else {
      record.u8(httpTag.responseHead);
      record.u32(this.#status);
      record.text(head);
    }
  }

  /** Redaction needs the complete body. */
  #writeBody(record: RecordWriter, body: BodyCapture, side: 0 | 1): void {
    const tag = side === bodySide.request ? httpTag.requestBody : httpTag.responseBody;
    const { redaction } = this.head;
    if (!redaction) {
      body.write(record, tag);
      if (!this.ended) body.release();
      return;
    }
    if (!this.ended || body.bytes === 0) return;
    const { kept, shown } = this.#hide(body, redaction);
    record.u8(tag);
    record.bytes(shown);
    if (shown === kept || shown.equals(kept)) return;
    record.u8(httpTag.hiddenIn);
    record.u8(side);
    record.u32(kept.length);
  }

  #preview(body: BodyCapture): string | Uint8Array {
    const { redaction } = this.head;
    return redaction ? this.#hide(body, redaction).shown.subarray(0, previewBytes) : body.start();
  }

  #hide(body: BodyCapture, redaction: HttpRedaction): HiddenBody {
    if (body.bytes === 0) return nothing;
    const known = this.#hidden;
    if (known?.of === body && known.bytes === body.bytes) return known;
    const kept = body.kept();
    this.#hidden = { of: body, bytes: body.bytes, kept, shown: redaction.body(kept) };
    return this.#hidden;
  }

  /** Milliseconds. Each phase is known once, so an open row writes them at most twice. */
  #writeTiming(record: RecordWriter): void {
    if (this.#wroteTiming && !this.ended) return;
    this.#wroteTiming = true;
    // Node reports the end of an empty body only after the handler has run.
    const receivedAt = this.requestBody.bytes === 0 && this.#answeredAt !== 0 ? this.#startedAt : this.#receivedAt;
    const isAnswered = this.#answeredAt !== 0;
    record.u8(httpTag.timing);
    record.f64(receivedAt === 0 ? Number.NaN : receivedAt - this.#startedAt);
    record.f64(isAnswered ? Math.max(0, this.#answeredAt - (receivedAt || this.#startedAt)) : Number.NaN);
    record.f64(isAnswered && this.ended ? this.#endedAt - this.#answeredAt : Number.NaN);
    record.f64(this.ended ? this.#endedAt - this.#startedAt : Number.NaN);
  }

  #writeEnd(record: RecordWriter): void {
    if (this.requestBody.isOverBudget) {
      record.u8(httpTag.overBudget);
      record.u8(bodySide.request);
    }
    if (this.responseBody.isOverBudget) {
      record.u8(httpTag.overBudget);
      record.u8(bodySide.response);
    }
    if (this.hasPartOfBody) record.u8(httpTag.partOfBody);
    if (this.#requestTrailers.length > 0) {
      record.u8(httpTag.trailers);
      this.#writeFields(record, this.#requestTrailers);
    }
    if (this.aborted !== undefined) {
      record.u8(httpTag.aborted);
      record.text(this.aborted);
    }
    if (this.closed !== undefined) {
      record.u8(httpTag.closed);
      record.u32(this.closed.code);
      record.text(this.closed.reason);
    }
  }
}

function statusTone(status: number): Tone {
  if (status >= 500) return "failed";
  if (status >= 400) return "refused";
  return status >= 300 ? "neutral" : "ok";
}

// `_header` is the head as written, with what Node itself adds; there is no public way to ask for it.
const writtenHead = (response: ServerResponse): string => (response as ServerResponse & { readonly _header?: string | null })._header ?? "";

import { toneOfGrpcStatus } from "../../../contract/services/grpc.ts";
import { previewBytes, type Tone } from "../../../contract/traffic/row.ts";
import { type BodyBudget, mostKeptBytes } from "../../core/http/connections/body-budget.ts";
import { copyOfSlice } from "../../core/http/record/body-capture.ts";
import { notQueued, type TrafficEntry } from "../../core/service/service.ts";
import { ownBytes } from "../../core/streams/own-copy.ts";
import { PendingParts } from "../../core/traffic/pending-parts.ts";
import { toMicroseconds } from "../../core/traffic/record-reader.ts";
import type { RecordWriter } from "../../core/traffic/record-writer.ts";
import { headerListBytes } from "../engine/call-metadata.ts";
import type { CallTransport, ReceivedMessage, RecordedHead, SentEnd } from "../engine/call-transport.ts";
import { prefixBytes } from "../engine/message-type.ts";
import { statusName } from "../engine/status.ts";
import { cancelled } from "../engine/stream-end.ts";
import { sharedTexts, writeHead } from "./call-head.ts";
import type { MethodCounts } from "./call-metrics.ts";
import { callTag, isCompressed, messageFlags, overBudgetFlag, type RecordedMethod } from "./call-record.ts";

/** Messages of all calls. */
export interface MessageCounts {
  received: number;
  sent: number;
}

export interface CallEntryOptions {
  readonly id: number;
  readonly head: RecordedHead;
  readonly method: RecordedMethod | undefined;
  readonly client: string;
  /** First bytes that are kept of each message; further ones as far as the budget allows. */
  readonly messageLimit: number;
  readonly messageBudget?: BodyBudget | undefined;
  readonly counts: MessageCounts;
  readonly methodCounts: MethodCounts;
  readonly touch: (entry: CallEntry) => void;
}

const noBytes: Uint8Array = new Uint8Array();
const rowTargetLength = 1_024;
/** Named in one call. */
const mostRules = 20;
const mostNotes = 20;
const noteLength = 200;

/** One call while it lasts. It holds references to messages, and is serialized only when a batch is sent. */
export class CallEntry implements TrafficEntry {
  queueSlot = notQueued;
  isAnnounced = false;
  readonly id: number;
  readonly at = Date.now();
  readonly method: RecordedMethod | undefined;
  readonly client: string;
  readonly head: RecordedHead;
  /** Of its header fields. */
  readonly headBytes: number;
  readonly methodCounts: MethodCounts;
  readonly #touch: (entry: CallEntry) => void;
  readonly #messageLimit: number;
  readonly #messageBudget: BodyBudget | undefined;
  readonly #counts: MessageCounts;
  readonly #parts = new PendingParts();
  readonly #startedAt = performance.now();
  #bytesIn = 0;
  #bytesOut = 0;
  #received = 0;
  #sent = 0;
  /** A message is not kept whole. */
  #isCut = false;
  /** The start of the first message that is not empty. */
  #preview = noBytes;
  #hasOwnPreview = false;
  #answeredAt = 0;
  #halfClosedAt = 0;
  #endedAt = 0;
  #end: SentEnd | undefined;
  #wroteHead = false;
  #wroteAnswered = false;
  #wroteHalfClose = false;
  #transport: Pick<CallTransport, "sentHeaders"> | undefined;
  #wroteHeaders = false;
  /** Reply rules, and how many of them are written. Most calls have none. */
  #rules: { readonly key: string; readonly name: string }[] | undefined;
  #wroteRules = 0;
  /** Most calls have none. */
  #notes: string[] | undefined;
  #wroteNotes = 0;
  /** Of the answer, once it is chosen. */
  responseEncoding = "identity";

  constructor({ id, head, method, client, messageLimit, messageBudget, counts, methodCounts, touch }: CallEntryOptions) {
    this.id = id;
    this.head = head;
    this.headBytes = headerListBytes(head.rawHeaders);
    this.method = method;
    this.client = client;
    this.#messageLimit = messageLimit;
    this.#messageBudget = messageBudget;
    this.#counts = counts;
    this.methodCounts = methodCounts;
    this.#touch = touch;
  }

  get path(): string {
    return this.head.path;
  }

  get received(): number {
    return this.#received;
  }

  get sent(): number {
    return this.#sent;
  }

  addReceived({ bytes, wireBytes, compressed }: ReceivedMessage): void {
    this.#received++;
    this.#counts.received++;
    this.#bytesIn += bytes.length;
    this.#add(bytes, wireBytes, messageFlags(false, compressed, this.head.codec));
  }

  /** `frame` is a prefix and a message, `wire` the same as it was sent. */
  addSent(frame: Buffer, wire: Buffer): void {
    this.#sent++;
    this.#counts.sent++;
    this.#bytesOut += frame.length - prefixBytes;
    this.#add(frame.subarray(prefixBytes), wire.length - prefixBytes, messageFlags(true, wire !== frame, this.head.codec));
  }

  #add(message: Uint8Array, wireBytes: number, flags: number): void {
    const room = this.#roomFor(message.length);
    // One of a few bytes would keep the packet in which it came.
    let kept = copyOfSlice(message.length > room ? message.subarray(0, room) : message);
    this.#isCut ||= room < message.length;
    const isOverBudget = this.#messageBudget !== undefined && room < Math.min(message.length, mostKeptBytes);
    if (this.#preview.length === 0) this.#preview = kept.subarray(0, previewBytes);
    if (isCompressed(flags)) {
      const content = Buffer.allocUnsafe(4 + kept.length);
      content.writeUInt32LE(wireBytes, 0);
      content.set(kept, 4);
      kept = content;
    }
    this.#parts.add(kept, message.length, isOverBudget ? flags | overBudgetFlag : flags);
    this.#touch(this);
  }

  /** Bytes that are kept of a message. */
  #roomFor(bytes: number): number {
    const limit = this.#messageLimit;
    const beyond = Math.min(bytes, mostKeptBytes) - limit;
    if (beyond <= 0 || !this.#messageBudget || !this.#parts.hasRoom(limit + beyond)) return limit;
    return this.#messageBudget.take(beyond) ? limit + beyond : limit;
  }

  halfClosed(): void {
    this.#halfClosedAt = performance.now();
  }

  /** The response headers are sent; `transport` has them while the call is open. */
  answered(encoding: string, transport: Pick<CallTransport, "sentHeaders">): void {
    this.#answeredAt = performance.now();
    this.#transport = transport;
    this.responseEncoding = encoding;
  }

  /** A reply rule has a part in the call. */
  ruled({ key, name }: { readonly key: string; readonly name: string }): void {
    this.#rules ??= [];
    if (this.#rules.length === mostRules || this.#rules.some((rule) => rule.key === key)) return;
    this.#rules.push({ key, name });
    this.#touch(this);
  }

  /** Something about the call that its status does not tell. */
  noted(text: string): void {
    this.#notes ??= [];
    const note = text.slice(0, noteLength);
    if (this.#notes.length === mostNotes || this.#notes.includes(note)) return;
    this.#notes.push(note);
    this.#touch(this);
  }

  end(end: SentEnd): void {
    this.#endedAt = performance.now();
    this.#transport = undefined;
    this.#end = end.aborted === cancelled && this.#isAtDeadline() ? { ...end, aborted: "cancelled at deadline" } : end;
  }

  /** The client's clock began before ours, by the way of the request, so it cancels a little earlier. */
  #isAtDeadline(): boolean {
    const { timeoutMs = Number.POSITIVE_INFINITY } = this.head;
    return this.tookMs >= timeoutMs - Math.max(20, timeoutMs / 20);
  }

  get open(): boolean {
    return this.#end === undefined;
  }

  get tookMs(): number {
    return (this.#endedAt || performance.now()) - this.#startedAt;
  }

  /** Of a connection that had no call. */
  get #isOfConnection(): boolean {
    return this.head.connectionCalls === 0;
  }

  get outcome(): string {
    if (!this.#end) return "";
    if (this.#isOfConnection) return "refused";
    const { status, httpStatus, aborted } = this.#end;
    if (httpStatus !== undefined) return `HTTP ${httpStatus}`;
    return status ? statusName(status.code) : (aborted ?? "no status");
  }

  get tone(): Tone {
    if (!this.#end) return "pending";
    const { status, httpStatus } = this.#end;
    if (httpStatus !== undefined || this.#isOfConnection) return "refused";
    return status ? toneOfGrpcStatus(status.code) : "aborted";
  }

  get reason(): string | undefined {
    const hasStatus = this.#end?.httpStatus === undefined && !this.#isOfConnection;
    const message = hasStatus ? this.#end?.status?.message : this.#end?.aborted;
    return message === "" ? undefined : message;
  }

  get heldBytes(): number {
    return 600 + this.headBytes + this.#parts.held;
  }

  dropParts(): void {
    this.#parts.drop();
    this.#keepPreview();
  }

  /** The call may stay open for hours. */
  #keepPreview(): void {
    if (this.#hasOwnPreview || this.#preview.length === 0) return;
    this.#hasOwnPreview = true;
    this.#preview = ownBytes(this.#preview);
  }

  write(record: RecordWriter): void {
    const { path } = this.head;
    const { outcome } = this;
    record.row({
      id: this.id,
      at: this.at,
      kind: "grpc-call",
      verb: this.method?.pattern ?? "unknown",
      target: path.length > rowTargetLength ? `${path.slice(0, rowTargetLength)}…` : path,
      tone: this.tone,
      outcome,
      tookMs: this.#end && toMicroseconds(this.tookMs),
      bytesIn: this.#bytesIn,
      bytesOut: this.#bytesOut,
      parts: this.#parts.total,
      partBytes: this.#parts.bytes,
      client: this.client,
      peer: this.head.connection.remote,
      preview: this.#preview,
      isCut: this.#isCut,
      reason: this.reason?.slice(0, rowTargetLength),
      shared: sharedTexts(this, outcome),
    });
    if (!this.#wroteHead) {
      this.#wroteHead = true;
      writeHead(record, this);
    }
    if (this.#answeredAt !== 0 && !this.#wroteAnswered) {
      this.#wroteAnswered = true;
      record.u8(callTag.answered);
      record.f64(this.#answeredAt - this.#startedAt);
      record.text(this.responseEncoding);
    }
    if (!this.#end && this.#transport && !this.#wroteHeaders) this.#writeHeaders(record, this.#transport.sentHeaders());
    if (this.#halfClosedAt !== 0 && !this.#wroteHalfClose) {
      this.#wroteHalfClose = true;
      record.u8(callTag.halfClose);
      record.f64(this.#halfClosedAt - this.#startedAt);
    }
    for (const rules = this.#rules; rules && this.#wroteRules < rules.length; this.#wroteRules++) {
      const { key = "", name = "" } = rules[this.#wroteRules] ?? {};
      record.u8(callTag.rule);
      record.text(key);
      record.text(name);
    }
    for (const notes = this.#notes; notes && this.#wroteNotes < notes.length; this.#wroteNotes++) {
      record.u8(callTag.note);
      record.text(notes[this.#wroteNotes] ?? "");
    }
    if (this.#end) this.#writeEnd(record, this.#end);
    else this.#keepPreview();
    this.#parts.write(record);
  }

  #writeHeaders(record: RecordWriter, headers: SentEnd["headers"]): void {
    if (!headers) return;
    this.#wroteHeaders = true;
    record.u8(callTag.responseHeaders);
    writtenHeaders.write(record, headers);
  }

  #writeEnd(record: RecordWriter, { headers, trailers, status, aborted, httpStatus }: SentEnd): void {
    if (!this.#wroteHeaders) this.#writeHeaders(record, headers);
    if (trailers) {
      record.u8(callTag.trailers);
      writtenTrailers.write(record, trailers);
    }
    if (status) {
      record.u8(callTag.status);
      record.u32(status.code);
      record.text(status.message);
    }
    if (aborted !== undefined) {
      record.u8(callTag.aborted);
      record.text(aborted);
    }
    if (httpStatus !== undefined) {
      record.u8(callTag.httpStatus);
      record.u32(httpStatus);
    }
    record.u8(callTag.counts);
    record.f64(this.#received);
    record.f64(this.#sent);
    record.u8(callTag.total);
    record.f64(this.#endedAt - this.#startedAt);
  }
}

/** Header fields or trailers. Lists that many answers share are written once, and then copied. */
class WrittenPairs {
  #seen: Pairs | undefined;
  #bytes: Buffer | undefined;

  write(record: RecordWriter, pairs: Pairs): void {
    const isRepeated = pairs === this.#seen;
    if (isRepeated && this.#bytes) {
      record.copyBytes(this.#bytes, 0, this.#bytes.length);
      return;
    }
    const from = record.length;
    record.pairs(pairs);
    this.#seen = pairs;
    this.#bytes = isRepeated ? record.bytesFrom(from) : undefined;
  }
}

type Pairs = NonNullable<SentEnd["headers"]>;
const writtenHeaders = new WrittenPairs();
const writtenTrailers = new WrittenPairs();

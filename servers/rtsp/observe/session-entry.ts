import type { ConnectionHead } from "../../../contract/traffic/connection.ts";
import { redactTarget } from "../../../contract/traffic/redact-target.ts";
import { previewBytes, type RowMedia, type Tone } from "../../../contract/traffic/row.ts";
import { type RtspRole, type RtspSessionTrack, rtspRoles } from "../../../contract/traffic/rtsp.ts";
import { shownAddress } from "../../core/credentials/masked-secrets.ts";
import { type BodyBudget, keptBytesOf } from "../../core/http/connections/body-budget.ts";
import { notQueued, type TrafficEntry } from "../../core/service/service.ts";
import { PendingParts } from "../../core/traffic/pending-parts.ts";
import type { RecordWriter } from "../../core/traffic/record-writer.ts";
import { parseTarget } from "../protocol/header-fields.ts";
import { headerOf, type RtspRequest, type RtspStatus, reasons } from "../protocol/message.ts";
import { mediaOf, type SessionTrack } from "./session-media.ts";
import { sentFlag, sessionTag } from "./session-record.ts";

/** What a row has of its session: one of RTSP, a publisher by RTMP, or a reader over HTTP. */
export interface RecordedSession {
  /** Of the Session header; empty where it cannot be ended. */
  readonly id: string;
  readonly path: string;
  readonly role: Exclude<RtspRole, "none">;
  readonly state: "ready" | "playing" | "recording";
  readonly user: string | undefined;
  readonly mediaBytes: { readonly received: number; readonly sent: number };
  /** What a client over TCP has not taken yet. */
  readonly unsentBytes?: number;
  describeTracks(): readonly SessionTrack[];
  end(reason: string, by: EndedBy): void;
}

/** Who ended a session: a client does not know yet of what the server or a fault ended; a fault closes its connection without a word. */
export type EndedBy = "client" | "server" | "fault";

/** Of the connection by which the first request came. */
export interface EntryConnection extends ConnectionHead {
  /** Requests and packets pass through HTTP. */
  readonly isTunnel: boolean;
}

export interface SessionEntryOptions {
  readonly id: number;
  readonly connection: EntryConnection;
  readonly clientName: (userAgent: string | undefined) => string;
  /** Bytes that are kept of each request and answer. */
  readonly messageLimit: number;
  /** For what is longer. */
  readonly messageBudget: BodyBudget | undefined;
  readonly touch: (entry: SessionEntry) => void;
}

const leastStateMs = 5_000;

/** The row of one session, from its first request to its end; also of requests that never became one. */
export class SessionEntry implements TrafficEntry {
  queueSlot = notQueued;
  isAnnounced = false;
  readonly id: number;
  readonly at = Date.now();
  client = "";
  path = "";
  session: RecordedSession | undefined;
  readonly #options: SessionEntryOptions;
  readonly #parts = new PendingParts();
  readonly #beganMs = performance.now();
  #remote: string;
  #userAgent = "";
  #serverUri = "";
  #method = "";
  #status: RtspStatus | undefined;
  /** Why the last request was refused. */
  #reason: string | undefined;
  #messageBytesIn = 0;
  #messageBytesOut = 0;
  #startedMs = 0;
  #preview = "";
  #end: { readonly text: string; readonly tone: Tone; readonly totalMs: number } | undefined;
  #wroteHead = false;
  #isStateNew = true;
  #wroteStateMs = 0;
  /** As of the last state. */
  #media: RowMedia | undefined;

  constructor(options: SessionEntryOptions) {
    this.id = options.id;
    this.#options = options;
    this.#remote = options.connection.remote;
  }

  get open(): boolean {
    return this.#end === undefined;
  }

  get role(): RtspRole {
    return this.session?.role ?? "none";
  }

  get status(): RtspStatus | undefined {
    return this.#status;
  }

  get reason(): string | undefined {
    return this.#reason;
  }

  /** "/camera", or the URI as it came where it names no path: "*", "rtsp://host/". */
  get target(): string {
    return this.path === "" ? this.#serverUri || "*" : `/${this.path}`;
  }

  get tookMs(): number {
    return this.#end?.totalMs ?? performance.now() - this.#beganMs;
  }

  get remote(): string {
    return this.#remote;
  }

  /** "play", "publish", or the last method where there is no session. */
  get verb(): string {
    if (this.role === "none") return this.#method;
    return this.role === "read" ? "play" : "publish";
  }

  /** Of a session without requests of RTSP: a publisher by RTMP, or a reader over HTTP. */
  begins(method: string, userAgent: string, preview: string): void {
    this.#method = method;
    this.#nameClient(userAgent);
    this.#preview = preview.slice(0, previewBytes);
    this.#options.touch(this);
  }

  #nameClient(userAgent: string): void {
    this.#userAgent = userAgent.slice(0, 300);
    this.client = this.#options.clientName(this.#userAgent);
  }

  received(request: RtspRequest): void {
    const { method, uri, headers, head, body } = request;
    this.#method = method;
    this.#reason = undefined;
    if (this.path === "") {
      this.path = parseTarget(uri)?.path ?? "";
      this.#serverUri ||= shownAddress(uri).slice(0, 300);
    }
    const userAgent = headerOf(headers, "User-Agent");
    if (userAgent !== undefined && this.#userAgent === "") this.#nameClient(userAgent);
    const bytes = head.length + body.length;
    this.#messageBytesIn += bytes;
    // The head has credentials, and the URI may.
    if (this.#preview === "") this.#preview = `${method} ${shownAddress(uri)}`.slice(0, previewBytes);
    this.#add(body.length === 0 ? head : Buffer.concat([head, body]), bytes, 0);
  }

  sent(bytes: Buffer, status: RtspStatus): void {
    this.#status = status;
    this.#messageBytesOut += bytes.length;
    if (status === 200 && this.#startedMs === 0 && (this.#method === "PLAY" || this.#method === "RECORD")) {
      this.#startedMs = performance.now() - this.#beganMs;
    }
    this.#add(bytes, bytes.length, sentFlag);
  }

  /** The message is copied: a view would hold the whole buffer that it came in. */
  #add(message: Buffer, bytes: number, flags: number): void {
    this.#isStateNew = true;
    const { messageLimit, messageBudget } = this.#options;
    this.#parts.add(Buffer.from(keptBytesOf(message, messageLimit, messageBudget)), bytes, flags);
    this.#options.touch(this);
  }

  failed(reason: string, status = this.#status): void {
    this.#status = status;
    this.#reason = redactTarget(reason.slice(0, 500));
  }

  end(text: string, tone: Tone): void {
    this.#isStateNew = true;
    this.#end = { text, tone, totalMs: performance.now() - this.#beganMs };
  }

  get outcome(): string {
    if (this.#end) return this.#end.text;
    if (this.session) return this.session.state;
    return this.#status === undefined ? "" : `${this.#status} ${reasons[this.#status]}`;
  }

  get heldBytes(): number {
    return 1_000 + this.#parts.held;
  }

  dropParts(): void {
    this.#parts.drop();
  }

  write(record: RecordWriter): void {
    const media = this.session?.mediaBytes ?? { received: 0, sent: 0 };
    // What is written stays with the row: counts of a long session are written in steps that grow with it.
    const nowMs = performance.now();
    const isStateDue = this.#isStateNew || nowMs - this.#wroteStateMs > Math.max(leastStateMs, (nowMs - this.#beganMs) / 20);
    const tracks = isStateDue ? (this.session?.describeTracks() ?? []) : [];
    if (isStateDue && this.session) this.#media = mediaOf(tracks);
    record.row({
      id: this.id,
      at: this.at,
      kind: "rtsp",
      verb: this.verb,
      target: this.target,
      tone: this.#end?.tone ?? "pending",
      outcome: this.outcome,
      tookMs: this.#end && Math.round(this.#end.totalMs * 1_000) / 1_000,
      bytesIn: this.#messageBytesIn + media.received,
      bytesOut: this.#messageBytesOut + media.sent,
      parts: this.#parts.total,
      partBytes: this.#parts.bytes,
      client: this.client,
      peer: this.#remote,
      preview: this.#preview,
      user: this.session?.user,
      reason: this.#reason,
      media: this.#media,
    });
    if (!this.#wroteHead) this.#writeHead(record);
    if (isStateDue) {
      this.#isStateNew = false;
      this.#wroteStateMs = nowMs;
      this.#writeState(record, tracks);
    }
    this.#parts.write(record);
  }

  #writeHead(record: RecordWriter): void {
    this.#wroteHead = true;
    const { connection } = this.#options;
    record.u8(sessionTag.head);
    record.connection(connection);
    record.u8(connection.isTunnel ? 1 : 0);
  }

  /** All that changes; a later piece replaces the one before. */
  #writeState(record: RecordWriter, tracks: readonly RtspSessionTrack[]): void {
    record.u8(sessionTag.state);
    record.text(this.session?.id ?? "");
    record.u8(rtspRoles.indexOf(this.role));
    record.text(this.path);
    record.text(this.#userAgent);
    record.f64(this.#startedMs);
    record.text(this.#end?.text ?? "");
    record.f64(this.#end?.totalMs ?? Number.NaN);
    record.u8(tracks.length);
    for (const { index, codec, transport, packets, bytes, dropped, lost, lossFraction, jitterMs } of tracks) {
      record.u8(index);
      record.text(codec);
      record.text(transport);
      for (const count of [packets, bytes, dropped, lost ?? Number.NaN, lossFraction ?? Number.NaN, jitterMs ?? Number.NaN])
        record.f64(count);
    }
  }
}

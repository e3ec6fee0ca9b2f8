import { previewBytes, type Tone } from "../../../../contract/traffic/row.ts";
import { notQueued, type TrafficEntry } from "../../service/service.ts";
import { PendingParts } from "../../traffic/pending-parts.ts";
import type { RecordWriter } from "../../traffic/record-writer.ts";
import { mostKeptBytes } from "../connections/body-budget.ts";
import { copyOfSlice } from "../record/body-capture.ts";
import type { HttpEntry } from "../record/http-entry.ts";
import { echoFlags, messageFlags } from "../record/http-record.ts";

export interface MessageFacts {
  readonly binary: boolean;
  /** Sent by the service; false for a received message. */
  readonly sent: boolean;
}

export interface MessageEnd {
  readonly tone: Tone;
  /** "echoed", "not sent". */
  readonly outcome: string;
  /** Bytes sent in reply. */
  readonly bytesBack: number;
}

/** One message of a WebSocket. Its bytes are a part of the connection; its record contains the part's index. */
export class WebSocketMessageEntry implements TrafficEntry {
  queueSlot = notQueued;
  isAnnounced = false;
  readonly id: number;
  readonly #connection: HttpEntry;
  readonly #facts: MessageFacts;
  readonly #at = Date.now();
  readonly #startedAt = performance.now();
  readonly #bytes: number;
  readonly #start: Uint8Array;
  readonly #index: number;
  readonly #isCut: boolean;
  #tookMs = 0;
  #ended: MessageEnd | undefined;
  #wroteIndex = false;

  constructor(id: number, connection: HttpEntry, bytes: Buffer, facts: MessageFacts) {
    const { bodyLimit, bodyBudget, redaction } = connection.head;
    connection.parts ??= new PendingParts();
    const mayBeWhole = bytes.length > bodyLimit && bytes.length <= mostKeptBytes && connection.parts.hasRoom(bytes.length);
    const isWhole = mayBeWhole && bodyBudget?.take(bytes.length - bodyLimit) === true;
    const kept = copyOfSlice(isWhole ? bytes : bytes.subarray(0, bodyLimit));
    const content = redaction ? redaction.body(kept) : kept;
    this.id = id;
    this.#connection = connection;
    this.#facts = facts;
    this.#bytes = bytes.length;
    this.#isCut = kept.length < bytes.length;
    this.#start = content.subarray(0, previewBytes);
    const isOverBudget = mayBeWhole && !isWhole && bodyBudget !== undefined;
    this.#index = connection.parts.add(content, bytes.length, messageFlags(facts.binary, facts.sent, isOverBudget), id);
  }

  get connection(): HttpEntry {
    return this.#connection;
  }

  get heldBytes(): number {
    return 300 + this.#start.length;
  }

  get open(): boolean {
    return this.#ended === undefined;
  }

  end(ended: MessageEnd): void {
    this.#tookMs = performance.now() - this.#startedAt;
    this.#ended = ended;
    if (ended.tone === "ok" && !this.#connection.ended) this.#addEcho(ended.bytesBack);
  }

  /** The bytes are kept once. */
  #addEcho(bytes: number): void {
    const index = Buffer.allocUnsafe(4);
    index.writeUInt32LE(this.#index);
    this.#connection.parts?.add(index, bytes, echoFlags(this.#facts.binary), this.id);
  }

  write(record: RecordWriter): void {
    const { head, id: parent } = this.#connection;
    const target = head.redaction?.target(head.target) ?? head.target;
    const { binary, sent } = this.#facts;
    const ended = this.#ended;
    const back = ended?.bytesBack ?? 0;
    record.row({
      id: this.id,
      parent,
      at: this.#at,
      kind: "websocket-message",
      verb: binary ? "binary" : "text",
      target: target.slice(0, rowTargetLength),
      tone: ended?.tone ?? "pending",
      outcome: ended?.outcome ?? "",
      tookMs: ended && Math.round(this.#tookMs * 1_000) / 1_000,
      bytesIn: sent ? back : this.#bytes,
      bytesOut: sent ? this.#bytes : back,
      client: head.client,
      peer: head.connection.remote,
      preview: this.#start,
      isCut: this.#isCut,
    });
    if (this.#wroteIndex) return;
    this.#wroteIndex = true;
    record.u32(this.#index);
  }
}

/** The connection's row has more of it. */
const rowTargetLength = 200;

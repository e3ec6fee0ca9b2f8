import { previewBytes } from "../../../contract/traffic/row.ts";
import { webrtcDialects, webrtcSignalKinds } from "../../../contract/traffic/webrtc.ts";
import { type BodyBudget, keptBytesOf } from "../../core/http/connections/body-budget.ts";
import { notQueued, type TrafficEntry } from "../../core/service/service.ts";
import type { RecordWriter } from "../../core/traffic/record-writer.ts";
import { serviceId } from "../signalling/hub.ts";
import type { SignalFact } from "../signalling/signalling-observer.ts";
import { type PeerEntry, rowTextLength } from "./peer-entry.ts";
import { arriving, outcomeOf, type PassedFact } from "./signal-outcome.ts";

export interface SignalEntryParts {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Of the client. */
  readonly parent: PeerEntry | undefined;
  /** That it went to, or in which both peers are. */
  readonly commonRoom: string | undefined;
  /** What the one peer calls itself that it is for, if it is known. */
  readonly receiverName: string | undefined;
  readonly messageLimit: number;
  /** For what is longer. */
  readonly messageBudget: BodyBudget | undefined;
}

/** A message of a client, or of the dashboard. Its row is open while a fault holds it back. */
export class SignalEntry implements TrafficEntry {
  queueSlot = notQueued;
  isAnnounced = false;
  readonly id: number;
  readonly #fact: PassedFact;
  readonly #parts: SignalEntryParts;
  readonly #peer: SignalFact["peer"];
  readonly #bytes: number;
  /** All that is recorded of it, and once that is written what the row shows. */
  #content: Uint8Array;
  #wroteContent = false;

  constructor(id: number, { raw, peer, ...fact }: SignalFact, parts: SignalEntryParts) {
    this.id = id;
    this.#fact = fact;
    this.#parts = parts;
    this.#peer = peer;
    const bytes = typeof raw === "string" ? Buffer.from(raw) : raw;
    const kept = keptBytesOf(Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes), parts.messageLimit, parts.messageBudget);
    // A part of a much longer message would keep all of it.
    this.#content = bytes.length > 2 * kept.length ? Buffer.from(kept) : kept;
    this.#bytes = bytes.length;
  }

  get open(): boolean {
    return this.#fact.held?.isOver === false;
  }

  get heldBytes(): number {
    return 300 + this.#content.length;
  }

  write(record: RecordWriter): void {
    const [peer, content] = [this.#peer, this.#content];
    const { kind, to, room, held } = this.#fact;
    const { at, parent, commonRoom = "", receiverName } = this.#parts;
    const { isLost, ...outcome } = outcomeOf(this.#fact);
    record.row({
      id: this.id,
      parent: parent?.id,
      at,
      kind: "webrtc-signal",
      verb: kind,
      target: to?.slice(0, rowTextLength) ?? (room === undefined ? "" : `#${room.slice(0, rowTextLength)}`),
      tone: outcome.tone,
      outcome: outcome.text,
      tookMs: this.open ? undefined : held ? Date.now() - at : 0,
      bytesIn: this.#bytes,
      bytesOut: 0,
      client: parent?.client ?? "",
      peer: peer?.facts.connection.remote ?? "",
      preview: content.subarray(0, previewBytes),
      // Of one without a name its identifier: the row outlives the peer.
      user: peer && (peer.name || peer.id.slice(0, rowTextLength)),
      peerName: receiverName || undefined,
      reason: outcome.reason,
    });
    const waiting = held?.waiting ?? 0;
    const deliveries = arriving(this.#fact) - waiting;
    if (this.#wroteContent) {
      record.u8(isLost ? 1 : 0);
      record.u32(deliveries);
      return;
    }
    record.u8(webrtcSignalKinds.indexOf(kind));
    record.u8(webrtcDialects.indexOf(peer?.dialect ?? "service"));
    record.text(peer?.id ?? serviceId);
    record.text(to?.slice(0, rowTextLength) ?? "");
    record.text(commonRoom.slice(0, rowTextLength));
    // When the process ends now, what waits is lost.
    record.u8(isLost || (waiting > 0 && deliveries === 0) ? 1 : 0);
    record.u32(deliveries);
    record.u32(this.#bytes);
    record.bytes(content);
    this.#wroteContent = true;
    if (this.open) this.#content = Buffer.from(content.subarray(0, previewBytes));
  }
}

import { previewBytes, type Tone } from "../../../contract/traffic/row.ts";
import { webrtcDialects, webrtcSignalKinds } from "../../../contract/traffic/webrtc.ts";
import { type BodyBudget, keptBytesOf } from "../../core/http/connections/body-budget.ts";
import { notQueued, type TrafficEntry } from "../../core/service/service.ts";
import type { RecordWriter } from "../../core/traffic/record-writer.ts";
import { serviceId } from "../signalling/hub.ts";
import type { Peer } from "../signalling/peer.ts";
import type { SignalFact } from "../signalling/signalling-observer.ts";
import { outcomeOf } from "./signal-outcome.ts";
import { peerTag } from "./webrtc-records.ts";

const rowTextLength = 300;

/** The row of a client, from its connection to its end. */
export class PeerEntry implements TrafficEntry {
  queueSlot = notQueued;
  isAnnounced = false;
  readonly id: number;
  readonly client: string;
  readonly #peer: Peer;
  #wroteHead = false;
  #isStateNew = true;
  #end: { readonly text: string; readonly tone: Tone; readonly totalMs: number } | undefined;

  constructor(id: number, peer: Peer, client: string) {
    this.id = id;
    this.#peer = peer;
    this.client = client;
  }

  get open(): boolean {
    return this.#end === undefined;
  }

  get heldBytes(): number {
    return 500;
  }

  get totalMs(): number {
    return this.#end?.totalMs ?? Date.now() - this.#peer.since;
  }

  /** Its name or its rooms have changed. */
  changed(): void {
    this.#isStateNew = true;
  }

  /** `at` is in milliseconds since the epoch. */
  end(text: string, tone: Tone, at: number): void {
    this.#isStateNew = true;
    this.#end = { text, tone, totalMs: at - this.#peer.since };
  }

  write(record: RecordWriter): void {
    const { id, name, dialect, since, received, receivedBytes, sent, facts } = this.#peer;
    const rooms = this.#peer.rooms.map((room) => room.name);
    record.row({
      id: this.id,
      at: since,
      kind: "webrtc-peer",
      verb: dialect,
      target: id.slice(0, rowTextLength),
      tone: this.#end?.tone ?? "pending",
      outcome: this.#end?.text ?? "connected",
      tookMs: this.#end?.totalMs,
      bytesIn: receivedBytes,
      bytesOut: facts.link.sentBytes,
      client: this.client,
      peer: facts.connection.remote,
      preview: rooms.join(", ").slice(0, previewBytes),
      user: name === "" ? undefined : name,
    });
    if (!this.#wroteHead) {
      this.#wroteHead = true;
      record.u8(peerTag.head);
      record.connection(facts.connection);
      record.u8(webrtcDialects.indexOf(dialect));
      record.text(facts.userAgent);
      record.text(facts.origin ?? "");
    }
    if (!this.#isStateNew) return;
    this.#isStateNew = false;
    record.u8(peerTag.state);
    record.text(name);
    record.u32(rooms.length);
    for (const room of rooms) record.text(room);
    record.f64(received);
    record.f64(sent);
    record.text(this.#end?.text ?? "");
    record.f64(this.#end?.totalMs ?? Number.NaN);
  }
}

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

/** A message of a client, or of the dashboard: it is written once. */
export function signalEntry(
  id: number,
  fact: SignalFact,
  { at, parent, commonRoom = "", receiverName, messageLimit, messageBudget }: SignalEntryParts,
): TrafficEntry {
  const { kind, peer, to, room, raw, deliveries } = fact;
  const outcome = outcomeOf(fact);
  const bytes = typeof raw === "string" ? Buffer.from(raw) : raw;
  const kept = keptBytesOf(Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes), messageLimit, messageBudget);
  // A part of a much longer message would keep all of it.
  const content = bytes.length > 2 * kept.length ? Buffer.from(kept) : kept;
  return {
    id,
    heldBytes: 300 + content.length,
    open: false,
    queueSlot: notQueued,
    isAnnounced: false,
    write(record) {
      record.row({
        id,
        parent: parent?.id,
        at,
        kind: "webrtc-signal",
        verb: kind,
        target: to?.slice(0, rowTextLength) ?? (room === undefined ? "" : `#${room.slice(0, rowTextLength)}`),
        tone: outcome.tone,
        outcome: outcome.text,
        tookMs: 0,
        bytesIn: bytes.length,
        bytesOut: 0,
        client: parent?.client ?? "",
        peer: peer?.facts.connection.remote ?? "",
        preview: content.subarray(0, previewBytes),
        // Of one without a name its identifier: the row outlives the peer.
        user: peer && (peer.name || peer.id.slice(0, rowTextLength)),
        peerName: receiverName || undefined,
        reason: outcome.reason,
      });
      record.u8(webrtcSignalKinds.indexOf(kind));
      record.u8(webrtcDialects.indexOf(peer?.dialect ?? "service"));
      record.text(peer?.id ?? serviceId);
      record.text(to?.slice(0, rowTextLength) ?? "");
      record.text(commonRoom.slice(0, rowTextLength));
      record.u8(outcome.isLost ? 1 : 0);
      record.u32(deliveries);
      record.u32(bytes.length);
      record.bytes(content);
    },
  };
}

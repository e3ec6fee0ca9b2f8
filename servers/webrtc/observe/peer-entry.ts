import { previewBytes, type Tone } from "../../../contract/traffic/row.ts";
import { webrtcDialects } from "../../../contract/traffic/webrtc.ts";
import { notQueued, type TrafficEntry } from "../../core/service/service.ts";
import type { RecordWriter } from "../../core/traffic/record-writer.ts";
import type { Peer } from "../signalling/peer.ts";
import { peerTag } from "./webrtc-records.ts";

/** Of its texts. */
export const rowTextLength = 300;

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

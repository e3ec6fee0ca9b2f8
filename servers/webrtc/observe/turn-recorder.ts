import type { TurnAllocationHistory, TurnAllocationView } from "../../../contract/services/webrtc.ts";
import type { Tone } from "../../../contract/traffic/row.ts";
import { notQueued, type TrafficEntry, type TrafficSink } from "../../core/service/service.ts";
import type { CloseReason } from "../turn/allocation-table.ts";
import { parseTimeLimitedName } from "../turn/time-limited-credentials.ts";
import type { AllocationState, TurnObserver, TurnRequestEvent } from "../turn/turn-observer.ts";
import { AllocationEntry, socketText } from "./allocation-entry.ts";
import { turnTransports } from "./turn-records.ts";

const rowTextLength = 300;
/** Of a request, and of its answer. */
const mostMessageBytes = 2_048;

const tones: Readonly<Record<CloseReason, Tone>> = {
  "refreshed with lifetime 0": "ok",
  expired: "neutral",
  "connection closed": "neutral",
  "closed on request": "failed",
  "all places or ports are taken, and its address has most of them": "failed",
  "service stops": "neutral",
};

/** Rows of STUN and TURN. The engine writes the log lines. */
export class TurnRecorder implements TurnObserver {
  readonly #traffic: TrafficSink;
  readonly #entries = new Map<number, AllocationEntry>();
  readonly #nameOf: (user: string) => string | undefined;
  requests = 0;

  /** `nameOf`: what the peer calls itself to whom credentials were given. */
  constructor(traffic: TrafficSink, nameOf: (user: string) => string | undefined) {
    this.#traffic = traffic;
    this.#nameOf = nameOf;
  }

  onRequest(event: TurnRequestEvent): void {
    this.requests++;
    const parent = event.allocation === undefined ? undefined : this.#entries.get(event.allocation)?.id;
    const user = event.username === undefined ? undefined : (parseTimeLimitedName(event.username)?.user ?? event.username);
    const peerName = user === undefined ? undefined : this.#nameOf(user);
    this.#traffic.end(requestEntry(this.#traffic.nextId(), event, parent, peerName));
  }

  onOpened(state: AllocationState): void {
    const entry = new AllocationEntry(this.#traffic.nextId(), state, this.#nameOf);
    this.#entries.set(state.id, entry);
    this.#traffic.touch(entry);
  }

  onClosed(state: AllocationState, reason: CloseReason): void {
    const entry = this.#entries.get(state.id);
    if (!entry) return;
    this.#entries.delete(state.id);
    entry.end(state, reason, tones[reason]);
    this.#traffic.end(entry);
  }

  /** Once a second, with all that are open. */
  tick(states: readonly AllocationState[]): void {
    const nowMs = performance.now();
    for (const state of states) {
      const entry = this.#entries.get(state.id);
      if (!entry) continue;
      entry.update(state, nowMs);
      this.#traffic.touch(entry);
    }
  }

  /** The newest ones. */
  views(most: number): { readonly allocations: readonly TurnAllocationView[]; readonly more: number } {
    const newest = [...this.#entries.values()].slice(-most).reverse();
    return { allocations: newest.map((entry) => entry.view()), more: this.#entries.size - newest.length };
  }

  historyOf(allocation: number): TurnAllocationHistory | undefined {
    return this.#entries.get(allocation)?.history;
  }
}

const noBytes = Buffer.alloc(0);

/** A copy: what was read is a part of a larger buffer. */
const keptOf = (message: Buffer): Buffer => Buffer.from(message.subarray(0, mostMessageBytes));

function requestEntry(id: number, event: TurnRequestEvent, parent: number | undefined, peerName: string | undefined): TrafficEntry {
  const { client, method, code, why, username, software } = event;
  const at = Date.now();
  const request = keptOf(event.request);
  const answer = event.answer && keptOf(event.answer);
  const [bytesIn, bytesOut] = [event.request.length, event.answer?.length ?? 0];
  // The first request of a client is without credentials: it only asks for the nonce.
  const isChallenge = code === 401 && username === undefined;
  return {
    id,
    heldBytes: 500 + request.length + (answer?.length ?? 0),
    open: false,
    queueSlot: notQueued,
    isAnnounced: false,
    write(record) {
      record.row({
        id,
        parent,
        at,
        kind: "turn-request",
        verb: method,
        target: client.transport.toUpperCase(),
        tone: code === 0 ? "ok" : isChallenge ? "neutral" : "refused",
        outcome: code === 0 ? "success" : String(code),
        tookMs: 0,
        bytesIn,
        bytesOut,
        client: software?.slice(0, rowTextLength) ?? "",
        peer: socketText(client),
        preview: "",
        user: username?.slice(0, rowTextLength),
        peerName,
        reason: why,
      });
      record.u8(turnTransports.indexOf(client.transport));
      record.u32(code);
      record.text(username?.slice(0, rowTextLength) ?? "");
      record.text(software?.slice(0, rowTextLength) ?? "");
      record.bytes(request);
      record.bytes(answer ?? noBytes);
    },
  };
}

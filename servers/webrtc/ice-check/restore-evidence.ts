import { isSampleAgent } from "../../../contract/sample-traffic.ts";
import type { TrafficRow } from "../../../contract/traffic/row.ts";
import type { TurnAllocation } from "../../../contract/traffic/webrtc.ts";
import { RecordError } from "../../core/traffic/record-reader.ts";
import type { KeptRecord } from "../../core/traffic/row-record.ts";
import { readTurnAllocation, readTurnRequest } from "../observe/turn-records.ts";
import { readPeer, readRecordedSignal } from "../observe/webrtc-records.ts";
import { noImpairment } from "../turn/impairment.ts";
import type { IceChecks } from "./ice-checks.ts";
import type { SeenRelay } from "./ice-side.ts";
import { hostOf } from "./networks.ts";
import type { RequestHistory } from "./request-history.ts";
import type { PassedSignal, SignalHistory } from "./signal-history.ts";

/** What the ladder and the ICE check know. */
export interface Evidence {
  readonly signals: SignalHistory;
  readonly requests: RequestHistory;
  readonly checks: IceChecks;
}

/** Restores what the peers of earlier runs signalled and asked for, from the records that the supervisor kept. */
export async function restoreEvidence(kept: AsyncIterable<KeptRecord>, evidence: Evidence): Promise<void> {
  const reader = new EvidenceReader(evidence);
  for await (const record of kept) {
    try {
      reader.read(record);
    } catch (error) {
      // An unreadable record must not hide the others.
      if (!(error instanceof RecordError)) throw error;
    }
  }
  reader.finish();
}

/** Of a relay or a peer whose end was not recorded. */
const lostWithService = "the service ended";

interface PeerEnd extends Pick<PassedSignal, "row" | "dialect" | "from" | "outcome"> {
  readonly room: string;
  /** Undefined where it was not recorded. */
  readonly at: number | undefined;
  readonly since: number;
}

class EvidenceReader {
  readonly #evidence: Evidence;
  readonly #peers = new Set<string>();
  readonly #samples = new Set<string>();
  readonly #names = new Map<string, string>();
  readonly #ends: PeerEnd[] = [];
  /** When each peer sent its last signal, in milliseconds since the epoch. */
  readonly #lastAt = new Map<string, number>();

  constructor(evidence: Evidence) {
    this.#evidence = evidence;
  }

  read(record: KeptRecord): void {
    switch (record.row.kind) {
      case "webrtc-peer":
        this.#peer(record);
        return;
      case "webrtc-signal":
        this.#signal(record);
        return;
      case "turn-request": {
        const { username, ...request } = readTurnRequest(record);
        this.#evidence.requests.add({ ...request, username }, (user) => this.#peers.has(user));
        return;
      }
      case "turn-allocation":
        this.#evidence.requests.addClosed(relayOf(readTurnAllocation(record), record.row));
        return;
      default:
    }
  }

  /** The end of a peer is written to its row, which comes before its signals. */
  finish(): void {
    const { signals } = this.#evidence;
    for (const { at, since, ...end } of this.#ends) {
      const endedAt = at ?? this.#lastAt.get(end.from) ?? since;
      signals.add({ ...end, ...this.#markOf(end.from), at: endedAt, kind: "leave", isEnd: true, bytes: 0, message: "" });
    }
    signals.restored(this.#names);
  }

  #signal(record: KeptRecord): void {
    const { id, at, from, to, room, dialect, signal, outcome, isLost, bytes, message } = readRecordedSignal(record);
    this.#lastAt.set(from, at);
    this.#evidence.signals.add({
      ...{ row: id, at, kind: signal, dialect, from, outcome, bytes, message: message.toString("utf8") },
      ...(to !== undefined && { to }),
      ...(room !== undefined && { room }),
      ...(isLost && { isLost }),
      ...this.#markOf(from),
    });
  }

  readonly #markOf = (peer: string): { readonly isSample?: true } => (this.#samples.has(peer) ? { isSample: true } : {});

  #peer(record: KeptRecord): void {
    const { id, at, peer, dialect, name, rooms, userAgent, ended, totalMs } = readPeer(record);
    this.#peers.add(peer);
    if (isSampleAgent(userAgent)) this.#samples.add(peer);
    if (name !== "") this.#names.set(peer, name);
    this.#evidence.checks.noteKnown(peer, { name, address: hostOf(record.row.peer), since: at });
    const [room] = rooms;
    if (room === undefined) return;
    const outcome = ended ?? lostWithService;
    this.#ends.push({ row: id, dialect, from: peer, room, outcome, at: totalMs === undefined ? undefined : at + totalMs, since: at });
  }
}

/** Of its data only the counts are recorded. */
function relayOf(allocation: TurnAllocation, { at, tookMs = 0 }: Pick<TrafficRow, "at" | "tookMs">): SeenRelay {
  const { user, relayed, transport, permissions, channels, toPeers, fromPeers, ended = lostWithService } = allocation;
  const endedAt = at + tookMs;
  return {
    ...{ allocation: allocation.allocation, user, transport, permissions, closed: ended, impairment: noImpairment },
    relayed: relayed.join(", "),
    addresses: relayed,
    channels: channels.map(({ peer }) => peer),
    toPeers: toPeers.datagrams,
    fromPeers: fromPeers.datagrams,
    lastToPeersAt: toPeers.datagrams > 0 ? endedAt : 0,
    lastFromPeersAt: fromPeers.datagrams > 0 ? endedAt : 0,
    lastRequestAt: at,
  };
}

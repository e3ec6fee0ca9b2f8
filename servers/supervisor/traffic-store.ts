import type { TrafficPage } from "../../contract/control.ts";
import type { ServiceId } from "../../contract/service.ts";
import type { Detail, DetailPartPage } from "../../contract/traffic/detail.ts";
import type { Tone, TrafficRow } from "../../contract/traffic/row.ts";
import type { ServiceBatch } from "../core/service/link.ts";
import { outboxLimits } from "../core/traffic/outbox.ts";
import { type BoundedRing, createBoundedRing, type RingLimits } from "./bounded-ring.ts";
import { textBytes } from "./text-bytes.ts";

interface Kept {
  readonly row: TrafficRow;
  /** JSON, parsed when someone looks at it. */
  readonly detail: string;
}

export interface TrafficQuery {
  readonly before?: number | undefined;
  readonly text: string;
  readonly tone: "all" | "ok" | "redirect" | "refused" | "failed";
  readonly parent?: number | undefined;
  readonly limit: number;
}

/** What passed through one service, kept beyond its process's life. */
export interface TrafficStore {
  /** Stores a batch and returns its rows. */
  add(batch: ServiceBatch): readonly TrafficRow[];
  read(query: TrafficQuery): TrafficPage;
  detail(row: number): Detail | null;
  parts(row: number, from: number | undefined, limit: number): DetailPartPage | null;
  /** Ends the rows that a process left open when it died. */
  abandon(outcome: string): readonly TrafficRow[];
  clear(): number;
  restore(): number;
  limit(limits: RingLimits): void;
  /** Rows that the service could not hand over, since its first start. */
  readonly dropped: number;
  /** The id with which the next process of the service begins. */
  nextId(): number;
}

/** What a row costs beside its detail and preview, as measured with 50,000 rows. */
const rowBytes = 400;
const bytesOf = ({ row, detail }: Kept) => rowBytes + textBytes(row.preview) + textBytes(row.target) + textBytes(detail);

export function createTrafficStore(service: ServiceId, limits: RingLimits): TrafficStore {
  let ring = createBoundedRing<Kept>(limits);
  let cleared: BoundedRing<Kept> | undefined;
  let ringLimits = limits;
  const open = new Map<number, TrafficRow>();
  let nextId = 1;
  let total = 0;
  /** Of earlier processes, and of the one that runs. */
  let droppedBefore = 0;
  let droppedNow = 0;

  function keep(row: TrafficRow, detail: string) {
    const kept = { row, detail };
    const bytes = bytesOf(kept);
    if (open.has(row.id)) {
      if (!ring.replace(row.id, kept, bytes)) cleared?.replace(row.id, kept, bytes);
    } else {
      ring.add(row.id, kept, bytes);
      total++;
    }
    if (row.tone === "pending") open.set(row.id, row);
    else open.delete(row.id);
    nextId = Math.max(nextId, row.id + 1);
  }

  return {
    add(batch) {
      const rows = JSON.parse(batch.rows) as TrafficRow[];
      rows.forEach((row, index) => {
        (row as { service: ServiceId }).service = service;
        keep(row, batch.details[index] ?? "null");
      });
      droppedNow = batch.droppedRows;
      return rows;
    },
    read(query) {
      const matches = createMatcher(query);
      const rows: TrafficRow[] = [];
      let matching = 0;
      for (const { row } of ring.newestFirst()) {
        if (!matches(row)) continue;
        matching++;
        if (rows.length < query.limit && (query.before === undefined || row.id < query.before)) rows.push(row);
      }
      const dropped = droppedBefore + droppedNow;
      return { rows, matching, kept: ring.size, total: total + dropped, dropped };
    },
    detail(row) {
      const kept = ring.get(row) ?? cleared?.get(row);
      return kept ? (JSON.parse(kept.detail) as Detail) : null;
    },
    parts: (row) => (ring.get(row) || cleared?.get(row) ? { parts: [], next: 0, total: 0, leftOut: 0 } : null),
    abandon(outcome) {
      droppedBefore += droppedNow;
      // Rows that died in its queue had ids as well: begin the next process beyond them.
      nextId += droppedNow + outboxLimits.entries;
      droppedNow = 0;
      const ended = [...open.values()].map((row): TrafficRow => ({ ...row, tone: "aborted", outcome }));
      for (const row of ended) keep(row, (ring.get(row.id) ?? cleared?.get(row.id))?.detail ?? "null");
      return ended;
    },
    clear() {
      cleared = ring;
      ring = createBoundedRing<Kept>(ringLimits);
      return cleared.size;
    },
    restore() {
      if (!cleared) return 0;
      const restored = cleared.size;
      for (const kept of ring.oldestFirst()) cleared.add(kept.row.id, kept, bytesOf(kept));
      ring = cleared;
      ring.limit(ringLimits);
      cleared = undefined;
      return restored;
    },
    limit(next) {
      ringLimits = next;
      ring.limit(next);
    },
    get dropped() {
      return droppedBefore + droppedNow;
    },
    nextId: () => nextId,
  };
}

const tonesOf: Readonly<Record<TrafficQuery["tone"], readonly Tone[] | undefined>> = {
  all: undefined,
  ok: ["ok"],
  redirect: ["redirect"],
  refused: ["refused"],
  failed: ["failed", "aborted"],
};

function createMatcher({ text, tone, parent }: Pick<TrafficQuery, "text" | "tone" | "parent">): (row: TrafficRow) => boolean {
  const tones = tonesOf[tone];
  const needle = text.trim().toLowerCase();
  return (row) => {
    if (parent !== undefined && row.parent !== parent) return false;
    if (tones && !tones.includes(row.tone)) return false;
    if (needle === "") return true;
    return `${row.verb} ${row.target}\n${row.outcome}\n${row.client} ${row.peer}\n${row.user ?? ""} ${row.reason ?? ""}\n${row.preview}`
      .toLowerCase()
      .includes(needle);
  };
}

import { useQueryClient } from "@tanstack/react-query";
import type { RowDetail } from "../../../contract/control.ts";
import type { ServiceId } from "../../../contract/service.ts";
import type { DetailPart } from "../../../contract/traffic/detail.ts";
import type { TrafficRow } from "../../../contract/traffic/row.ts";
import { useControl } from "../control/client-context.tsx";
import { type Answer, useAnswer } from "../control/use-answer.ts";

/** The end of a row that no list holds is not announced: it is requested again until then. */
const againAfterMs = 2_000;

/**
 * A row with its detail: null once it is no longer kept. Read again when the row has ended or has new parts, and after a reconnect. `live`
 * is the row in a list, if one has it.
 */
export function useDetail(service: ServiceId, row: number, live: TrafficRow | undefined): Answer<RowDetail | null> {
  const client = useControl();
  return useAnswer({
    key: [service, "detail", row],
    ask: () => client.call("traffic.detail", { id: service, row }),
    version: live && `${live.tone} ${live.outcome} ${live.bytesOut} ${live.parts ?? 0}`,
    everyMs: (newest) => (live === undefined && newest?.row.tone === "pending" ? againAfterMs : false),
  });
}

export interface KnownParts {
  /** In order; the newest, and the requested older ones. */
  readonly parts: readonly DetailPart[];
  /** Index of the first newer one. */
  readonly next: number;
  readonly total: number;
  readonly leftOut: number;
}

/** Most parts held in the page: the oldest are dropped, and requested again when needed. */
const heldParts = 10_000;
const pageParts = 1_000;
const noParts: KnownParts = { parts: [], next: 0, total: 0, leftOut: 0 };

/** Merges two ordered lists; parts that are in both occur once. */
export function withNewer(known: KnownParts, page: KnownParts): KnownParts {
  const last = known.parts.at(-1)?.index ?? -1;
  return { ...page, parts: [...known.parts, ...page.parts.filter(({ index }) => index > last)].slice(-heldParts) };
}

export function withOlder(known: KnownParts, older: readonly DetailPart[]): KnownParts {
  const first = known.parts[0]?.index ?? 0;
  return { ...known, parts: [...older.filter(({ index }) => index < first), ...known.parts] };
}

export interface Parts extends Omit<Answer<KnownParts | null>, "set"> {
  loadOlder(): Promise<void>;
}

/** The parts of a long exchange: first the newest, then only new ones. `total` is their current number. */
export function useParts(service: ServiceId, row: number, total: number): Parts {
  const client = useControl();
  const queries = useQueryClient();
  const key = [service, "parts", row] as const;
  const answer = useAnswer<KnownParts | null>({
    key,
    version: total,
    keepsPrevious: false,
    ask: async () => {
      let known = queries.getQueryData<KnownParts | null>(key) ?? undefined;
      // Reads the parts that arrived meanwhile; if they arrive faster than they can be read, the rest waits for the next time.
      for (let pages = 0; pages < heldParts / pageParts; pages++) {
        const from = known === undefined ? {} : { from: known.next };
        const page = await client.call("traffic.parts", { id: service, row, ...from, limit: known === undefined ? 200 : pageParts });
        if (page === null) return null;
        known = known === undefined ? page : withNewer(known, page);
        if (page.parts.length === 0 || known.next >= page.total) break;
      }
      return known ?? noParts;
    },
  });
  const loadOlder = async () => {
    const known = queries.getQueryData<KnownParts | null>(key);
    const first = known?.parts[0]?.index ?? 0;
    if (!known || first === 0 || known.parts.length >= heldParts) return;
    const older: DetailPart[] = [];
    // Large parts come in several pages.
    for (let from = Math.max(0, first - pageParts); from < first; ) {
      const page = await client.call("traffic.parts", { id: service, row, from, limit: first - from });
      if (!page) return;
      older.push(...page.parts);
      if (page.next <= from) break;
      from = page.next;
    }
    // Newer ones may have arrived meanwhile.
    queries.setQueryData<KnownParts | null>(key, (now) => now && withOlder(now, older));
  };
  return { ...answer, loadOlder };
}

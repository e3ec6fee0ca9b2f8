import type { ServiceId } from "../../../contract/service.ts";
import type { TrafficRow } from "../../../contract/traffic/row.ts";
import { parseRowQuery } from "../../../contract/traffic/row-query.ts";
import type { SortPlace, TimedRowSort } from "../../../contract/traffic/row-sort.ts";
import { rowIsCut } from "../../core/traffic/row-record.ts";
import type { RowIndex } from "./row-index.ts";
import { createRowMatcher, type RowFilter } from "./row-matcher.ts";
import type { ShownRows } from "./shown-rows.ts";
import { createSortedRows } from "./sorted-rows.ts";
import type { Steps } from "./turns.ts";

export interface TrafficQuery extends RowFilter {
  readonly before?: number | undefined;
  readonly sort?: TimedRowSort | undefined;
  readonly sortedAfter?: SortPlace | undefined;
  readonly limit: number;
}

export interface RowRange extends RowFilter {
  readonly after: number;
  readonly upTo: number;
  readonly limit: number;
}

interface RowSearchOptions {
  readonly service: ServiceId;
  readonly index: Pick<RowIndex, "idAt">;
  readonly shown: Pick<ShownRows, "before" | "after" | "find">;
  /** By its place in the index. */
  readonly rowAt: (at: number) => Buffer;
  /** Its detail and the content of its parts. */
  readonly contentsAt: (at: number) => Iterable<Buffer>;
  readonly decode: (row: Buffer) => TrafficRow;
}

export interface Found {
  readonly rows: readonly TrafficRow[];
  readonly matching: number;
  readonly searchedInPart: number;
}

/** Filters the kept rows in steps. Rows are added and evicted between these, so a position is stored as an id. */
export interface RowSearch {
  /** The newest rows, the newest first, or the first ones as they are sorted, and how many match in all. `searchedInPart`: rows that do not match in what is kept of their content. */
  find(query: TrafficQuery): Steps<Found>;
  /** The oldest rows of a range, the oldest first. */
  findAfter(query: RowRange): Steps<readonly TrafficRow[]>;
  findAmong(ids: readonly number[], filter: RowFilter): Steps<readonly number[]>;
}

/** Rows tested between two checks of the time. */
const rowsPerStep = 64;
/** Bytes of details searched between two checks of the time. */
const contentBytesPerStep = 256 << 10;

const noContents = (): readonly Buffer[] => [];

export function createRowSearch({ service, index, shown, rowAt, contentsAt, decode }: RowSearchOptions): RowSearch {
  /** A matcher of rows by their place in the index, which counts the bytes of details that it has read. */
  function indexMatcher(filter: RowFilter) {
    const matches = createRowMatcher(service, filter);
    let read = 0;
    function* contents(at: number): Generator<Buffer> {
      for (const content of contentsAt(at)) {
        read += content.length;
        yield content;
      }
    }
    return {
      matches: (at: number) => matches(rowAt(at), () => contents(at)),
      /** Whether it is time for the next step. */
      hasReadMuch(): boolean {
        if (read < contentBytesPerStep) return false;
        read = 0;
        return true;
      },
    };
  }

  return {
    *find(query) {
      const { matches, hasReadMuch } = indexMatcher(query);
      const { needle, termText } = parseRowQuery(query.text);
      // What else the filter demands of a row.
      const mayMatch = createRowMatcher(service, { ...query, text: termText });
      const searchesContent = query.inDetails === true && needle !== "";
      const { sort, sortedAfter: after, limit } = query;
      const sorted = sort && createSortedRows({ sort, after, limit });
      const newest: TrafficRow[] = [];
      let matching = 0;
      let searchedInPart = 0;
      let last = Number.POSITIVE_INFINITY;
      for (;;) {
        for (let tested = 0; tested < rowsPerStep; tested++) {
          const at = shown.before(last);
          if (at === -1) return { rows: sorted?.first() ?? newest, matching, searchedInPart };
          last = index.idAt(at);
          if (matches(at)) {
            matching++;
            const isWanted = query.before === undefined || last < query.before;
            if (sorted && isWanted) sorted.offer(decode(rowAt(at)));
            else if (isWanted && newest.length < limit) newest.push(decode(rowAt(at)));
          } else if (searchesContent && rowIsCut(rowAt(at)) && mayMatch(rowAt(at), noContents)) searchedInPart++;
          if (hasReadMuch()) break;
        }
        yield;
      }
    },
    *findAfter(query) {
      const { matches, hasReadMuch } = indexMatcher(query);
      const rows: TrafficRow[] = [];
      let last = query.after;
      for (;;) {
        for (let tested = 0; tested < rowsPerStep; tested++) {
          const at = shown.after(last);
          if (at === -1 || index.idAt(at) > query.upTo) return rows;
          last = index.idAt(at);
          if (matches(at)) rows.push(decode(rowAt(at)));
          if (rows.length === query.limit) return rows;
          if (hasReadMuch()) break;
        }
        yield;
      }
    },
    *findAmong(ids, filter) {
      const { matches, hasReadMuch } = indexMatcher(filter);
      const found: number[] = [];
      for (const id of ids) {
        const at = shown.find(id);
        if (at !== -1 && matches(at)) found.push(id);
        if (hasReadMuch()) yield;
      }
      return found;
    },
  };
}

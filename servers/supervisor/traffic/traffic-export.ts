import { setImmediate } from "node:timers/promises";
import type { ExportPart, TrafficFormat } from "../../../contract/export.ts";
import type { TrafficRow } from "../../../contract/traffic/row.ts";
import { FoundCredentials } from "../../core/credentials/found-credentials.ts";
import type { DetailDecoder, ExportedRow } from "../../core/traffic/detail-decoder.ts";
import type { PartReader } from "../export-pump.ts";
import { exportedParts } from "./exported-parts.ts";
import { harEntry, harHead, harTail } from "./har.ts";
import { harMessages } from "./har-web-socket.ts";
import type { RowFilter } from "./row-matcher.ts";
import type { TrafficStore } from "./traffic-store.ts";

interface TrafficExportOptions extends RowFilter {
  readonly stores: readonly Pick<TrafficStore, "read" | "readAfter" | "newestId" | "detail" | "parts" | "decoders">[];
  readonly format: TrafficFormat;
  /** Whether header fields, query fields and bodies keep the values of credentials. */
  readonly credentials: boolean;
  /** Backlot's version. */
  readonly version: string;
}

const partCharacters = 128 << 10;
const rowsAtOnce = 200;
/** How long the export keeps the event loop. */
const sliceMs = 4;

/** One export of the rows that are kept when it begins: the oldest first, of several services by their time. It has to be read in order. */
export function createTrafficExport({ stores, format, credentials, version, ...filter }: TrafficExportOptions): PartReader {
  const caller = {};
  const withoutCredentials = createCredentialRemoval(() => pause());
  const cursors = stores.map((store) => ({ store, upTo: store.newestId(), after: 0, rows: [] as TrafficRow[], isDone: false }));
  let entries = 0;

  async function next(): Promise<{ readonly store: (typeof stores)[number]; readonly row: TrafficRow } | undefined> {
    let first: (typeof cursors)[number] | undefined;
    for (const cursor of cursors) {
      if (cursor.rows.length === 0 && !cursor.isDone) {
        const { after, upTo, store } = cursor;
        cursor.rows = [...(await store.readAfter({ ...filter, after, upTo, limit: rowsAtOnce }, caller))];
        cursor.after = cursor.rows.at(-1)?.id ?? after;
        cursor.isDone = cursor.rows.length < rowsAtOnce;
      }
      const [row] = cursor.rows;
      if (row && (first?.rows[0] === undefined || row.at < first.rows[0].at)) first = cursor;
    }
    const row = first?.rows.shift();
    return first && row && { store: first.store, row };
  }

  /** Empty where the format has no place for the row. */
  async function write(read: ExportedRow, store: ExportedStore): Promise<string> {
    const exported = await shownOf(read, store);
    const { row, detail } = exported.shown;
    if (format === "jsonl") return `${JSON.stringify({ ...row, detail, ...(await partsOf(exported, store)) })}\n`;
    if (detail?.kind !== "http" && detail?.kind !== "websocket") return "";
    const shown = async (message: ExportedRow) => (await shownOf(message, store)).shown;
    const messages = detail.kind === "websocket" ? await harMessages(detail, { store, shown, pause }) : undefined;
    return `${entries === 0 ? "" : ",\n"}${JSON.stringify(harEntry(detail, row.service, messages))}`;
  }

  const shownOf = async (read: ExportedRow, store: ExportedStore): Promise<ShownRow> =>
    credentials ? { shown: read, found: undefined } : await withoutCredentials(read, store);

  async function partsOf({ shown: { row }, found }: ShownRow, store: ExportedStore) {
    if ((row.parts ?? 0) === 0) return undefined;
    const hide = (await store.decoders[row.kind]?.())?.partWithoutCredentials;
    return hide && exportedParts(row.id, { store, shown: (part) => (found ? hide(part, found) : part), pause });
  }

  let sliceEnd = 0;
  async function pause(): Promise<void> {
    if (performance.now() < sliceEnd) return;
    await setImmediate();
    sliceEnd = performance.now() + sliceMs;
  }

  async function countAll(): Promise<number> {
    const pages = await Promise.all(stores.map((store) => store.read({ ...filter, limit: 1 }, caller)));
    return pages.reduce((sum, { matching }) => sum + matching, 0);
  }

  return async (after): Promise<ExportPart> => {
    const isFirst = after === undefined;
    // How many of them have a place in HAR is known at its end only.
    const total = isFirst && format === "jsonl" ? await countAll() : undefined;
    let text = isFirst && format === "har" ? harHead(version) : "";
    let items = 0;
    sliceEnd = performance.now() + sliceMs;
    while (text.length < partCharacters) {
      const found = await next();
      if (!found) return { text: format === "har" ? `${text}${harTail}` : text, items, ...(total !== undefined && { total }) };
      // As it is now: an open row that was filtered may have ended meanwhile.
      const read = (await found.store.detail(found.row.id)) ?? { row: found.row, detail: null };
      const written = await write(read, found.store);
      if (written !== "") {
        text += written;
        items++;
        entries++;
      }
      await pause();
    }
    return { text, items, next: "more", ...(total !== undefined && { total }) };
  };
}

type ExportedStore = TrafficExportOptions["stores"][number];

interface ShownRow {
  readonly shown: ExportedRow;
  /** Its credentials, which its parts are without too; absent where all are shown. */
  readonly found: FoundCredentials | undefined;
}

/** Removes credentials of rows that come one after the other: messages of a connection are without those of its handshake too. */
function createCredentialRemoval(pause: () => Promise<void>) {
  const ofParents = new Map<string, FoundCredentials>();

  async function remove(exported: ExportedRow, store: ExportedStore, found: FoundCredentials): Promise<ExportedRow> {
    const { row } = exported;
    const decoder: DetailDecoder | undefined = await store.decoders[row.kind]?.();
    // Without its decoder nobody knows what a row contains.
    if (!decoder) return { row: { ...row, target: "", preview: "" }, detail: null };
    // What is found at the end may occur at the beginning.
    const shown = found.collect(() => decoder.withoutCredentials(exported, found));
    if (found.size === 0) return shown;
    await pause();
    return decoder.withoutCredentials(exported, found);
  }

  async function ofParent({ service, parent }: TrafficRow, store: ExportedStore): Promise<FoundCredentials | undefined> {
    if (parent === undefined) return undefined;
    const key = `${service} ${parent}`;
    const known = ofParents.get(key);
    if (known) return known;
    const found = new FoundCredentials();
    const exported = await store.detail(parent);
    if (exported) await remove(exported, store, found);
    if (ofParents.size >= mostParents) ofParents.clear();
    ofParents.set(key, found);
    return found;
  }

  return async (exported: ExportedRow, store: ExportedStore): Promise<ShownRow> => {
    const found = new FoundCredentials(await ofParent(exported.row, store));
    return { shown: await remove(exported, store, found), found };
  };
}

const mostParents = 20;

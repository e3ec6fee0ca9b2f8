import { randomBytes } from "node:crypto";
import type { Writable } from "node:stream";
import { type ExportStarted, type ExportView, exportPath } from "../../contract/export.ts";
import { ServiceError, toFailure } from "../core/service/service-error.ts";
import { saveExport } from "./export-file.ts";
import { type PartReader, pumpParts, TakerFailed } from "./export-pump.ts";

/** The export of a download link. */
export interface ClaimedExport {
  readonly name: string;
  /** Resolves when it has ended, successfully or not. */
  sendTo(to: Writable): Promise<void>;
}

export interface Exports {
  start(request: Pick<ExportView, "name" | "item">, read: PartReader): ExportStarted;
  cancel(id: number): void;
  /** Undefined if the link was used, has expired, or never existed. */
  claim(token: string): ClaimedExport | undefined;
  /** Cancels all and waits for them. */
  close(): Promise<void>;
}

export interface ExportsOptions {
  readonly publish: (exports: readonly ExportView[]) => void;
  /** Desktop: asks the user for a file; undefined if they cancelled. Without it exports are downloads. */
  readonly chooseFile?: ((name: string) => Promise<string | undefined>) | undefined;
  readonly linkHoldsMs?: number | undefined;
}

interface Entry {
  view: ExportView;
  readonly read: PartReader;
  readonly controller: AbortController;
  /** Present until the link is used or has expired. */
  link: { readonly token: string; readonly expiry: NodeJS.Timeout } | undefined;
  ended: Promise<void>;
}

const keptExports = 20;
/** That have not ended. */
const mostExports = 100;

export function createExports({ publish, chooseFile, linkHoldsMs = 60_000 }: ExportsOptions): Exports {
  /** Newest last. */
  const entries = new Map<number, Entry>();
  let lastId = 0;

  const publishAll = () => publish([...entries.values()].map(({ view }) => view).reverse());
  // The topic starts with an empty list: a page ignores exports that have ended when it first hears of the topic.
  publishAll();
  function change(entry: Entry, part: Partial<ExportView>): void {
    entry.view = { ...entry.view, ...part };
    publishAll();
  }
  const end = (entry: Entry, state: "done" | "cancelled") => change(entry, { state, endedAt: Date.now() });
  const fail = (entry: Entry, error: unknown) => change(entry, { state: "failed", endedAt: Date.now(), failure: toFailure(error) });

  function forgetOldest(): void {
    for (const [id, { view }] of entries) {
      if (entries.size <= keptExports) return;
      if (view.endedAt !== undefined) entries.delete(id);
    }
  }

  function pumpOf(entry: Entry): Omit<Parameters<typeof pumpParts>[0], "to"> {
    return {
      read: entry.read,
      signal: entry.controller.signal,
      onPart(part, bytes) {
        const { view } = entry;
        const total = part.total ?? view.total;
        change(entry, { items: view.items + part.items, bytes: view.bytes + bytes, ...(total !== undefined && { total }) });
      },
    };
  }

  async function run(entry: Entry, write: () => Promise<void>): Promise<void> {
    try {
      change(entry, { state: "running" });
      await write();
      end(entry, "done");
    } catch (error) {
      // A browser cancels a download by closing the connection.
      if (entry.controller.signal.aborted || error instanceof TakerFailed) end(entry, "cancelled");
      else fail(entry, error);
    }
  }

  const sendTo = (entry: Entry, to: Writable): Promise<void> => run(entry, () => pumpParts({ ...pumpOf(entry), to }));

  function save(entry: Entry, file: string): Promise<void> {
    change(entry, { file });
    return run(entry, () => saveExport(file, pumpOf(entry)));
  }

  async function choose(entry: Entry, ask: NonNullable<typeof chooseFile>): Promise<void> {
    const file = await ask(entry.view.name);
    if (entry.view.endedAt !== undefined) return;
    if (file === undefined) {
      entries.delete(entry.view.id);
      publishAll();
    } else {
      entry.ended = save(entry, file);
    }
  }

  function unlink(entry: Entry): void {
    clearTimeout(entry.link?.expiry);
    entry.link = undefined;
  }

  function cancel(id: number): void {
    const entry = entries.get(id);
    if (!entry || entry.view.endedAt !== undefined) return;
    entry.controller.abort();
    unlink(entry);
    if (entry.view.state === "waiting") end(entry, "cancelled");
  }

  return {
    start(request, read) {
      const open = [...entries.values()].filter(({ view }) => view.endedAt === undefined).length;
      if (open >= mostExports)
        throw new ServiceError("CALL_INVALID", "Too many exports are in progress", "Wait for some of them to end, or cancel them.");
      const id = ++lastId;
      const view: ExportView = { id, ...request, state: "waiting", startedAt: Date.now(), items: 0, bytes: 0 };
      const entry: Entry = { view, read, controller: new AbortController(), link: undefined, ended: Promise.resolve() };
      entries.set(id, entry);
      forgetOldest();
      publishAll();
      if (chooseFile) {
        void choose(entry, chooseFile).catch((error: unknown) => fail(entry, error));
        return { id };
      }
      const token = randomBytes(24).toString("base64url");
      const expiry = setTimeout(() => {
        entry.link = undefined;
        fail(entry, unfetched(view.name));
      }, linkHoldsMs);
      entry.link = { token, expiry };
      return { id, link: `${exportPath}${token}` };
    },
    cancel,
    claim(token) {
      const entry = [...entries.values()].find(({ link }) => link?.token === token);
      if (!entry) return undefined;
      unlink(entry);
      return {
        name: entry.view.name,
        sendTo(to) {
          entry.ended = sendTo(entry, to);
          return entry.ended;
        },
      };
    },
    async close() {
      for (const id of entries.keys()) cancel(id);
      await Promise.all([...entries.values()].map(({ ended }) => ended));
    },
  };
}

const unfetched = (name: string) =>
  new ServiceError(
    "EXPORT_UNFETCHED",
    `The browser did not fetch ${name}`,
    "Allow downloads for this page, or open it in another browser.",
  );

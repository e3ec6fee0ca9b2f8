import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import http from "node:http";
import path from "node:path";
import { PassThrough, Writable } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ExportView } from "../../contract/export.ts";
import { startControlServer } from "../../servers/control-server.ts";
import { createExports, type ExportsOptions } from "../../servers/supervisor/exports.ts";
import { createEventLog } from "../support/event-log.ts";
import { httpRequest } from "../support/http-request.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { supervise } from "./supervise.ts";

const request = { name: "numbers.csv", item: "number" };
const partBytes = 64 << 10;

/** A source of so many parts, and how many of them were read. */
function source(parts: number, options: { readonly failsAt?: number } = {}) {
  const state = { read: 0 };
  return {
    state,
    async read(after: string | undefined) {
      const part = Number(after ?? 1);
      if (part === options.failsAt) throw new Error("the source broke");
      state.read++;
      return {
        text: "x".repeat(partBytes),
        items: 10,
        ...(part === 1 && { total: parts * 10 }),
        ...(part < parts && { next: `${part + 1}` }),
      };
    },
  };
}

function createUnderTest(options: Omit<ExportsOptions, "publish"> = {}) {
  const told = createEventLog<readonly ExportView[]>();
  const exports = createExports({ publish: told.add, ...options });
  onTestFinished(() => exports.close());
  const state = async (wanted: ExportView["state"]) => (await told.until(([newest]) => newest?.state === wanted))[0] as ExportView;
  return { exports, told, state };
}
const tokenOf = ({ link = "" }: { link?: string }) => link.replace("/export/", "");
const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

describe("an export", () => {
  it("[BL-100] reads a part only when the one before was consumed, so that none queue up", async () => {
    const { exports, state } = createUnderTest();
    const { read, state: source_ } = source(1_000);
    let take: (() => void) | undefined;
    let taken = 0;
    const slow = new Writable({
      highWaterMark: 1,
      write(_chunk, _encoding, done) {
        taken++;
        take = done;
      },
    });
    const ended = exports.claim(tokenOf(exports.start(request, read)))?.sendTo(slow);
    for (let round = 0; round < 20; round++) {
      await turns(20);
      expect(source_.read - taken).toBeLessThanOrEqual(2);
      take?.();
    }
    expect(taken).toBeGreaterThanOrEqual(20);
    slow.destroy();
    await ended;
    await state("cancelled");
  });

  it("[BL-101] has a link that works once and expires", async () => {
    const { exports, state } = createUnderTest({ linkHoldsMs: 20 });
    const token = tokenOf(exports.start(request, source(1).read));
    expect(exports.claim("")).toBeUndefined();
    expect((await state("failed")).failure).toMatchObject({ code: "EXPORT_UNFETCHED" });
    expect(exports.claim(token)).toBeUndefined();
    const second = tokenOf(exports.start(request, source(1).read));
    const claimed = exports.claim(second);
    expect(exports.claim(second)).toBeUndefined();
    await claimed?.sendTo(new PassThrough().resume());
    expect(await state("done")).toMatchObject({ items: 10, total: 10, bytes: partBytes });
  });

  it("[BL-102] on the desktop is written to the chosen file, which gets its name only when it is complete", async () => {
    const dir = temporaryDir();
    const file = path.join(dir, "chosen.csv");
    writeFileSync(file, "what was there before");
    const asked: string[] = [];
    let begun = () => {};
    const half = new Promise<void>((resolve) => (begun = resolve));
    let goOn = () => {};
    const waiting = new Promise<void>((resolve) => (goOn = resolve));
    const { exports, state } = createUnderTest({
      async chooseFile(name) {
        asked.push(name);
        return file;
      },
    });
    const { read } = source(3);
    exports.start(request, async (after) => {
      if (after === "3") {
        begun();
        await waiting;
      }
      return await read(after);
    });
    await half;
    expect(readFileSync(file, "utf8")).toBe("what was there before");
    goOn();
    expect(await state("done")).toMatchObject({ file, items: 30, bytes: 3 * partBytes });
    expect(asked).toEqual(["numbers.csv"]);
    expect(readdirSync(dir)).toEqual(["chosen.csv"]);
    expect(statSync(file).size).toBe(3 * partBytes);
    if (process.platform !== "win32") expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("[BL-102] that was cancelled or failed leaves nothing behind, and no file is created if the user cancels the dialog", async () => {
    const dir = temporaryDir();
    let file: string | undefined = path.join(dir, "chosen.csv");
    const { exports, state, told } = createUnderTest({ chooseFile: async () => file });
    const { id } = exports.start(request, async () => {
      exports.cancel(id);
      return { text: "x", items: 1, next: "1" };
    });
    await state("cancelled");
    expect(readdirSync(dir)).toEqual([]);
    exports.start(request, source(3, { failsAt: 3 }).read);
    expect((await state("failed")).failure?.message).toBe("the source broke");
    expect(readdirSync(dir)).toEqual([]);

    mkdirSync(path.join(dir, "folder.csv"));
    file = path.join(dir, "folder.csv");
    exports.start(request, source(1).read);
    await told.until(([newest]) => newest?.failure?.code === "EXPORT_UNWRITABLE");
    file = path.join(dir, "nowhere", "chosen.csv");
    exports.start(request, source(1).read);
    await told.until(([newest]) => newest?.failure?.code === "EXPORT_UNWRITABLE" && newest.file === file);
    expect(readdirSync(dir)).toEqual(["folder.csv"]);

    file = undefined;
    const before = told.items.at(-1)?.length ?? 0;
    const changed = exports.start(request, source(1).read);
    await told.until((list) => list.length === before && list.every((view) => view.id !== changed.id) && list[0]?.id === changed.id - 1);
  });

  it("[BL-105] is cancelled at the stop, whoever reads it", async () => {
    const { exports, told } = createUnderTest();
    const stuck = new Writable({ highWaterMark: 1, write: () => {} });
    const ended = exports.claim(tokenOf(exports.start(request, source(100).read)))?.sendTo(stuck);
    exports.start(request, source(1).read);
    await exports.close();
    await ended;
    expect(told.items.at(-1)?.map(({ state }) => state)).toEqual(["cancelled", "cancelled"]);
    expect(stuck.destroyed).toBe(true);
  });
});

describe("exports of a run", () => {
  async function start() {
    const { supervisor, dashboard } = await supervise();
    const server = await startControlServer({
      port: 0,
      dashboardDir: temporaryDir(),
      secret: "the secret",
      attach: supervisor.attach,
      claimExport: supervisor.claimExport,
    });
    onTestFinished(() => server.close());
    const { origin } = new URL(server.url);
    const views = dashboard.follow("export");
    const state = async (wanted: ExportView["state"]) => (await views.until(([newest]) => newest?.state === wanted))[0] as ExportView;
    const begin = async (params: Record<string, unknown>) => {
      const { id, link = "" } = await dashboard.call("export.start", {
        ...request,
        source: { kind: "action", id: "http", action: "parts", params },
      });
      return { id, link };
    };
    return {
      supervisor,
      dashboard,
      origin,
      state,
      begin,
      get: (link: string) => httpRequest(`${origin}${link}`),
    };
  }

  it("[BL-103] a dashboard is told that there is no export before the first, so that a short one is not mistaken for an old one", () => {
    const told: (readonly ExportView[])[] = [];
    createExports({ publish: (list) => told.push(list) });
    expect(told).toEqual([[]]);
  });

  it("[BL-103] every dashboard sees the progress and the end", async () => {
    const { supervisor, state, begin, get } = await start();
    await supervisor.start("http");
    const { id, link } = await begin({ parts: 3 });
    expect(await state("waiting")).toMatchObject({ id, ...request, items: 0, bytes: 0 });
    expect(await get(link)).toMatchObject({ status: 200, body: "1........\n2........\n3........\n" });
    expect(await state("done")).toMatchObject({ id, items: 3, total: 3, bytes: 30 });
  });

  it("[BL-103] an export is cancelled by a dashboard, and by a browser that disconnects", async () => {
    const { supervisor, dashboard, origin, state, begin } = await start();
    await supervisor.start("http");
    for (const end of [(id: number) => dashboard.call("export.cancel", { id }), (_id: number, hangUp: () => void) => hangUp()]) {
      const { id, link } = await begin({ parts: 100_000, bytes: 100_000 });
      const asked = http.get(`${origin}${link}`, { agent: false });
      asked.on("error", () => {});
      const [response] = (await once(asked, "response")) as [http.IncomingMessage];
      response.on("error", () => {});
      await end(id, () => response.destroy());
      await dashboard.frames.until(
        (frame) =>
          frame.type === "batch" &&
          frame.topic === "export" &&
          (frame.items.at(-1) as ExportView[]).some((view) => view.id === id && view.state === "cancelled"),
      );
      response.destroy();
    }
    await state("cancelled");
  });

  it("[BL-104] an error in the middle aborts the download, and says why", async () => {
    const { supervisor, state, begin, get } = await start();
    await supervisor.start("http");
    await expect(get((await begin({ parts: 3, fails: true })).link)).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(await state("failed")).toMatchObject({ items: 2, failure: { message: "the export broke", hint: "SuggestedFix the fixture." } });
  });

  it("[BL-106] of the log has the matching lines present at its beginning, in the format of a copy", async () => {
    const { supervisor, dashboard, get } = await start();
    for (let line = 0; line < 4_500; line++) supervisor.log.info(`line ${line}`);
    supervisor.log.warning("line of another level");
    const kept = async () => (await dashboard.call("log.read", { source: "backlot" })).kept;
    await expect.poll(kept).toBeGreaterThan(4_500);
    const { link = "" } = await dashboard.call("export.start", {
      source: { kind: "log", source: "backlot", level: "info", text: "LINE" },
      name: "backlot.log",
      item: "line",
    });
    const { body, headers } = await get(link);
    const lines = body.trimEnd().split("\n");
    expect(lines.length).toBe(4_501);
    expect(lines[0]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z info {4}backlot line 0$/);
    expect(lines.at(-1)).toMatch(/ warning backlot line of another level$/);
    expect(headers["content-type"]).toBe("text/plain; charset=utf-8");
  });

  it("[BL-54] anything but a plain file name is refused", async () => {
    const { dashboard } = await start();
    for (const name of ["../x.csv", 'a".csv', "", ".bashrc", "a/b.csv", "a\r\nb.csv"]) {
      const refusal = await dashboard.refusal("export.start", { source: { kind: "log" }, name, item: "line" });
      expect(refusal).toMatchObject({ code: "CALL_INVALID" });
    }
    expect(existsSync("x.csv")).toBe(false);
  });
});

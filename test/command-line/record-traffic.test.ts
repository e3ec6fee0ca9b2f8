import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import http from "node:http";
import path from "node:path";
import { expect, it } from "vitest";
import type { RecordedFile } from "../../servers/console-output.ts";
import { recordTraffic } from "../../servers/record-traffic.ts";
import { httpRequest } from "../support/http-request.ts";
import { headlessHttp, startBacklot } from "../support/start-backlot.ts";
import { temporaryDir } from "../support/temporary-dir.ts";

const readJsonLines = (file: string) =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

it("[BL-470] --record writes the traffic at the end, without credentials, and names each file", async () => {
  const folder = path.join(temporaryDir(), "made", "here");
  const run = startBacklot([...headlessHttp, "--record", folder]);
  await run.ready();
  const url = (await run.state("http", "running")).endpoints?.[0]?.url;
  await httpRequest(`${url}/api/data`, { headers: { authorization: "Bearer very.secret" } });
  // One that is open when the run ends.
  const stream = http.get(`${url}/api/stream?count=0`, { agent: false }).on("error", () => {});
  await once(stream, "response");
  run.kill("SIGTERM");
  expect(await run.ended).toEqual({ code: 0, signal: null });
  stream.destroy();
  expect(run.lines.items.slice(-3)).toMatchObject([
    { type: "status", state: "stopped" },
    { type: "recorded", service: "http", file: path.join(folder, "http.jsonl"), items: 2 },
    { type: "recorded", service: "http", file: path.join(folder, "http.har"), items: 2 },
  ]);
  expect(run.lines.items.at(-1)).not.toHaveProperty("leftOut");
  expect(readdirSync(folder).sort()).toEqual(["http.har", "http.jsonl"]);
  const rows = readJsonLines(path.join(folder, "http.jsonl"));
  expect(rows.map(({ target }) => target)).toEqual(["/api/data", "/api/stream?count=0"]);
  expect(rows[0].detail.kind).toBe("http");
  const har = JSON.parse(readFileSync(path.join(folder, "http.har"), "utf8"));
  expect(har.log.entries).toHaveLength(2);
  for (const name of readdirSync(folder)) {
    expect(readFileSync(path.join(folder, name), "utf8")).not.toContain("very.secret");
    if (process.platform !== "win32") expect(statSync(path.join(folder, name)).mode & 0o777).toBe(0o600);
  }
});

it("[BL-471] a folder that cannot be written ends the run before anything is started", async () => {
  const file = path.join(temporaryDir(), "file");
  writeFileSync(file, "");
  const run = startBacklot([...headlessHttp, "--record", path.join(file, "out")]);
  expect(await run.ended).toEqual({ code: 1, signal: null });
  expect(run.lines.items).toMatchObject([
    { type: "failed", failure: { code: "EXPORT_UNWRITABLE", message: expect.stringContaining(file) } },
  ]);
  expect(run.stderr()).toContain("EXPORT_UNWRITABLE");
});

/** With one row, which is read in one part. */
const recorded = (id: "http" | "mqtt" | "rtsp", total: number) => ({
  id,
  total,
  kept: 1,
  formats: ["jsonl" as const],
  read: () => async () => ({ text: `{"of":"${id}"}\n`, items: 1 }),
});

it("[BL-470] replaces older files, counts what is not kept, and leaves out services without traffic that nobody asked for", async () => {
  const folder = temporaryDir();
  writeFileSync(path.join(folder, "http.jsonl"), "older");
  const files: RecordedFile[] = [];
  const supervisor = { recorded: () => [recorded("http", 5), recorded("mqtt", 0), { ...recorded("rtsp", 0), kept: 0 }] };
  expect(await recordTraffic(supervisor, folder, ["rtsp"], (file) => files.push(file))).toBeUndefined();
  expect(files.map(({ service, items, leftOut }) => [service, items, leftOut])).toEqual([
    ["http", 1, 4],
    ["rtsp", 1, 0],
  ]);
  expect(readFileSync(path.join(folder, "http.jsonl"), "utf8")).toBe('{"of":"http"}\n');
  expect(readdirSync(folder).sort()).toEqual(["http.jsonl", "rtsp.jsonl"]);
});

it("[BL-471] what cannot be written at the end is told after the others were written", async () => {
  const folder = temporaryDir();
  mkdirSync(path.join(folder, "http.jsonl"));
  const supervisor = { recorded: () => [recorded("http", 1), recorded("mqtt", 1)] };
  const failure = await recordTraffic(supervisor, folder, [], () => {});
  expect(failure).toMatchObject({ code: "EXPORT_UNWRITABLE", message: expect.stringContaining("http.jsonl") });
  expect(readdirSync(folder).sort()).toEqual(["http.jsonl", "mqtt.jsonl"]);
});

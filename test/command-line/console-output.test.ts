import { EventEmitter } from "node:events";
import { expect, it } from "vitest";
import type { LogLine } from "../../contract/log.ts";
import type { ServiceStatus, ServiceView } from "../../contract/service.ts";
import { createConsoleOutput, keepFromBlocking, readToEnd } from "../../servers/console-output.ts";

function capture(json: boolean) {
  const texts = { stdout: "", stderr: "" };
  const stream = (name: "stdout" | "stderr") =>
    Object.assign(new EventEmitter(), {
      writableLength: 0,
      write(text: string) {
        texts[name] += text;
      },
    });
  const [stdout, stderr] = [stream("stdout"), stream("stderr")];
  return { texts, stderr, output: createConsoleOutput({ json, stdout, stderr }) };
}
const view = (status: ServiceStatus, extra: Partial<ServiceView> = {}): ServiceView => ({
  id: "http",
  title: "HTTP",
  purpose: "",
  built: true,
  status,
  ports: [8_080],
  plannedEndpoints: [],
  rateUnit: "req/s",
  openToLan: false,
  recordsCredentials: false,
  restartNeeded: false,
  configRevision: 0,
  playsSample: false,
  ...extra,
});
const endpoints = [{ label: "HTTP", url: "http://127.0.0.1:8080" }];
const failure = {
  code: "PORT_IN_USE",
  message: "taken",
  hint: "stop it",
  port: 8_080,
  fix: { title: "Use 8081", config: { port: 8_081 } },
};

it("[BL-81] prints a line at each change of a state, and nothing in between", () => {
  const { texts, output } = capture(true);
  output.status(view({ state: "stopped" }));
  output.status(view({ state: "starting", since: 1 }));
  output.status(view({ state: "starting", since: 1, doing: "reading files" }));
  output.status(view({ state: "running", since: 2, pid: 3, endpoints }));
  output.status(view({ state: "running", since: 2, pid: 3, endpoints }, { restartNeeded: true }));
  output.status(view({ state: "running", since: 2, pid: 3, endpoints, silentSince: 3 }));
  output.status(view({ state: "running", since: 2, pid: 3, endpoints }));
  output.status(view({ state: "failed", since: 4, failure, retryAt: 5 }));
  output.status(view({ state: "stopped" }));
  expect(
    texts.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual([
    { type: "status", service: "http", state: "starting" },
    { type: "status", service: "http", state: "starting", doing: "reading files" },
    { type: "status", service: "http", state: "running", endpoints },
    { type: "status", service: "http", state: "running", endpoints, answers: false },
    { type: "status", service: "http", state: "running", endpoints },
    { type: "status", service: "http", state: "failed", failure: { code: "PORT_IN_USE", message: "taken", hint: "stop it" } },
    { type: "status", service: "http", state: "stopped" },
  ]);
  expect(texts.stderr).toBe("");
});

it("[BL-80] writes text for people to stderr only; [BL-82] the ready line names the dashboard", () => {
  const { texts, output } = capture(true);
  output.say("hello");
  output.logs([{ seq: 1, at: 0, source: "http", level: "info", text: "GET /" }]);
  output.ready("http://127.0.0.1:7070/#token=t", []);
  expect(texts.stdout).toBe('{"type":"ready","dashboard":"http://127.0.0.1:7070/#token=t"}\n');
  expect(texts.stderr).toBe("hello\n1970-01-01T00:00:00.000Z info    http    GET /\nDashboard: http://127.0.0.1:7070/#token=t\n");
});

it("[BL-80] without --json prints no JSON", () => {
  const { texts, output } = capture(false);
  output.status(view({ state: "starting", since: 1 }));
  output.ready("http://127.0.0.1:7070/#token=t", []);
  expect(texts.stdout).toBe("Dashboard: http://127.0.0.1:7070/#token=t\n");
});

it("[BL-87] shows control characters instead of sending them to the terminal", () => {
  const { texts, output } = capture(false);
  output.logs([{ seq: 1, at: 0, source: "http", level: "info", text: "GET /\u001b[2J\r\nnext\u0007\u009b\u202e\u2028" }]);
  expect(texts.stderr).toContain("GET /\\x1b[2J\\x0d\\x0anext\\x07\\x9b\\u202e\\u2028\n");
});

it("[BL-366] a terminal is written to without waiting for it, and the last bytes have half a second", async () => {
  const calls: boolean[] = [];
  const stream = (isTTY: boolean, writableLength = 0) =>
    Object.assign(new EventEmitter(), {
      isTTY,
      writableLength,
      write() {},
      _handle: { setBlocking: (is: boolean) => void calls.push(is) },
    });
  keepFromBlocking(stream(true));
  keepFromBlocking(stream(false));
  expect(calls).toEqual([false]);
  await readToEnd([stream(true)]);
  const [read, never] = [stream(true, 9), stream(true, 9)];
  setImmediate(() => read.emit("drain"));
  await readToEnd([read]);
  await readToEnd([never]);
});

it("[BL-366] writes no more log lines while nobody reads them, and says then how many were left out", () => {
  const { texts, stderr, output } = capture(true);
  const line = (text: string): LogLine => ({ seq: 1, at: 0, level: "info", source: "http", text });
  output.logs([line("first")]);
  stderr.writableLength = 2 << 20;
  output.logs([line("second"), line("third")]);
  // In order: nothing is written before that line.
  stderr.writableLength = 0;
  output.logs([line("fourth")]);
  stderr.emit("drain");
  output.logs([line("fifth")]);
  expect(texts.stderr.trimEnd().split("\n")).toEqual([
    expect.stringMatching(/first$/),
    "3 lines of the log were left out here, because nobody read them.",
    expect.stringMatching(/fifth$/),
  ]);
});

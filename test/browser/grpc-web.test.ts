import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { chromium } from "playwright-core";
import { build } from "vite";
import { expect, it, onTestFinished } from "vitest";
import { startGrpc } from "../grpc/harness.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { until } from "../support/until.ts";
import type { BrowserClient, BrowserResult } from "./grpc-web-page.ts";

/** Serves a page with the script, from an origin of its own. */
async function servePage(): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: "warn",
    build: {
      write: false,
      minify: false,
      lib: { entry: path.join(import.meta.dirname, "grpc-web-page.ts"), formats: ["es"], fileName: "page" },
    },
  });
  const [output] = [built].flat();
  const script = output && "output" in output ? output.output[0].code : "";
  const server = createServer((request, response) => {
    const isScript = request.url === "/page.js";
    response.setHeader("Content-Type", isScript ? "text/javascript" : "text/html");
    response.end(isScript ? script : `<!doctype html><title>Calls</title><script type="module" src="/page.js"></script>`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const clients: readonly BrowserClient[] = [
  ...["connect", "connect json", "connect get", "grpc-web", "grpc-web json"],
  ...["google text", "google binary"],
] as BrowserClient[];

it.each([
  ["HTTP/1.1", false],
  ["HTTP/2 with TLS", true],
])(
  "[GRPC-120] [GRPC-121] [GRPC-122] [GRPC-125] a page of another origin calls by connect-web and by Google's grpc-web, over %s",
  async (_name, tls) => {
    const grpc = await startGrpc({ tls }, tls ? temporaryDir() : undefined);
    const { base64 } = await grpc.act("schema");
    const browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      // Chromium does not run as root with its sandbox on.
      args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
    });
    onTestFinished(() => browser.close());
    const page = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage();
    const wrong: string[] = [];
    page.on("pageerror", (error) => wrong.push(error.message));
    await page.goto(await servePage());
    await page.waitForFunction(() => "call" in globalThis);
    const results: Record<string, BrowserResult> = {};
    for (const client of clients) {
      results[client] = await page.evaluate(
        ([name, url, schema]) => (globalThis as unknown as { call(...texts: string[]): Promise<BrowserResult> }).call(name, url, schema),
        [client, grpc.webUrl, base64] as const,
      );
    }
    const expected = {
      hello: "Hello, Ada from backlot!",
      items: ["p-0", "p-1", "p-2"],
      error: { code: 5, message: "no such user", detail: "google.rpc.RetryInfo", trailer: "gone" },
      deadline: 4,
    };
    expect(results).toEqual(Object.fromEntries(clients.map((client) => [client, expected])));
    expect(wrong).toEqual([]);
    // A browser may break off a handshake, which has a row too.
    const calls = () => grpc.rows().filter(({ target }) => target.startsWith("/"));
    await until(() => calls().filter(({ tone }) => tone !== "pending").length === 4 * clients.length);
    const details = calls().map(({ id }) => grpc.detail(id));
    expect(new Set(details.map(({ httpVersion }) => httpVersion))).toEqual(new Set([tls ? "2" : "1.1"]));
    expect(new Set(details.map(({ protocol }) => protocol))).toEqual(new Set(["connect", "grpc-web"]));
    expect(details.filter(({ httpMethod }) => httpMethod === "GET").length).toBe(3);
  },
);

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDashboardFiles } from "../../electron/app-protocol.ts";

describe("the files under app://", () => {
  let folder: string;
  let serve: ReturnType<typeof createDashboardFiles>;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), "backlot-files-"));
    const renderer = path.join(folder, "renderer");
    await mkdir(path.join(renderer, "assets"), { recursive: true });
    await mkdir(path.join(folder, "renderer-secret"));
    await writeFile(path.join(renderer, "index.html"), "<!doctype html>");
    await writeFile(path.join(renderer, "assets", "a b.js"), "1");
    await writeFile(path.join(folder, "secret.txt"), "secret");
    await writeFile(path.join(folder, "renderer-secret", "secret.txt"), "secret");
    serve = createDashboardFiles(renderer);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const get = (url: string, method = "GET") => serve({ url, method });

  it("are the built dashboard, each with its type, a strict policy and no sniffing", async () => {
    const index = await get("app://backlot/");
    expect(index.status).toBe(200);
    expect(await index.text()).toBe("<!doctype html>");
    expect(index.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(index.headers.get("x-content-type-options")).toBe("nosniff");
    const policy = (index.headers.get("content-security-policy") ?? "").split("; ");
    expect(policy.filter((directive) => directive.includes("unsafe"))).toEqual(["style-src 'self' 'unsafe-inline'"]);
    expect(policy).toEqual(
      expect.arrayContaining(["default-src 'self'", "object-src 'none'", "frame-src 'none'", "base-uri 'none'", "form-action 'none'"]),
    );
    expect((await get("app://backlot/assets/a%20b.js")).headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  });

  it.each([
    "app://backlot/../secret.txt",
    "app://backlot/%2e%2e/secret.txt",
    "app://backlot/..%2fsecret.txt",
    "app://backlot/assets/..%2f..%2fsecret.txt",
    "app://backlot/..%5csecret.txt",
    "app://backlot/..%2frenderer-secret%2fsecret.txt",
    "app://backlot//etc/passwd",
    "app://backlot/%2fetc%2fpasswd",
    "app://backlot/index.html%00.js",
    "app://backlot/%ff",
    "app://backlot/assets",
    "app://backlot/no-such-file.js",
    "app://elsewhere/index.html",
    "not a url",
  ])("serve nothing else: %s", async (url) => {
    const response = await get(url);
    expect([response.status, await response.text()]).toEqual([404, ""]);
  });

  it("can only be read", async () => {
    expect((await get("app://backlot/", "POST")).status).toBe(405);
    const head = await get("app://backlot/", "HEAD");
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });
});

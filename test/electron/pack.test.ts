import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished, vi } from "vitest";
import { temporaryDir } from "../support/temporary-dir.ts";
import { root } from "./launch-app.ts";

it.skipIf(process.platform !== "linux")("packs the files that are needed and nothing else, with the fuses set", async () => {
  // Other tests read dist/ at the same time: it is built before all of them.
  const check = [path.join(root, "scripts/pack.mjs"), "--check", "--built"];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, check, { cwd: root });
  expect(stderr).toBe("");
  expect(stdout).toMatch(/ dist\/electron\/main\.cjs\n/);
  // Beside the archive, as the check has seen.
  for (const clip of ["stream", "test"]) expect(stdout).toContain(`dist/servers/rtsp/assets/${clip}.mp4\n`);
  expect(stdout).toMatch(/ dist\/servers\/rtsp\/rtmp-worker\.cjs\n/);
  expect(stdout).toMatch(/ dist\/servers\/webrtc\/assets\/socket\.io\/socket\.io\.min\.js\n/);
  expect(stdout).not.toMatch(/node_modules\/(?!better-sqlite3\/)|\.map\n|backlot\.cjs/);
});

it("is not packed for a runtime with a fuse that nobody decided on", async () => {
  const { fuseSentinel } = await import(path.join(root, "scripts/dummy-runtime.mjs"));
  const { knownFuses, requireKnownFuses } = await import(path.join(root, "scripts/require-known-fuses.mjs"));
  const binary = path.join(temporaryDir(), "electron");
  const write = (fuses: string) =>
    writeFileSync(binary, Buffer.concat([Buffer.from(`ELF ${fuseSentinel}`), Buffer.from([1, fuses.length]), Buffer.from(`${fuses} end`)]));
  write("101100011");
  expect(knownFuses).toHaveLength(9);
  await requireKnownFuses(binary);
  write("1011000111");
  await expect(requireKnownFuses(binary)).rejects.toThrow("The runtime has 10 fuses, of which 9 are known");
});

it("is signed with the certificate and notarized with the account that the environment names, and with none without them", async () => {
  const load = createRequire(import.meta.url);
  // Its modules need one another: this one first.
  load("app-builder-lib");
  const { getConfig } = load("app-builder-lib/out/util/config/config.js");
  const { MacTargetHelper } = load("app-builder-lib/out/mac/MacTargetHelper.js");
  const { PlatformPackager } = load("app-builder-lib/out/platformPackager.js");
  const config = await getConfig(root, null, null);
  expect(config.electronFuses.resetAdHocDarwinSignature).toBe(true);
  // An identity or a certificate of the configuration would take the place of the environment's.
  expect(config.mac).toMatchObject({ hardenedRuntime: true, notarize: true });
  expect([config.mac.identity, config.cscLink, config.win.cscLink, config.forceCodeSigning]).toEqual(Array(4).fill(undefined));
  expect(readFileSync(path.join(root, config.mac.entitlements), "utf8").match(/security\.cs\.[\w-]+/g)).toEqual([
    "security.cs.allow-jit",
    "security.cs.disable-library-validation",
  ]);
  const linkOf = (platform: object, name?: string) =>
    PlatformPackager.prototype.getCscLink.call({ info: { config }, platformSpecificBuildOptions: platform }, name);
  const seen = () => ({
    mac: linkOf(config.mac),
    win: linkOf(config.win, "WIN_CSC_LINK"),
    notarized: MacTargetHelper.getNotarizeOptions("a.app"),
  });
  const names = [
    "CSC_LINK",
    "WIN_CSC_LINK",
    "APPLE_API_KEY",
    "APPLE_API_KEY_ID",
    "APPLE_API_ISSUER",
    "APPLE_ID",
    "APPLE_APP_SPECIFIC_PASSWORD",
    "APPLE_TEAM_ID",
  ];
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const name of [...names, "APPLE_KEYCHAIN_PROFILE"]) vi.stubEnv(name, undefined);
  expect(seen()).toEqual({ mac: undefined, win: undefined, notarized: undefined });
  vi.stubEnv("CSC_LINK", "mac.p12");
  vi.stubEnv("WIN_CSC_LINK", "win.p12");
  for (const [name, value] of [
    ["APPLE_API_KEY", "key.p8"],
    ["APPLE_API_KEY_ID", "K1"],
    ["APPLE_API_ISSUER", "I1"],
  ] as const)
    vi.stubEnv(name, value);
  expect(seen()).toMatchObject({
    mac: "mac.p12",
    win: "win.p12",
    notarized: { appleApiKey: "key.p8", appleApiKeyId: "K1", appleApiIssuer: "I1" },
  });
  vi.stubEnv("APPLE_ID", "id");
  vi.stubEnv("APPLE_APP_SPECIFIC_PASSWORD", "p");
  vi.stubEnv("APPLE_TEAM_ID", "T1");
  expect(seen().notarized).toMatchObject({ appleId: "id", appleIdPassword: "p", teamId: "T1" });
});

/** `npm run build`: the dashboard, the services and both shells into dist/. Skips what has not changed. */
import { createHash } from "node:crypto";
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { packageAssets, serviceAssets, serviceEntries, servicePages } from "./service-files.mjs";

const root = path.resolve(import.meta.dirname, "..");
const dist = path.join(root, "dist");

/** One SSR build for what Node runs: entries share their chunks, and pure-JS dependencies are bundled in. */
const nodeEntries = {
  "servers/backlot": "servers/backlot.ts",
  "servers/service-process": "servers/service-process.ts",
  "servers/check-arguments": "servers/check-arguments.ts",
  "electron/main": "electron/main.ts",
};
/** A sandboxed preload may load no other file. */
const preloadEntries = { "electron/preload": "electron/preload.ts" };
const nativeOrHost = ["electron", "better-sqlite3", "bufferutil", "utf-8-validate"];

/** The pages of services have the colours of the dashboard, and the pace of its lists. */
const themeTokens = "renderer/src/ui/theme-tokens.ts";
const frameStore = "renderer/src/control/frame-store.ts";

const inputs = {
  renderer: ["renderer", "contract", "package-lock.json", "scripts/build.mjs"],
  node: [
    "servers",
    "electron",
    "contract",
    themeTokens,
    frameStore,
    "package.json",
    "package-lock.json",
    "scripts/build.mjs",
    "scripts/service-files.mjs",
  ],
};

const stampOf = (part) => path.join(dist, `.${part}-stamp`);

/** The parts of which something changed since their last build. */
export const changedParts = () => Object.keys(inputs).filter((part) => readOrEmpty(stampOf(part)) !== fingerprintOf(inputs[part]));

/** Builds what changed since the last build. Returns the parts that were built. */
export async function build({ force = false, only, log = () => {} } = {}) {
  const parts = (force ? Object.keys(inputs) : changedParts()).filter((part) => !only || part === only);
  for (const part of parts) {
    const fingerprint = fingerprintOf(inputs[part]);
    log(`Building ${part === "node" ? "the services" : "the dashboard"} ...`);
    if (part === "renderer") await buildRenderer();
    else await buildNode();
    writeFileSync(stampOf(part), fingerprint);
  }
  return parts;
}

async function buildRenderer() {
  const vite = await import("vite");
  await vite.build({ configFile: path.join(root, "renderer/vite.config.ts"), root: path.join(root, "renderer"), logLevel: "warn" });
}

async function buildNode() {
  const vite = await import("vite");
  for (const folder of ["servers", "electron"]) rmSync(path.join(dist, folder), { recursive: true, force: true });
  for (const folder of serviceAssets(root)) cpSync(path.join(root, folder), path.join(dist, folder), { recursive: true });
  for (const { from, files, to } of packageAssets)
    for (const file of files) cpSync(path.join(root, from, file), path.join(dist, to, file), { recursive: true });
  for (const input of [{ ...nodeEntries, ...serviceEntries(root) }, preloadEntries]) {
    await vite.build({
      configFile: false,
      root,
      logLevel: "warn",
      define: { "process.env.NODE_ENV": JSON.stringify("production") },
      ssr: { noExternal: true, external: nativeOrHost },
      build: {
        ssr: true,
        outDir: dist,
        emptyOutDir: false,
        target: "node22",
        minify: false,
        rollupOptions: {
          input: Object.fromEntries(Object.entries(input).map(([name, file]) => [name, path.join(root, file)])),
          output: { format: "cjs", entryFileNames: "[name].cjs", chunkFileNames: "servers/chunks/[name]-[hash].cjs" },
        },
      },
    });
  }
  await buildPages(vite);
}

/** The pages of services, for the browsers of their clients. */
async function buildPages(vite) {
  const { default: react } = await import("@vitejs/plugin-react");
  for (const { service, name, folder } of servicePages(root)) {
    await vite.build({
      configFile: false,
      root: path.join(root, folder),
      base: `/${name}/`,
      logLevel: "warn",
      plugins: [react(), await themeStyles()],
      build: {
        outDir: path.join(dist, "servers", service, "assets", name),
        emptyOutDir: true,
        target: ["chrome110", "firefox115", "safari16"],
        // The content security policy has no `data:`: everything is a file.
        assetsInlineLimit: 0,
        modulePreload: { polyfill: false },
      },
    });
  }
}

/** The style sheet "virtual:theme.css": the tokens of the theme, as the system's choice of dark or light says. */
async function themeStyles() {
  const { darkTokens, lightTokens, sharedTokens } = await import(pathToFileURL(path.join(root, themeTokens)).href);
  const lines = (tokens) => Object.entries(tokens).map(([name, value]) => `${name}: ${value};`);
  const rule = (tokens) => `:root { ${lines(tokens).join(" ")} }`;
  const css = [rule({ ...sharedTokens, ...darkTokens }), `@media (prefers-color-scheme: light) { ${rule(lightTokens)} }`].join("\n");
  const id = "\0virtual:theme.css";
  return {
    name: "theme-styles",
    resolveId: (source) => (source === "virtual:theme.css" ? id : undefined),
    load: (loaded) => (loaded === id ? css : undefined),
  };
}

/** Names, sizes and times of all source files: cheap, and as good as content for "has anything changed". */
function fingerprintOf(sources) {
  const hash = createHash("sha256");
  const visit = (file) => {
    const stat = statSync(file, { throwIfNoEntry: false });
    if (!stat) return;
    if (stat.isDirectory()) {
      for (const name of readdirSync(file).sort()) if (name !== "node_modules") visit(path.join(file, name));
    } else hash.update(`${path.relative(root, file)}\0${stat.size}\0${stat.mtimeMs}\n`);
  };
  for (const source of sources) visit(path.join(root, source));
  return hash.digest("hex");
}

function readOrEmpty(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const started = performance.now();
  const built = await build({
    force: process.argv.includes("--force"),
    only: Object.keys(inputs).find((part) => process.argv.includes(`--${part}`)),
    log: console.log,
  });
  console.log(built.length === 0 ? "Nothing to build." : `Built in ${((performance.now() - started) / 1_000).toFixed(1)} s.`);
}

import { readFile } from "node:fs/promises";
import path from "node:path";
import { extractFile, listPackage, statFile } from "@electron/asar";
import { fusesOf } from "./require-known-fuses.mjs";
import { packageAssets, serviceAssets, serviceEntries } from "./service-files.mjs";

const root = path.resolve(import.meta.dirname, "..");

/** Entries, from which every other program file must be reached by `require`. */
const programEntries = [
  "dist/electron/main.cjs",
  "dist/servers/service-process.cjs",
  ...Object.keys(serviceEntries(root)).map((name) => `dist/${name}.cjs`),
];
/** Loaded by the window alone, and into a sandbox that requires nothing. */
const preload = "dist/electron/preload.cjs";
/** The dashboard, and the page that the WebRTC service serves. */
const pages = ["dist/renderer/index.html", "dist/servers/webrtc/assets/test-page/index.html"];
const shellFiles = ["package.json", preload, "resources/icons/256x256.png", "resources/tray/tray-linux.png"];

/** SQLite's binding, which finds its binary by name: no require of ours leads to these. */
const sqlite = "node_modules/better-sqlite3";
const sqliteFiles = [`${sqlite}/package.json`, `${sqlite}/lib/index.js`, `${sqlite}/prebuilds/linux-x64.node`];
/** Files that services read by name while they run. */
const assetFolders = [...serviceAssets(root), ...packageAssets.map(({ to }) => to)].map((folder) => `dist/${folder}/`);
const isAsset = (name) => assetFolders.some((folder) => name.startsWith(folder));
/** Loaded by the system, or read by an open file: these are beside the archive. */
const isOpened = (name) => name.endsWith(".node") || (isAsset(name) && name.endsWith(".mp4"));
const isSqliteModule = (name) => name.startsWith(`${sqlite}/lib/`) && !/-(x|arm)64\.js$/.test(name);

/**
 * RunAsNode, cookie encryption, NODE_OPTIONS, inspector: off. ASAR integrity, app from ASAR only: on.
 * V8 snapshot of its own, file: privileges: off. WebAssembly's trap handlers: as shipped.
 */
const expectedFuses = "000011001";

/**
 * What is packed in electron-builder's output folder for Linux, and what is wrong with it.
 * @returns {Promise<{ files: { name: string, bytes: number, isUnpacked: boolean }[], problems: string[] }>}
 */
export async function inspectPackage(folder) {
  const archive = path.join(folder, "resources", "app.asar");
  const read = (name) => extractFile(archive, path.normalize(name)).toString();
  const files = listPackage(archive, { isPack: false })
    .map((name) => name.slice(1).replaceAll(path.sep, "/"))
    .map((name) => ({ name, stat: statFile(archive, path.normalize(name)) }))
    .filter(({ stat }) => !("files" in stat))
    .map(({ name, stat }) => ({ name, bytes: stat.size, isUnpacked: stat.unpacked === true }));
  const names = new Set(files.map(({ name }) => name));

  const needed = new Set([
    ...shellFiles,
    ...programEntries,
    ...pages,
    ...sqliteFiles,
    ...[...names].filter((name) => isSqliteModule(name) || isAsset(name)),
  ]);
  for (const entry of programEntries) follow(entry, requiredFiles, names, read, needed);
  for (const page of pages) {
    const folder = path.posix.dirname(page);
    follow(page, (_from, text) => namedAssets(folder, text, names), names, read, needed);
  }

  const opened = files.filter(({ name }) => isOpened(name));
  const problems = [
    ...[...names].filter((name) => !needed.has(name)).map((name) => `Packed without need: ${name}`),
    ...[...needed].filter((name) => !names.has(name)).map((name) => `Missing: ${name}`),
    ...opened.filter(({ isUnpacked }) => !isUnpacked).map(({ name }) => `In the archive, where it cannot be opened: ${name}`),
    ...(await differingFiles(archive, opened)).map((name) => `Not as it was built: ${name}`),
  ];
  const fuses = await fusesOf(path.join(folder, "backlot"));
  if (fuses !== expectedFuses) problems.push(`The fuses are ${fuses}, not ${expectedFuses}`);
  return { files, problems };
}

/** Electron leads a path of the archive to the folder beside it. */
async function differingFiles(archive, files) {
  const isSame = async (name) => (await readFile(path.join(`${archive}.unpacked`, name))).equals(await readFile(path.join(root, name)));
  const same = await Promise.all(files.map(({ name }) => isSame(name).catch(() => false)));
  return files.flatMap(({ name }, index) => (same[index] ? [] : [name]));
}

/** Adds to `needed` all that a file leads to, by way of `find`. */
function follow(file, find, names, read, needed) {
  if (!names.has(file)) return;
  for (const next of find(file, read(file))) {
    if (needed.has(next)) continue;
    needed.add(next);
    if (/\.(cjs|js|css|html)$/.test(next)) follow(next, find, names, read, needed);
  }
}

/** Without block comments: libraries write examples of `require` there. */
const requiredFiles = (from, text) =>
  [...text.replace(/^\s*\*.*$/gm, "").matchAll(/\brequire\("(\.[^"]+)"\)/g)].map(([, target]) =>
    path.posix.join(path.posix.dirname(from), target),
  );

/** Vite's names hold a hash of the content, so a file that is named is used. */
const namedAssets = (folder, text, names) =>
  [...names].filter((name) => name.startsWith(`${folder}/`) && text.includes(path.posix.basename(name)));

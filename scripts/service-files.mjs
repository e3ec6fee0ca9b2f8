/** What a service's folder brings to the build by the names of its files. */
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";

const isService = (entry) => entry.isDirectory() && entry.name !== "core" && entry.name !== "supervisor";
const serviceFolders = (root) =>
  readdirSync(path.join(root, "servers"), { withFileTypes: true })
    .filter(isService)
    .map(({ name }) => name);

/** `servers/rtsp/encoder-process.ts` is a program of its own, `servers/rtsp/decoder-worker.ts` a worker: each gets an entry. */
export function serviceEntries(root) {
  return Object.fromEntries(
    serviceFolders(root).flatMap((service) =>
      readdirSync(path.join(root, "servers", service))
        .filter((file) => /-(?:process|worker)\.ts$/.test(file))
        .map((file) => [`servers/${service}/${path.basename(file, ".ts")}`, `servers/${service}/${file}`]),
    ),
  );
}

/** Folders `servers/<id>/assets`, whose files are copied as they are; `assetFile` of servers/core finds them. */
export const serviceAssets = (root) =>
  serviceFolders(root)
    .filter((service) => readdirSync(path.join(root, "servers", service)).includes("assets"))
    .map((service) => `servers/${service}/assets`);

/** Files of packages that a service serves as they are. */
export const packageAssets = [
  {
    from: "node_modules/socket.io/client-dist",
    files: ["socket.io.js", "socket.io.min.js", "socket.io.esm.min.js"],
    to: "servers/webrtc/assets/socket.io",
  },
];

/** Web pages of a service's own, `servers/<id>/<name>/page/index.html`: the build makes `assets/<name>` of them, which is served at `/<name>/`. */
export const servicePages = (root) =>
  serviceFolders(root).flatMap((service) =>
    readdirSync(path.join(root, "servers", service), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && existsSync(path.join(root, "servers", service, entry.name, "page/index.html")))
      .map(({ name }) => ({ service, name, folder: `servers/${service}/${name}/page` })),
  );

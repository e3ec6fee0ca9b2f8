import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { assetFile } from "../../../core/files/asset-file.ts";
import type { HttpRoute } from "../../../core/http/http-route.ts";
import { send } from "../../../core/http/messages/http-answer.ts";

/** As Socket.IO's own server has them, without the client of MessagePack, which the service does not speak. The build copies them from the package: scripts/service-files.mjs. */
const names = ["socket.io.js", "socket.io.min.js", "socket.io.esm.min.js"];

const folder = fileURLToPath(import.meta.url).endsWith(".ts")
  ? fileURLToPath(new URL("../../../../node_modules/socket.io/client-dist", import.meta.url))
  : assetFile("webrtc", "socket.io");

/** The client for pages that load it from the server: `<script src="http://127.0.0.1:8443/socket.io/socket.io.js">`. */
export const clientFileRoutes = (base: string): readonly HttpRoute[] =>
  names.map((name) => {
    let script: Promise<Buffer> | undefined;
    return {
      path: `${base}/${name}`,
      methods: ["GET"],
      async handle(_request, response) {
        // Read once, however many ask for it at the same time.
        script ??= readFile(path.join(folder, name));
        send(response, 200, "text/javascript; charset=utf-8", await script, { "Cache-Control": "no-cache" });
      },
    };
  });

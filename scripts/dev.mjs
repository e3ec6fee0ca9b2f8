/** `npm run dev`: Backlot from source; the dashboard reloads in place, a changed service restarts, changed shared code restarts all. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { watch } from "node:fs";
import net from "node:net";
import path from "node:path";
import { buildWhatChanged, continueOnSuitableNode, installPackages, root } from "./setup.mjs";

const args = process.argv.slice(2);
await installPackages();
await continueOnSuitableNode(path.join(root, "scripts/dev.mjs"), args);
// The control server needs a built dashboard; Vite serves the one in development.
await buildWhatChanged();

/** The running Backlot and, once it is ready, its control socket. */
let backlot;
let control;

function startBacklot() {
  const child = spawn(process.execPath, ["servers/backlot.ts", "--headless", "--json", "--dashboard-port", String(controlPort), ...args], {
    cwd: root,
    stdio: ["inherit", "pipe", "inherit"],
  });
  let rest = "";
  child.stdout.on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) void onLine(JSON.parse(line));
  });
  child.once("exit", () => {
    control = undefined;
    if (backlot === child) console.error("Backlot ended; the next change starts it again.");
  });
  return child;
}

async function onLine(line) {
  if (line.type !== "ready") return;
  const { hash } = new URL(line.dashboard);
  console.error(`Dashboard with reload: ${new URL(hash, vite.resolvedUrls.local[0])}`);
  const protocols = ["backlot", `backlot.token.${hash.slice("#token=".length)}`];
  control = new WebSocket(`${controlUrl.replace("http", "ws")}/control`, protocols, { origin: controlUrl });
  control.on("error", () => {});
}

/** A change in a service's folder restarts its process only; a change in shared code restarts everything, with a new link to the dashboard. */
function onChange(file) {
  const [folder] = file.split(path.sep);
  if (!sharedFolders.has(folder) && file.includes(path.sep) && control) {
    control.send(JSON.stringify({ type: "call", id: 1, name: "service.restart", params: { id: folder } }));
  } else {
    const previous = backlot;
    backlot = undefined;
    previous.once("exit", () => {
      backlot = startBacklot();
    });
    if (previous.exitCode === null) previous.kill("SIGTERM");
    else previous.emit("exit");
  }
}

/** An editor saves in several steps, each a change: they are handled together, a moment after the last. */
function debounced(listener) {
  const timers = new Map();
  return (_event, file) => {
    if (!file?.endsWith(".ts")) return;
    clearTimeout(timers.get(file));
    timers.set(
      file,
      setTimeout(() => backlot && listener(file), 150),
    );
  };
}

const sharedFolders = new Set(["core", "supervisor"]);
const { default: WebSocket } = await import("ws");
const { createServer } = await import("vite");
const controlPort = await freePort();
const controlUrl = `http://127.0.0.1:${controlPort}`;
// The control server accepts its own Host and Origin only.
const toControl = { target: controlUrl, changeOrigin: true, headers: { origin: controlUrl } };
const vite = await createServer({
  configFile: path.join(root, "renderer/vite.config.ts"),
  root: path.join(root, "renderer"),
  server: { host: "127.0.0.1", port: 5_173, proxy: { "/control": { ...toControl, ws: true }, "/export": toControl } },
});
await vite.listen();

backlot = startBacklot();
watch(path.join(root, "servers"), { recursive: true }, debounced(onChange));
watch(
  path.join(root, "contract"),
  { recursive: true },
  debounced(() => onChange("core")),
);
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, async () => {
    const last = backlot;
    backlot = undefined;
    last?.kill("SIGTERM");
    await Promise.all([vite.close(), last?.exitCode === null && once(last, "exit")]);
    process.exit(0);
  });
}

async function freePort() {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}

/** Serves the built dashboard over the fake supervisor: `node test/renderer/fake-control-server.ts full 7171`. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { WebSocketServer } from "ws";
import type { Topic } from "../../contract/control.ts";
import type { DownFrame, UpFrame } from "../../contract/wire.ts";
import { type CallParams, createFakeSupervisor, type Scenario } from "./fake-supervisor.ts";

const [scenario = "full", port = "7171"] = process.argv.slice(2);
const root = join(import.meta.dirname, "../../dist/renderer");
const types: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};
const policy = "default-src 'self'; style-src 'self' 'unsafe-inline'";

const server = createServer(async (request, response) => {
  const path = normalize(new URL(request.url ?? "/", "http://localhost").pathname);
  const file = path === "/" ? "/index.html" : path;
  try {
    response.writeHead(200, { "content-type": types[extname(file)] ?? "application/octet-stream", "content-security-policy": policy });
    response.end(await readFile(join(root, file)));
  } catch {
    response.end();
  }
});

const listeners = new Map<Topic, Set<(items: readonly unknown[]) => void>>();
const fake = createFakeSupervisor(scenario as Scenario, (topic, items) => {
  for (const listener of listeners.get(topic) ?? []) listener(items);
});
setInterval(fake.second, 1_000);
setInterval(fake.tick, 50);

new WebSocketServer({ server, path: "/control" }).on("connection", (socket) => {
  const post = (frame: DownFrame) => socket.send(JSON.stringify(frame));
  const held = new Map<Topic, (items: readonly unknown[]) => void>();
  socket.on("message", async (data) => {
    const frame = JSON.parse(String(data)) as UpFrame;
    if (frame.type === "call") {
      try {
        post({ type: "result", id: frame.id, value: await fake.call(frame.name as never, frame.params as CallParams) });
      } catch (failure) {
        post({ type: "failure", id: frame.id, failure: failure as never });
      }
    }
    if (frame.type === "subscribe") {
      const topic = frame.topic as Topic;
      let seq = 0;
      const listener = (items: readonly unknown[]) => {
        const fits = items.slice(-300);
        post({ type: "batch", topic, seq: ++seq, items: fits, dropped: items.length - fits.length });
      };
      held.set(topic, listener);
      const set = listeners.get(topic) ?? new Set();
      listeners.set(topic, set.add(listener));
      const known = fake.known[topic]?.();
      if (known) listener(known);
    }
    if (frame.type === "unsubscribe") listeners.get(frame.topic as Topic)?.delete(held.get(frame.topic as Topic) as never);
  });
  socket.on("close", () => {
    for (const [topic, listener] of held) listeners.get(topic)?.delete(listener);
  });
});
server.listen(Number(port), "127.0.0.1", () => console.log(`http://127.0.0.1:${port}`));

/** Server-sent events on node:http: one ticker and one ready-made frame for all. `node sse-node-http.ts PORT` */
import { createServer, type ServerResponse } from "node:http";

const clients = new Set<ServerResponse>();
let id = 0;

setInterval(() => {
  const frame = `event: ping\nid: ${id}\ndata: ${JSON.stringify({ id, timestamp: Date.now() })}\n\n`;
  id++;
  for (const client of clients) if (!client.writableNeedDrain) client.write(frame);
}, 100);

createServer((request, response) => {
  if (request.url?.split("?", 1)[0] !== "/api/stream") {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-cache" });
  response.flushHeaders();
  clients.add(response);
  response.on("close", () => clients.delete(response));
}).listen(Number(process.argv[2]), "127.0.0.1", 2_048);

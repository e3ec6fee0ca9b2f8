/** Server-sent events as most examples write them: Express and a timer per client. `node sse-express.ts PORT` */
import { createServer } from "node:http";
import express from "express";

const app = express();
app.get("/api/stream", (_request, response) => {
  response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-cache" });
  response.flushHeaders();
  let id = 0;
  const timer = setInterval(() => {
    response.write(`event: ping\nid: ${id}\ndata: ${JSON.stringify({ id, timestamp: Date.now() })}\n\n`);
    id++;
  }, 100);
  response.on("close", () => clearInterval(timer));
});
// app.listen() has no backlog for a thousand clients that come at once.
createServer(app).listen(Number(process.argv[2]), "127.0.0.1", 2_048);

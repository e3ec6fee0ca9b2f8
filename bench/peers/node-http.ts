/** Two routes on node:http and nothing else: the floor that no framework goes below. `node node-http.ts PORT` */
import { createServer, type ServerResponse } from "node:http";
import { bodyLimit, echoBody, port, statusBody } from "./equal-answers.ts";

function sendJson(response: ServerResponse, status: number, value: unknown) {
  const text = JSON.stringify(value);
  response.writeHead(status, { "Content-Type": "application/json; charset=utf-8", "Content-Length": Buffer.byteLength(text) });
  response.end(text);
}

createServer((request, response) => {
  if (request.method === "GET" && request.url === "/") {
    sendJson(response, 200, statusBody);
    return;
  }
  if (request.method !== "POST" || request.url !== "/api/echo") {
    sendJson(response, 404, { status: "error", message: "Not found" });
    return;
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bodyLimit) request.destroy();
    else chunks.push(chunk);
  });
  request.on("end", () => {
    try {
      sendJson(response, 200, echoBody(JSON.parse(Buffer.concat(chunks).toString())));
    } catch {
      sendJson(response, 400, { status: "error", message: "Invalid JSON" });
    }
  });
}).listen(port, "127.0.0.1");

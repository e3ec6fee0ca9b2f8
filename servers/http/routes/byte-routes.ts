import { waitWithClient } from "../../core/http/connections/client-wait.ts";
import { writeForClient } from "../../core/http/connections/client-work.ts";
import type { HttpRequest, HttpResponse } from "../../core/http/http-route.ts";
import { jsonType } from "../../core/http/messages/http-answer.ts";
import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";
import { fillBySeed, fillWithRandom, generatedPieces, standardPiece, starPieces } from "../formats/generated-pieces.ts";
import { viewRequest } from "../formats/request-view.ts";
import type { HttpConfig } from "../http-config.ts";
import { durationQuery, integerParam, integerQuery, queryOf } from "./query.ts";
import { type Route, routeGroup } from "./route.ts";

const octets = "application/octet-stream";

export const byteRoutes = (config: HttpConfig): readonly Route[] =>
  routeGroup("Bytes and streams", [
    {
      path: "/bytes/:count",
      methods: ["GET"],
      summary: `Random bytes, at most ${config.generatedBytes}`,
      query: { seed: "the same bytes for the same seed" },
      handle: (request, response) => sendBytes(request, response, config),
    },
    {
      path: "/stream-bytes/:count",
      methods: ["GET"],
      summary: "The same, chunk by chunk",
      query: { seed: "as above", chunk_size: "bytes in a chunk, 10240 without" },
      handle: (request, response) => streamBytes(request, response, config),
    },
    {
      path: "/stream/:count",
      methods: ["GET"],
      summary: `JSON lines, at most ${config.streamLines}`,
      handle: (request, response) => streamLines(request, response, config),
    },
    {
      path: "/drip",
      methods: ["GET"],
      summary: "Sends bytes slowly over a time",
      query: { numbytes: "10 without", duration: "2 s without", delay: "before the first byte", code: "status, 200 without" },
      handle: (request, response) => drip(request, response, config),
    },
  ]);

/** What the request asks for, made when its turn comes. */
function piecesFor(request: HttpRequest, count: number, pieceBytes: number): Iterable<Buffer | undefined> {
  const seed = queryOf(request).get("seed");
  return generatedPieces(count, pieceBytes, seed === null ? fillWithRandom : fillBySeed(seed));
}

const countOf = (request: HttpRequest, config: HttpConfig): number => Math.min(integerParam(request, "count"), config.generatedBytes);

async function sendBytes(request: HttpRequest, response: HttpResponse, config: HttpConfig): Promise<void> {
  const count = countOf(request, config);
  response.setHeader("Content-Type", octets);
  response.setHeader("Content-Length", count);
  if (request.method !== "HEAD") await writeForClient(request, response, piecesFor(request, count, standardPiece));
  response.end();
}

async function streamBytes(request: HttpRequest, response: HttpResponse, config: HttpConfig): Promise<void> {
  const count = countOf(request, config);
  const chunkSize = integerQuery(queryOf(request), "chunk_size", { fallback: 10_240, minimum: 1 });
  response.setHeader("Content-Type", octets);
  if (request.method !== "HEAD") await writeForClient(request, response, piecesFor(request, count, chunkSize));
  response.end();
}

async function streamLines(request: HttpRequest, response: HttpResponse, config: HttpConfig): Promise<void> {
  const count = Math.min(integerParam(request, "count"), config.streamLines);
  response.setHeader("Content-Type", jsonType);
  if (request.method !== "HEAD") await writeForClient(request, response, linesOf(request, count));
  response.end();
}

function* linesOf(request: HttpRequest, count: number): Generator<string, void> {
  const view = viewRequest(request);
  for (let id = 0; id < count; id++) yield `${JSON.stringify({ ...view, id })}\n`;
}

/** Bytes that are due are sent together; this bounds the number of writes per second. */
const dripsPerSecond = 50;

async function drip(request: HttpRequest, response: HttpResponse, config: HttpConfig): Promise<void> {
  const query = queryOf(request);
  const maximumMs = config.delaySeconds * 1_000;
  const durationMs = durationQuery(query, "duration", { fallbackMs: Math.min(2_000, maximumMs), maximumMs });
  const delayMs = durationQuery(query, "delay", { fallbackMs: 0, maximumMs });
  if (durationMs + delayMs > maximumMs) throw new HttpRefusal(400, `Invalid duration: with the delay at most ${config.delaySeconds} s`);
  const count = Math.min(integerQuery(query, "numbytes", { fallback: 10, minimum: 1 }), config.generatedBytes);
  const code = integerQuery(query, "code", { fallback: 200, minimum: 200, maximum: 599 });
  const hasContent = request.method !== "HEAD" && code !== 204 && code !== 205 && code !== 304;

  if (delayMs > 0) await waitWithClient(response, delayMs);
  response.statusCode = code;
  response.setHeader("Content-Type", octets);
  if (code !== 204 && code !== 304) response.setHeader("Content-Length", code === 205 ? 0 : count);
  if (!hasContent) {
    response.end();
    return;
  }
  response.flushHeaders();
  const steps = Math.max(1, Math.min(count, Math.ceil((durationMs / 1_000) * dripsPerSecond)));
  // The first bytes are sent immediately, the last at the end of the duration.
  const pauseMs = durationMs / Math.max(1, steps - 1);
  const paced = { socket: request.socket, work: request.pacedWork };
  for (let step = 0, sent = 0; step < steps; step++) {
    if (step > 0) await waitWithClient(response, pauseMs, request.pacedWork);
    const due = Math.round(((step + 1) * count) / steps);
    await writeForClient(paced, response, starPieces(due - sent));
    sent = due;
  }
  response.end();
}

import type { Request, Response } from "express";
import { type ByteRange, parseByteRanges } from "../byte-ranges.ts";
import { etagMatches } from "../entity-tag.ts";
import type { HttpConfig } from "../http-config.ts";
import { durationQuery, integerParam, integerQuery, queryOf } from "../query.ts";
import { sendError } from "../reply.ts";
import { type Route, routeGroup } from "../route.ts";
import { waitWithClient, writeToClient } from "../wait.ts";

export const rangeRoutes = (config: HttpConfig): readonly Route[] =>
  routeGroup("Bytes and streams", [
    {
      path: "/range/:count",
      methods: ["GET"],
      summary: `The letters a to z over and over, at most ${config.generatedBytes} bytes, with Range, If-Range and several ranges (RFC 9110 §14)`,
      query: { chunk_size: "bytes in a chunk, 10240 without", duration: "over how long" },
      handle: (request, response) => sendRange(request, response, config),
    },
  ]);

const letters = "abcdefghijklmnopqrstuvwxyz";
const contentOf = (start: number, length: number) =>
  Buffer.from(letters.repeat(Math.ceil((length + 26) / 26)).slice(start % 26, (start % 26) + length));

async function sendRange(request: Request, response: Response, config: HttpConfig): Promise<void> {
  const count = integerParam(request, "count");
  const etag = `"range${count}"`;
  response.setHeader("ETag", etag);
  response.setHeader("Accept-Ranges", "bytes");
  if (count === 0 || count > config.generatedBytes) {
    sendError(response, 404, `number of bytes must be in the range (0, ${config.generatedBytes}]`);
    return;
  }
  const query = queryOf(request);
  const pace: Pace = {
    chunkSize: integerQuery(query, "chunk_size", { fallback: 10_240, minimum: 1 }),
    msPerByte: durationQuery(query, "duration", { fallbackMs: 0, maximumMs: config.delaySeconds * 1_000 }) / count,
  };
  const ranges = rangesOf(request, etag, count);
  if (ranges === "unsatisfiable") {
    sendError(response, 416, "No such range", { "Content-Range": `bytes */${count}` });
    return;
  }
  if (ranges === undefined) return sendParts(request, response, pace, [contentOf(0, count)]);
  response.statusCode = 206;
  const [first] = ranges;
  if (ranges.length === 1 && first) {
    response.setHeader("Content-Range", contentRange(first, count));
    return sendParts(request, response, pace, [contentOf(first.start, first.end - first.start + 1)]);
  }
  const boundary = "backlot-range";
  response.setHeader("Content-Type", `multipart/byteranges; boundary=${boundary}`);
  const parts = ranges.flatMap((range) => [
    Buffer.from(`--${boundary}\r\nContent-Type: application/octet-stream\r\nContent-Range: ${contentRange(range, count)}\r\n\r\n`),
    contentOf(range.start, range.end - range.start + 1),
    Buffer.from("\r\n"),
  ]);
  return sendParts(request, response, pace, [...parts, Buffer.from(`--${boundary}--\r\n`)]);
}

function rangesOf(request: Request, etag: string, count: number): readonly ByteRange[] | "unsatisfiable" | undefined {
  // RFC 9110 §14.2: Range is defined for GET alone; §13.1.5: it counts only while If-Range still holds.
  if (request.method !== "GET") return undefined;
  const ifRange = request.headers["if-range"];
  if (typeof ifRange === "string" && !etagMatches(ifRange, etag, "strong")) return undefined;
  return parseByteRanges(request.headers.range, count);
}

const contentRange = ({ start, end }: ByteRange, count: number) => `bytes ${start}-${end}/${count}`;

interface Pace {
  readonly chunkSize: number;
  readonly msPerByte: number;
}

async function sendParts(request: Request, response: Response, pace: Pace, parts: readonly Buffer[]): Promise<void> {
  const body = Buffer.concat(parts);
  if (!response.hasHeader("Content-Type")) response.setHeader("Content-Type", "application/octet-stream");
  response.setHeader("Content-Length", body.length);
  if (request.method !== "HEAD") {
    for (let start = 0; start < body.length; start += pace.chunkSize) {
      const chunk = body.subarray(start, start + pace.chunkSize);
      await writeToClient(response, chunk);
      if (pace.msPerByte > 0) await waitWithClient(response, chunk.length * pace.msPerByte);
    }
  }
  response.end();
}

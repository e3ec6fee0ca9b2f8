import { waitWithClient } from "../../core/http/connections/client-wait.ts";
import { writeForClient } from "../../core/http/connections/client-work.ts";
import type { HttpRequest, HttpResponse } from "../../core/http/http-route.ts";
import { letterPieces, standardPiece } from "../formats/generated-pieces.ts";
import type { HttpConfig } from "../http-config.ts";
import { etagMatches } from "./caching-routes.ts";
import { durationQuery, integerParam, integerQuery, queryOf } from "./query.ts";
import { sendError } from "./reply.ts";
import { type Route, routeGroup } from "./route.ts";

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

async function sendRange(request: HttpRequest, response: HttpResponse, config: HttpConfig): Promise<void> {
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
    chunkSize: integerQuery(query, "chunk_size", { fallback: standardChunk, minimum: 1 }),
    msPerByte: durationQuery(query, "duration", { fallbackMs: 0, maximumMs: config.delaySeconds * 1_000 }) / count,
  };
  const ranges = rangesOf(request, etag, count);
  if (ranges === "unsatisfiable") {
    sendError(response, 416, "No such range", { "Content-Range": `bytes */${count}` });
    return;
  }
  if (ranges === undefined) return sendParts(request, response, pace, [{ start: 0, end: count - 1 }]);
  response.statusCode = 206;
  const [first] = ranges;
  if (ranges.length === 1 && first) {
    response.setHeader("Content-Range", contentRange(first, count));
    return sendParts(request, response, pace, [first]);
  }
  const boundary = "backlot-range";
  response.setHeader("Content-Type", `multipart/byteranges; boundary=${boundary}`);
  const parts = ranges.flatMap((range) => [
    Buffer.from(`--${boundary}\r\nContent-Type: application/octet-stream\r\nContent-Range: ${contentRange(range, count)}\r\n\r\n`),
    range,
    Buffer.from("\r\n"),
  ]);
  return sendParts(request, response, pace, [...parts, Buffer.from(`--${boundary}--\r\n`)]);
}

function rangesOf(request: HttpRequest, etag: string, count: number): readonly ByteRange[] | "unsatisfiable" | undefined {
  // RFC 9110 §14.2: Range is defined for GET alone; §13.1.5: it counts only while If-Range still holds.
  if (request.method !== "GET") return undefined;
  const ifRange = request.headers["if-range"];
  if (typeof ifRange === "string" && !etagMatches(ifRange, etag, "strong")) return undefined;
  return parseByteRanges(request.headers.range, count);
}

const contentRange = ({ start, end }: ByteRange, count: number) => `bytes ${start}-${end}/${count}`;

const standardChunk = 10_240;

interface Pace {
  readonly chunkSize: number;
  readonly msPerByte: number;
}

/** Bytes, or a range of the letters. */
type Part = Buffer | ByteRange;

const lengthOf = (part: Part): number => (Buffer.isBuffer(part) ? part.length : part.end - part.start + 1);

function* piecesOf(parts: readonly Part[], pieceBytes: number): Generator<Buffer, void> {
  for (const part of parts) {
    if (Buffer.isBuffer(part)) yield part;
    else yield* letterPieces(part.start, lengthOf(part), pieceBytes);
  }
}

async function sendParts(request: HttpRequest, response: HttpResponse, pace: Pace, parts: readonly Part[]): Promise<void> {
  if (!response.hasHeader("Content-Type")) response.setHeader("Content-Type", "application/octet-stream");
  response.setHeader(
    "Content-Length",
    parts.reduce((sum, part) => sum + lengthOf(part), 0),
  );
  if (request.method !== "HEAD") {
    // With a Content-Length nobody sees what is written together.
    if (pace.msPerByte === 0) await writeForClient(request, response, piecesOf(parts, standardPiece));
    else {
      const paced = { socket: request.socket, work: request.pacedWork };
      for (const piece of piecesOf(parts, Math.min(pace.chunkSize, standardPiece))) {
        await writeForClient(paced, response, [piece]);
        await waitWithClient(response, piece.length * pace.msPerByte, paced.work);
      }
    }
  }
  response.end();
}

/** Both ends are included. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** More ranges are only useful for an attack (RFC 9110 §14.2, §17.15). */
const mostRanges = 16;

/**
 * RFC 9110 §14.1.2. Not by the package range-parser: to it `bytes=-500` of a body of 100 bytes is unsatisfiable, where the RFC asks for
 * all of the body. Undefined if the field is absent, of another unit, malformed or abusive: it is ignored then.
 */
function parseByteRanges(field: string | undefined, length: number): readonly ByteRange[] | "unsatisfiable" | undefined {
  const set = /^bytes=(.*)$/i.exec(field?.trim() ?? "")?.[1];
  if (set === undefined) return undefined;
  const specs = set
    .split(",")
    .map((spec) => spec.trim())
    .filter((spec) => spec !== "");
  if (specs.length === 0 || specs.length > mostRanges) return undefined;
  const ranges: ByteRange[] = [];
  for (const spec of specs) {
    const match = /^(\d*)-(\d*)$/.exec(spec);
    if (!match || spec === "-") return undefined;
    const [first, last] = [match[1] ?? "", match[2] ?? ""];
    if (first !== "" && last !== "" && Number(first) > Number(last)) return undefined;
    const start = first === "" ? Math.max(0, length - Number(last)) : Number(first);
    const end = first === "" || last === "" ? length - 1 : Math.min(Number(last), length - 1);
    if (start <= end && start < length) ranges.push({ start, end });
  }
  return ranges.length === 0 ? "unsatisfiable" : ranges;
}

import { promisify } from "node:util";
import zlib from "node:zlib";
import { runElsewhereForClient } from "../../core/http/connections/client-work.ts";
import type { HttpRequest, HttpResponse } from "../../core/http/http-route.ts";
import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";
import { hasBody, readBody as readBytes } from "../../core/http/messages/request-body.ts";
import { ClientLeft } from "../../core/service/client-left.ts";

type Decoder = (body: Buffer, options: { maxOutputLength: number; chunkSize: number }) => Promise<Buffer>;

const gunzip: Decoder = promisify(zlib.gunzip);
const inflate: Decoder = promisify(zlib.inflate);
const inflateRaw: Decoder = promisify(zlib.inflateRaw);
const brotli: Decoder = promisify(zlib.brotliDecompress);

/** RFC 9110 §8.4.1; "deflate" is zlib's format, though some senders omit its header. */
const decoders: Readonly<Record<string, Decoder>> = {
  gzip: gunzip,
  "x-gzip": gunzip,
  deflate: (body, options) => (looksLikeZlib(body) ? inflate(body, options) : inflateRaw(body, options)),
  br: brotli,
};
const acceptEncoding = "gzip, deflate, br";
const mostCodings = 3;

const looksLikeZlib = (body: Buffer) => body.length >= 2 && ((body[0] ?? 0) & 0x0f) === 8 && body.readUInt16BE(0) % 31 === 0;

/** Decodes the codings, the last applied first. Throws 415 for an unknown one, 413 above the limit, 400 if the bytes are invalid. */
async function decodeContent(request: HttpRequest, body: Buffer, codings: string, limitBytes: number): Promise<Buffer> {
  const names = codings
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "" && name !== "identity");
  let decoded = body;
  if (names.length > mostCodings) throw unsupported();
  for (const name of names.reverse()) {
    const decode = Object.hasOwn(decoders, name) ? decoders[name] : undefined;
    if (!decode) throw unsupported();
    try {
      decoded = await inTurn(request, decoded, decode, limitBytes);
      request.entry?.head.connection.held?.hold(request, decoded.length);
    } catch (error) {
      if (error instanceof ClientLeft) throw error;
      if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") {
        throw bodyTooLarge(limitBytes, " once decompressed");
      }
      throw new HttpRefusal(400, `The body is not valid ${name}`);
    }
  }
  return decoded;
}

/** 413; the row names the setting too. */
export function bodyTooLarge(limitBytes: number, when = ""): HttpRefusal {
  const message = `The body is larger than ${limitBytes} bytes${when}`;
  return new HttpRefusal(413, message, { reason: `${message} (Largest body, HTTP_BODY_BYTES)` });
}

/** Many bodies that grow at the same time would all be in memory before one of them is whole. */
function inTurn(request: HttpRequest, body: Buffer, decode: Decoder, maxOutputLength: number): Promise<Buffer> {
  return runElsewhereForClient(request, async () => {
    const decoded = await decode(body, { maxOutputLength, chunkSize: pieceBytes(body) });
    // A short one would keep the whole piece in memory.
    return decoded.length < decoded.buffer.byteLength / 2 ? Buffer.from(decoded) : decoded;
  });
}

/** Each piece of the result is a job of the thread and a call of ours. */
const pieceBytes = (body: Buffer): number => Math.min(64 << 10, Math.max(1 << 10, 8 * body.length));

// RFC 9110 §15.5.16: the answer lists the supported codings.
const unsupported = () =>
  new HttpRefusal(415, `Unsupported Content-Encoding; ${acceptEncoding} are understood`, {
    headers: { "Accept-Encoding": acceptEncoding },
  });

/** The body without its content codings. Throws BodyTooLarge, and 413 for one that is too large once decompressed. */
export async function readBody(request: HttpRequest, response: HttpResponse, limitBytes: number): Promise<Buffer> {
  const raw = await readBytes(request, response, limitBytes);
  const codings = request.headers["content-encoding"];
  return codings === undefined || !hasBody(request) ? raw : decodeContent(request, raw, codings, limitBytes);
}

import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { ClientMark } from "../../../contract/client-mark.ts";
import type { TryAnswer } from "../../../contract/services/http.ts";
import type { HeaderList } from "../../../contract/traffic/http.ts";
import { errorText, ServiceError } from "../service/service-error.ts";
import type { HttpRecorder } from "./record/http-recorder.ts";

const longestMs = 15_000;
const longestBody = 1 << 20;

const ownAgent = "backlot";

/** Set here only: a wrong value would make the request hang. */
const framing = new Set(["content-length", "transfer-encoding"]);

export interface LoopbackRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: HeaderList;
  readonly body: string | Buffer;
  /** To the HTTPS port. */
  readonly tls?: boolean;
  /** Of the client in the request's row. */
  readonly mark?: ClientMark;
}

interface LoopbackOptions {
  readonly port: number;
  /** Where it listens for HTTPS, and the authority of its certificate; absent while HTTPS is off. */
  readonly https: { readonly port: number; readonly ca: string } | undefined;
  readonly recorder: HttpRecorder;
}

export interface LoopbackClient {
  /** Sends a real request to the service's own port and returns its row id too. An answer that is too long or does not end is cut. */
  send(request: LoopbackRequest): Promise<TryAnswer>;
  /** Aborts the requests in progress. */
  close(): void;
}

export function createLoopbackClient({ port: httpPort, https, recorder }: LoopbackOptions): LoopbackClient {
  const running = new Set<() => void>();

  async function send({ method, target, headers: given, body: content, tls = false, mark }: LoopbackRequest): Promise<TryAnswer> {
    if (tls && !https) throw httpsIsOff();
    const port = tls && https ? https.port : httpPort;
    const headers = given.filter(([name]) => !framing.has(name.toLowerCase()));
    const has = (wanted: string) => headers.some(([name]) => name.toLowerCase() === wanted);
    const body = typeof content === "string" ? Buffer.from(content) : content;
    if (!has("host")) headers.unshift(["Host", `127.0.0.1:${port}`]);
    // With another one its row would be one of that client.
    const ownMark = has("user-agent") && !headers.some(([, value]) => value === ownAgent) ? "from Try" : undefined;
    if (!has("user-agent")) headers.push(["User-Agent", ownAgent]);
    if (body.length > 0) headers.push(["Content-Length", String(body.length)]);
    if (!has("connection")) headers.push(["Connection", "close"]);

    return new Promise<TryAnswer>((resolve, reject) => {
      const startedAt = performance.now();
      const release: (() => void)[] = [];
      const settle = (done: () => void) => {
        for (const each of release) each();
        done();
      };
      const refuse = (cause: unknown) => settle(() => reject(notSent(cause)));
      const stop = () => refuse(new Error("the service stops"));
      running.add(stop);
      release.push(() => running.delete(stop));
      let giveUp = () => refuse(new Error(`no answer in ${longestMs / 1_000} s`));
      const timer = setTimeout(() => giveUp(), longestMs);
      release.push(() => clearTimeout(timer));

      let row: number | undefined;
      function answer(response: IncomingMessage, chunks: readonly Buffer[], bytes: number, truncated: boolean): void {
        const { statusCode = 0, statusMessage = "", httpVersion } = response;
        const shown: TryAnswer = {
          status: statusCode,
          reason: statusMessage,
          httpVersion,
          headers: pairs(response.rawHeaders),
          body: { bytes, base64: Buffer.concat(chunks).subarray(0, longestBody).toString("base64") },
          tookMs: Math.round((performance.now() - startedAt) * 1_000) / 1_000,
          truncated,
        };
        settle(() => resolve({ ...shown, ...(row !== undefined && { row }) }));
      }

      try {
        const options = { host: "127.0.0.1", port, method, path: target, headers: headers.flat(), agent: false, setHost: false } as const;
        const request = tls && https ? httpsRequest({ ...options, ca: https.ca }) : httpRequest(options);
        release.push(() => request.destroy());
        request.on("socket", (socket) =>
          socket.once("connect", () => {
            const began = (id: number) => {
              row = id;
            };
            release.push(recorder.watch(`127.0.0.1:${socket.localPort}`, began, mark ?? ownMark));
          }),
        );
        request.on("error", refuse);
        request.on("upgrade", (response) => answer(response, [], 0, true));
        request.on("response", (response) => {
          const chunks: Buffer[] = [];
          let bytes = 0;
          // The start of an answer that does not end is still shown.
          giveUp = () => answer(response, chunks, bytes, true);
          response.on("data", (chunk: Buffer) => {
            chunks.push(chunk);
            bytes += chunk.length;
            if (bytes > longestBody) giveUp();
          });
          response.on("end", () => answer(response, chunks, bytes, false));
          response.on("error", () => giveUp());
        });
        request.end(body);
      } catch (error) {
        refuse(error);
      }
    });
  }

  return {
    send,
    close() {
      for (const abort of [...running]) abort();
    },
  };
}

const httpsIsOff = () =>
  new ServiceError("CALL_INVALID", "The request came over HTTPS, which is off now", "Switch HTTPS on in Config, or send it from Try.");

const notSent = (cause: unknown) =>
  new ServiceError("CALL_INVALID", `The request failed: ${errorText(cause)}`, "Check its header fields and its path.", { cause });

const pairs = (raw: readonly string[]): [string, string][] =>
  Array.from({ length: raw.length / 2 }, (_, index) => [raw[2 * index] ?? "", raw[2 * index + 1] ?? ""]);

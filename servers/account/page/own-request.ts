import { request as httpRequest } from "node:http";
import type { HeaderList } from "../../../contract/traffic/http.ts";
import type { HttpRecorder } from "../../core/http/http-recorder.ts";
import { ServiceError } from "../../core/service/service-error.ts";

export interface OwnRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: HeaderList;
  readonly body: string;
}

export interface OwnAnswer {
  readonly status: number;
  readonly reason: string;
  readonly headers: HeaderList;
  readonly body: Buffer;
  readonly tookMs: number;
  readonly row?: number;
}

const longestMs = 15_000;

/** Sends real requests over loopback to the service's own port; `close` breaks off those under way. */
export function createOwnRequests({ port, recorder }: { readonly port: number; readonly recorder: HttpRecorder }) {
  const running = new Set<() => void>();

  function send({ method, target, headers, body }: OwnRequest): Promise<OwnAnswer> {
    return new Promise((resolve, reject) => {
      const startedAt = performance.now();
      let row: number | undefined;
      let unwatch = () => {};
      const fields = [["Host", `127.0.0.1:${port}`], ["Connection", "close"], ...headers];
      if (body !== "") fields.push(["Content-Length", String(Buffer.byteLength(body))]);
      const request = httpRequest({ host: "127.0.0.1", port, method, path: target, headers: fields.flat(), agent: false, setHost: false });
      const abort = () => void request.destroy(new Error("the service stops"));
      const timer = setTimeout(() => request.destroy(new Error(`no answer in ${longestMs / 1_000} s`)), longestMs);
      running.add(abort);
      request.on("close", () => {
        clearTimeout(timer);
        running.delete(abort);
        unwatch();
      });
      request.on("socket", (socket) =>
        socket.once("connect", () => {
          unwatch = recorder.watch(`127.0.0.1:${socket.localPort}`, (id) => {
            row = id;
          });
        }),
      );
      const failed = (error: Error) => reject(notSent(error));
      request.on("error", failed);
      request.on("response", (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", failed);
        response.on("end", () => {
          const { statusCode = 0, statusMessage = "", rawHeaders } = response;
          const tookMs = Math.round((performance.now() - startedAt) * 1_000) / 1_000;
          const answer = { status: statusCode, reason: statusMessage, headers: pairs(rawHeaders), body: Buffer.concat(chunks), tookMs };
          resolve({ ...answer, ...(row !== undefined && { row }) });
        });
      });
      request.end(body === "" ? undefined : body);
    });
  }

  return {
    send,
    close() {
      for (const abort of [...running]) abort();
    },
  };
}
export type OwnRequests = ReturnType<typeof createOwnRequests>;

const notSent = (cause: Error) =>
  new ServiceError("CALL_INVALID", `The request failed: ${cause.message}`, "Look at its path and body.", { cause });

const pairs = (raw: readonly string[]): [string, string][] =>
  Array.from({ length: raw.length / 2 }, (_, index) => [raw[2 * index] ?? "", raw[2 * index + 1] ?? ""]);

import { STATUS_CODES } from "node:http";
import type { CallRecorder } from "../observe/call-recorder.ts";
import type { CallHead, SentEnd } from "./call-transport.ts";
import type { GrpcMethod } from "./grpc-method.ts";

/** The answer to a request that is not a call: an HTTP status. */
export interface Refusal {
  readonly httpStatus: number;
  readonly why: string;
  /** Of the answer's head. */
  readonly fields?: Readonly<Record<string, string>>;
}

const statusLine = (status: number): string => `${status} ${STATUS_CODES[status] ?? ""}`.trim();

/** Begins the row of a refused request, so that the user finds the reason. The returned function ends it. */
export function recordRefusal(
  recorder: CallRecorder,
  head: CallHead,
  method: GrpcMethod | undefined,
  { httpStatus, why }: Refusal,
): (headers: SentEnd["headers"]) => void {
  const entry = recorder.begin(head, method);
  return (headers) =>
    recorder.end(entry, {
      headers,
      trailers: undefined,
      status: undefined,
      aborted: `HTTP ${statusLine(httpStatus)}: ${why}`,
      httpStatus,
    });
}

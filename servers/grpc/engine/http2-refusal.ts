import type { Http2Stream } from "../../core/http2/http2-stream.ts";
import type { RequestHead } from "../../core/http2/request-head.ts";
import type { CallRecorder } from "../observe/call-recorder.ts";
import { fieldPairs } from "./call-metadata.ts";
import type { GrpcConnection } from "./connections.ts";
import { Http2CallHead } from "./http2-call.ts";
import { type Refusal, recordRefusal } from "./refusal.ts";

/** Answers a stream that is no call, and gives it a row. */
export function refuseStream(
  stream: Http2Stream,
  head: RequestHead,
  connection: GrpcConnection,
  recorder: CallRecorder,
  refusal: Refusal,
): void {
  const { httpStatus, why, fields } = refusal;
  const answer = { ":status": httpStatus, ...fields, "content-type": "text/plain; charset=utf-8", date: new Date().toUTCString() };
  const end = recordRefusal(recorder, new Http2CallHead(head, connection, Number.POSITIVE_INFINITY), undefined, refusal);
  stream.reader = { onData() {}, onEnd() {}, onClose: () => end(fieldPairs(answer)) };
  stream.respond(answer);
  stream.write(Buffer.from(`${why}\n`));
  stream.end();
}

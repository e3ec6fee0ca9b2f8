import type { CallRecorder } from "../observe/call-recorder.ts";
import { fieldPairs } from "./call-metadata.ts";
import type { GrpcConnection } from "./connections.ts";
import type { GrpcMethods } from "./handlers.ts";
import { Http2CallHead, type OpenedStream } from "./http2-call.ts";
import { type Refusal, recordLost, recordRefusal } from "./refusal.ts";
import { closeLost } from "./stream-end.ts";

const headOf = ({ headers, rawHeaders }: OpenedStream, connection: GrpcConnection): Http2CallHead =>
  new Http2CallHead(headers, rawHeaders, connection, Number.POSITIVE_INFINITY);

/** Answers a stream that is no call, and gives it a row. */
export function refuseStream(opened: OpenedStream, connection: GrpcConnection, recorder: CallRecorder, refusal: Refusal): void {
  const { stream } = opened;
  const { httpStatus, why, fields } = refusal;
  const end = recordRefusal(recorder, headOf(opened, connection), undefined, refusal);
  const refused = { lose: () => closeLost(stream) };
  connection.refusals.add(refused);
  stream.once("close", () => {
    connection.refusals.delete(refused);
    end(stream.sentHeaders && fieldPairs(stream.sentHeaders));
  });
  stream.respond({ ":status": httpStatus, ...fields, "content-type": "text/plain; charset=utf-8" });
  stream.end(`${why}\n`);
  // Node closes no stream with unread bytes.
  stream.resume();
}

/** Gives a stream that was closed before its turn its row. */
export function recordLostStream(
  opened: OpenedStream,
  connection: GrpcConnection,
  { recorder, methods }: { readonly recorder: CallRecorder; readonly methods: GrpcMethods },
  why: string,
): void {
  const head = headOf(opened, connection);
  recordLost(recorder, head, methods.find(head.path), why);
}

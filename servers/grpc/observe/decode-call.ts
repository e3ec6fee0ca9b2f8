import { type GrpcCall, type GrpcMessagePart, grpcCodecs, grpcPatterns, grpcProtocols } from "../../../contract/traffic/grpc.ts";
import {
  base64WithoutCredentials,
  fieldsWithoutCredentials,
  rowWithoutCredentials,
  targetWithoutCredentials,
} from "../../core/http/record/without-credentials.ts";
import type { DetailDecoder, RecordedRow } from "../../core/traffic/detail-decoder.ts";
import { RecordError, RecordReader } from "../../core/traffic/record-reader.ts";
import { statusName } from "../engine/status.ts";
import { callTag, codecOf, isCompressed, isOverBudget, isSent } from "./call-record.ts";

export const callDecoder: DetailDecoder<"grpc-call"> = {
  detail: readCall,
  part({ index, at, bytes, flags, content }): GrpcMessagePart {
    const compressed = isCompressed(flags);
    const wireBytes = compressed && content.length >= 4 ? content.readUInt32LE(0) : bytes;
    return {
      kind: "grpc-message",
      index,
      at,
      direction: isSent(flags) ? "sent" : "received",
      bytes,
      wireBytes,
      compressed,
      codec: codecOf(flags),
      base64: content.toString("base64", compressed ? 4 : 0),
      ...(isOverBudget(flags) && { overBudget: true }),
    };
  },
  withoutCredentials: ({ row, detail }, found) => ({
    row: rowWithoutCredentials(row, found),
    detail: detail && {
      ...detail,
      path: targetWithoutCredentials(detail.path, found),
      authority: targetWithoutCredentials(detail.authority, found),
      requestHeaders: fieldsWithoutCredentials(detail.requestHeaders, found),
      ...(detail.responseHeaders && { responseHeaders: fieldsWithoutCredentials(detail.responseHeaders, found) }),
      ...(detail.trailers && { trailers: fieldsWithoutCredentials(detail.trailers, found) }),
      ...(detail.status && { status: { ...detail.status, message: found.hideIn(detail.status.message) } }),
      ...(detail.notes && { notes: detail.notes.map((note) => found.hideIn(note)) }),
      ...(detail.aborted !== undefined && { aborted: found.hideIn(detail.aborted) }),
    },
  }),
  partWithoutCredentials: (part, found) =>
    part.kind !== "grpc-message"
      ? part
      : { ...part, base64: base64WithoutCredentials(part.base64, found, undefined, Buffer.byteLength(part.base64, "base64") < part.bytes) },
};

type Head = Pick<
  GrpcCall,
  | "protocol"
  | "httpVersion"
  | "httpMethod"
  | "codec"
  | "path"
  | "method"
  | "authority"
  | "deadlineMs"
  | "requestEncoding"
  | "requestHeaders"
  | "connection"
>;
type Ending = { -readonly [Key in "responseHeaders" | "trailers" | "status" | "aborted" | "httpStatus"]?: GrpcCall[Key] };

/** Joins the pieces that were written one by one. */
function readCall({ row, detail, parts }: RecordedRow): GrpcCall {
  const reader = new RecordReader(detail);
  let head: Head | undefined;
  const ending: Ending = {};
  const timing: { -readonly [Phase in keyof GrpcCall["timing"]]: number | undefined } = {};
  let responseEncoding = "identity";
  const rules: { readonly key: string; readonly name: string }[] = [];
  const notes: string[] = [];
  let received = 0;
  let sent = 0;
  while (!reader.atEnd) {
    switch (reader.u8()) {
      case callTag.head:
        head = readHead(reader, row.peer);
        break;
      case callTag.answered:
        timing.headersMs = reader.milliseconds();
        responseEncoding = reader.text();
        break;
      case callTag.halfClose:
        timing.halfCloseMs = reader.milliseconds();
        break;
      case callTag.responseHeaders:
        ending.responseHeaders = reader.pairs();
        break;
      case callTag.trailers:
        ending.trailers = reader.pairs();
        break;
      case callTag.status: {
        const code = reader.u32();
        ending.status = { code, name: statusName(code), message: reader.text() };
        break;
      }
      case callTag.aborted:
        ending.aborted = reader.text();
        break;
      case callTag.httpStatus:
        ending.httpStatus = reader.u32();
        break;
      case callTag.counts:
        received = reader.f64();
        sent = reader.f64();
        break;
      case callTag.rule:
        rules.push({ key: reader.text(), name: reader.text() });
        break;
      case callTag.note:
        notes.push(reader.text());
        break;
      case callTag.total:
        timing.totalMs = reader.milliseconds();
        break;
      default:
        throw new RecordError("a piece of a call has an unknown tag");
    }
  }
  if (!head) throw new RecordError("a call has no head");
  return {
    kind: "grpc-call",
    id: row.id,
    at: row.at,
    ...head,
    ...ending,
    responseEncoding,
    received,
    sent,
    timing,
    parts,
    ...(rules.length > 0 && { rules }),
    ...(notes.length > 0 && { notes }),
  };
}

function readHead(reader: RecordReader, remote: string): Head {
  const deadlineMs = reader.f64();
  const calls = reader.u32();
  const protocol = grpcProtocols[reader.u8()] ?? "grpc";
  const codec = grpcCodecs[reader.u8()] ?? "proto";
  const httpVersion = reader.text();
  const httpMethod = reader.text();
  const path = reader.text();
  const pattern = grpcPatterns[reader.u8()];
  const requestType = reader.text();
  const responseType = reader.text();
  const revision = reader.text();
  const authority = reader.text();
  const requestEncoding = reader.text();
  const requestHeaders = reader.pairs();
  const connection = reader.connection(remote);
  const clientCertificate = reader.text();
  return {
    protocol,
    httpVersion,
    httpMethod,
    codec,
    path,
    ...(pattern && { method: { pattern, requestType, responseType, revision } }),
    authority,
    ...(!Number.isNaN(deadlineMs) && { deadlineMs }),
    requestEncoding,
    requestHeaders,
    connection: { ...connection, calls, ...(clientCertificate !== "" && { clientCertificate }) },
  };
}

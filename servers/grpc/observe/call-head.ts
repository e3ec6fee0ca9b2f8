import { grpcCodecs, grpcPatterns, grpcProtocols } from "../../../contract/traffic/grpc.ts";
import type { RecordWriter, SharedTexts } from "../../core/traffic/record-writer.ts";
import type { RecordedHead } from "../engine/call-transport.ts";
import { callTag, type RecordedMethod } from "./call-record.ts";

/** What is written of a connection's calls again and again. */
interface Repeated {
  readonly head: RecordedHead;
  readonly method: RecordedMethod | undefined;
  readonly client: string;
  /** The head as it was written. */
  readonly bytes: Buffer;
  /** Where the names and values of the header fields begin in `bytes`, in their order, and where the last one ends. */
  readonly places: readonly number[];
  /** Of rows, by their outcome. */
  readonly texts: Map<string, SharedTexts>;
}

const ofConnections = new WeakMap<RecordedHead["connection"], Repeated>();
/** Longer heads are not kept. */
const keptBytes = 4 << 10;
/** Names and values of header fields. */
const keptTexts = 256;
const keptOutcomes = 20;

interface WrittenCall {
  readonly head: RecordedHead;
  readonly method: RecordedMethod | undefined;
  readonly client: string;
}

/** Those of an earlier call of the connection, if this one is alike. */
function repeatedOf({ head, method, client }: WrittenCall): Repeated | undefined {
  const known = ofConnections.get(head.connection);
  if (!known || known.method !== method || known.client !== client) return undefined;
  const one = known.head;
  const isAlike =
    one.rawHeaders.length === head.rawHeaders.length &&
    one.protocol === head.protocol &&
    one.codec === head.codec &&
    one.httpVersion === head.httpVersion &&
    one.httpMethod === head.httpMethod &&
    one.path === head.path &&
    one.authority === head.authority &&
    one.requestEncoding === head.requestEncoding;
  return isAlike ? known : undefined;
}

/** Of the rows of a call, which are alike for calls of one method on a connection. */
export function sharedTexts(call: WrittenCall, outcome: string): SharedTexts | undefined {
  const texts = repeatedOf(call)?.texts;
  if (!texts) return undefined;
  let shared = texts.get(outcome);
  if (!shared && texts.size < keptOutcomes) {
    shared = {};
    texts.set(outcome, shared);
  }
  return shared;
}

/** Writes protocol, method, header fields and connection of a call. What is the same in an earlier call of its connection is copied as bytes. */
export function writeHead(record: RecordWriter, call: WrittenCall): void {
  const { head } = call;
  record.u8(callTag.head);
  record.f64(head.timeoutMs ?? Number.NaN);
  record.u32(head.connectionCalls);
  const known = repeatedOf(call);
  if (known) writeDifferences(record, known, head.rawHeaders);
  else writeWhole(record, call);
}

function writeDifferences(record: RecordWriter, { head, bytes, places }: Repeated, rawHeaders: readonly string[]): void {
  const known = head.rawHeaders;
  let copied = 0;
  for (let index = 0; index < rawHeaders.length; index++) {
    const text = rawHeaders[index] as string;
    if (text === known[index]) continue;
    record.copyBytes(bytes, copied, places[index] as number);
    record.text(text);
    copied = places[index + 1] as number;
  }
  record.copyBytes(bytes, copied, bytes.length);
}

function writeWhole(record: RecordWriter, { head, method, client }: WrittenCall): void {
  const { rawHeaders, connection } = head;
  const from = record.length;
  const places: number[] = [];
  record.u8(grpcProtocols.indexOf(head.protocol));
  record.u8(grpcCodecs.indexOf(head.codec));
  record.text(head.httpVersion);
  record.text(head.httpMethod);
  record.text(head.path);
  record.u8(method ? grpcPatterns.indexOf(method.pattern) : grpcPatterns.length);
  record.text(method?.requestType ?? "");
  record.text(method?.responseType ?? "");
  record.text(method?.revision ?? "");
  record.text(head.authority);
  record.text(head.requestEncoding);
  record.u32(rawHeaders.length >> 1);
  const mayBeKept = rawHeaders.length <= keptTexts;
  for (const text of rawHeaders) {
    if (mayBeKept) places.push(record.length - from);
    record.text(text);
  }
  places.push(record.length - from);
  record.connection(connection);
  record.text(connection.clientCertificate ?? "");
  if (!mayBeKept || record.length - from > keptBytes) ofConnections.delete(connection);
  else ofConnections.set(connection, { head, method, client, bytes: record.bytesFrom(from), places, texts: new Map() });
}

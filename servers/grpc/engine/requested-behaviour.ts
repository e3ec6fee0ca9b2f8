import type { MetadataValue } from "@grpc/grpc-js";
import type { GrpcPattern } from "../../../contract/traffic/grpc.ts";
import type { CallHead } from "./call-transport.ts";
import type { StatusDetails } from "./error-details.ts";
import { type MessageCoding, messageCodings } from "./message-coding.ts";
import { parseStatusCode, StatusError, statusName } from "./status.ts";

/** What a client asks for by `x-backlot-…` metadata, to test how it deals with it. */
export interface RequestedBehaviour {
  readonly status: { readonly code: number; readonly message: string } | undefined;
  readonly delayMs: number;
  /** The call ends after so many messages of the service. */
  readonly cutAfter: number | undefined;
  readonly headers: readonly (readonly [name: string, value: MetadataValue])[];
  readonly trailers: readonly (readonly [name: string, value: MetadataValue])[];
  /** The serialized google.rpc.Status. */
  readonly details: StatusDetails | undefined;
  readonly coding: MessageCoding | undefined;
}

const prefix = "x-backlot-";
const known = [
  "status",
  "message",
  "message-bin",
  "details",
  "details-bin",
  "delay",
  "cut-after",
  "headers",
  "trailers",
  "echo",
  "compression",
];

export interface BehaviourOptions {
  readonly longestDelayMs: number;
  readonly readDetails: (texts: readonly string[]) => StatusDetails;
}

/** Undefined if nothing is asked for. Throws INVALID_ARGUMENT for an unknown field or value, so that a mistake in a test is seen. */
export function requestedBehaviour(
  head: Pick<CallHead, "rawHeaders" | "metadata">,
  { longestDelayMs, readDetails }: BehaviourOptions,
): RequestedBehaviour | undefined {
  const { rawHeaders } = head;
  // From the raw fields: Node joins those of one name with commas, and JSON contains commas.
  let asked: Map<string, string[]> | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const raw = rawHeaders[index] as string;
    // HTTP/1.1 has names in any case.
    const first = raw.charCodeAt(0) | 0x20;
    if (first !== 0x78) continue;
    const field = raw.toLowerCase();
    if (!field.startsWith(prefix)) continue;
    const name = field.slice(prefix.length);
    if (!known.includes(name)) throw wrong(name, `there is no such field; the fields are ${known.map((one) => prefix + one).join(", ")}`);
    asked ??= new Map();
    const values = asked.get(name);
    if (values) values.push(rawHeaders[index + 1] as string);
    else asked.set(name, [rawHeaders[index + 1] as string]);
  }
  if (!asked) return undefined;
  const text = (name: string): string | undefined => asked.get(name)?.[0];
  const texts = (name: string): readonly string[] => asked.get(name) ?? [];
  const read = <Value>(name: string, parse: (value: string) => Value): Value | undefined => {
    const value = text(name);
    return value === undefined ? undefined : parse(value);
  };
  const code = read("status", codeOf);
  const details = texts("details");
  const echoed = echo(head, text("echo"));
  const ofStatus = ["message", "message-bin", "details", "details-bin"].find((name) => asked.has(name));
  if (code === undefined && ofStatus) throw wrong(ofStatus, `it belongs to a status, and there is no ${prefix}status`);
  return {
    status:
      code === undefined
        ? undefined
        : { code, message: messageOf(text("message-bin"), text("message")) ?? `${statusName(code)} was asked for` },
    delayMs: read("delay", (value) => durationOf(value, longestDelayMs)) ?? 0,
    cutAfter: read("cut-after", countOf),
    headers: [...pairsOf("headers", texts("headers")), ...echoed.headers],
    trailers: [...pairsOf("trailers", texts("trailers")), ...echoed.trailers],
    details:
      read("details-bin", (base64) => () => Buffer.from(base64, "base64")) ?? (details.length > 0 ? readDetails(details) : undefined),
    coding: read("compression", codingOf),
  };
}

/** Whether a call ends before its method begins. */
export function endsAtOnce({ status, cutAfter }: RequestedBehaviour, pattern: GrpcPattern): boolean {
  // Clients take OK without an answer for an error, if the method answers once.
  if (status?.code === 0 && (pattern === "unary" || pattern === "client stream")) return false;
  return cutAfter === 0 || (status !== undefined && cutAfter === undefined);
}

const wrong = (name: string, why: string) => new StatusError("INVALID_ARGUMENT", `${prefix}${name}: ${why}`);

/** Metadata is ASCII: other texts come as bytes. */
const messageOf = (utf8: string | undefined, ascii: string | undefined): string | undefined =>
  utf8 === undefined ? ascii : Buffer.from(utf8, "base64").toString();

function codeOf(text: string): number {
  const code = parseStatusCode(text);
  if (code === undefined) throw wrong("status", `${JSON.stringify(text)} is not a status: 0 to 16, or a name such as UNAVAILABLE`);
  return code;
}

function durationOf(text: string, longestMs: number): number {
  const [, number, unit = "s"] = /^(\d+(?:\.\d+)?)(ms|s)?$/.exec(text) ?? [];
  const milliseconds = Number(number) * (unit === "ms" ? 1 : 1_000);
  if (number === undefined || milliseconds > longestMs) {
    throw wrong("delay", `${JSON.stringify(text)} is not a time of up to ${longestMs / 1_000}s, such as 250ms or 2s`);
  }
  return milliseconds;
}

function countOf(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw wrong("cut-after", `${JSON.stringify(text)} is not a number of messages`);
  return Number(text);
}

function codingOf(text: string): MessageCoding {
  const coding = messageCodings.find((one) => one === text);
  if (!coding) throw wrong("compression", `${JSON.stringify(text)} is not one of ${messageCodings.join(", ")}`);
  return coding;
}

/** "name=value" each. */
function pairsOf(field: string, texts: readonly string[]): Pairs {
  requireFew(field, texts.length);
  return texts.map((text) => {
    const [, name = "", value = ""] = /^\s*([0-9a-z_.-]+)\s*=([ -~]*)$/i.exec(text) ?? [];
    if (name === "" || reserved.test(name)) throw wrong(field, `${JSON.stringify(text)} is not name=value`);
    return [name.toLowerCase(), metadataValue(name.toLowerCase(), value)] as const;
  });
}

/** Names that belong to a protocol or to a connection. */
const reserved =
  /^(?:grpc-|connect-|content-(?:type|length|encoding)$|connection$|keep-alive$|proxy-connection$|transfer-encoding$|upgrade$|te$|trailer$|http2-settings$)/i;
const notEchoed = /^(?::|x-backlot-|host$|user-agent$|accept|access-control-|origin$|referer$|sec-|date$)/;

const isEchoed = (name: string): boolean => !notEchoed.test(name) && !reserved.test(name);

/** Fields that are sent because the client asks for them: each takes some microseconds. */
const mostFields = 100;

function requireFew(field: string, count: number): void {
  if (count > mostFields) throw wrong(field, `at most ${mostFields} fields are sent, and these are ${count}`);
}

/** The client's own metadata, sent back unchanged. */
function echo(
  head: Pick<CallHead, "rawHeaders" | "metadata">,
  where: string | undefined,
): { readonly headers: Pairs; readonly trailers: Pairs } {
  if (where === undefined) return { headers: [], trailers: [] };
  if (where !== "headers" && where !== "trailers" && where !== "both")
    throw wrong("echo", `${JSON.stringify(where)} is not one of headers, trailers, both`);
  const { rawHeaders } = head;
  let fields = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) if (isEchoed((rawHeaders[index] as string).toLowerCase())) fields++;
  // Before they are read as metadata.
  requireFew("echo", fields);
  const { metadata } = head;
  const pairs = Object.keys(metadata.getMap())
    .filter(isEchoed)
    .flatMap((name) => metadata.get(name).map((value) => [name, value] as const));
  requireFew("echo", pairs.length);
  return { headers: where === "trailers" ? [] : pairs, trailers: where === "headers" ? [] : pairs };
}

type Pairs = readonly (readonly [name: string, value: MetadataValue])[];

/** A field whose name ends in "-bin" has base64. */
const metadataValue = (name: string, text: string): MetadataValue => (name.endsWith("-bin") ? Buffer.from(text, "base64") : text.trim());

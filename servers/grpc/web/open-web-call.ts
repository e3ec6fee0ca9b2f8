import type { Metadata } from "@grpc/grpc-js";
import type { GrpcCodec, GrpcProtocol } from "../../../contract/traffic/grpc.ts";
import { grpcTimeoutMs, headerListBytes, metadataFault, metadataOf, overheadOfField, unreadableTimeout } from "../engine/call-metadata.ts";
import type { CallHead } from "../engine/call-transport.ts";
import { type BodyReader, FramedBody } from "../engine/framed-body.ts";
import type { GrpcMethod } from "../engine/grpc-method.ts";
import type { GrpcMethods } from "../engine/handlers.ts";
import { listedCodings } from "../engine/message-coding.ts";
import type { Refusal } from "../engine/refusal.ts";
import { StatusError } from "../engine/status.ts";
import { BareBody, TextBody } from "./body-reader.ts";
import type { ConnectErrors } from "./connect-error.ts";
import { ConnectUnaryCall } from "./connect-unary-call.ts";
import { connectStreamProtocol, FramedCall, grpcWebProtocol } from "./framed-call.ts";
import type { WebCall, WebCallOptions } from "./web-call.ts";
import type { WebExchange } from "./web-exchange.ts";

export interface WebCallMaker extends Pick<WebCallOptions, "cors" | "largestMessage" | "onFault"> {
  readonly methods: GrpcMethods;
  readonly errors: ConnectErrors;
  /** Of the port that speaks gRPC itself. */
  readonly grpcPort: () => number;
  /** For a request of one message to arrive. */
  readonly requestMs: number;
  readonly metadataBytes: number;
}

/** Protocol and codec of a request, from its content type. */
type Form =
  | { readonly kind: "grpc-web"; readonly codec: GrpcCodec; readonly isText: boolean }
  | { readonly kind: "connect-stream"; readonly codec: GrpcCodec }
  | { readonly kind: "connect-unary"; readonly codec: GrpcCodec };

const unaryTypes = ["application/json", "application/proto"];
const streamTypes = ["application/connect+json", "application/connect+proto"];
const grpcWebTypes = [
  "application/grpc-web",
  "application/grpc-web+proto",
  "application/grpc-web+json",
  "application/grpc-web-text",
  "application/grpc-web-text+proto",
];

/** Begins the call of a request, or refuses it. */
export function openWebCall(exchange: WebExchange, maker: WebCallMaker): WebCall | Refusal {
  const { httpMethod, target } = exchange;
  const queryAt = target.indexOf("?");
  const path = queryAt < 0 ? target : target.slice(0, queryAt);
  const method = maker.methods.find(path);
  if (httpMethod === "GET" || httpMethod === "HEAD") {
    if (httpMethod === "GET" && method?.isSafe) return openGet(exchange, maker, path, method, target.slice(queryAt + 1));
    if (!method) return { httpStatus: 404, why: `There is no method ${path}. A call is a POST to /package.Service/Method` };
  }
  if (httpMethod !== "POST") {
    const allow = method?.isSafe ? "POST, GET" : "POST";
    return { httpStatus: 405, why: `Calls are made with ${allow}`, fields: { allow } };
  }
  const contentType = exchange.field("content-type") ?? "";
  const form = formOf(contentType);
  const isUnary = method?.pattern === "unary";
  if (!form || (method && form.kind === (isUnary ? "connect-stream" : "connect-unary"))) {
    const accepted = [...(isUnary ? [] : streamTypes), ...(method && !isUnary ? [] : unaryTypes), ...grpcWebTypes].join(", ");
    return { httpStatus: 415, why: whyNotAccepted(contentType, accepted, maker.grpcPort()), fields: { "accept-post": accepted } };
  }
  if (form.kind === "connect-stream" && method?.pattern === "bidi stream" && exchange.httpVersion !== "2") {
    // A client that waits for an answer before it sends more would wait forever.
    return { httpStatus: 505, why: "Streams in both directions need HTTP/2", fields: { connection: "close" } };
  }
  return openPost(exchange, maker, path, method, form);
}

/** Length at which an unknown content type is cut. */
const shownCharacters = 100;

function whyNotAccepted(contentType: string, accepted: string, grpcPort: number): string {
  if (/^application\/grpc(?:[+;]|$)/i.test(contentType)) {
    return `This port is for gRPC-Web and Connect; gRPC itself has port ${grpcPort}`;
  }
  const shown = contentType === "" ? "No content type" : `The content type ${contentType.slice(0, shownCharacters)}`;
  return `${shown} is not accepted here; use ${accepted}`;
}

/** Blanks have one place in the pattern to match at: with two of them beside each other, a long row of blanks would be split in every way. */
const contentTypePattern = /^([^;\s]+)\s*(?:;\s*charset=("?)utf-?8\2\s*)?;?$/i;

function formOf(contentType: string): Form | undefined {
  const [, type = "", charset] = contentTypePattern.exec(contentType) ?? [];
  const [, kind = "", text, plus] = /^application\/(grpc-web|connect|json|proto)(-text)?(?:\+(proto|json))?$/i.exec(type) ?? [];
  const codec: GrpcCodec = plus?.toLowerCase() === "json" || kind.toLowerCase() === "json" ? "json" : "proto";
  if (charset !== undefined && codec !== "json") return undefined;
  switch (kind.toLowerCase()) {
    case "grpc-web":
      return { kind: "grpc-web", codec, isText: text !== undefined };
    case "connect":
      return text === undefined && plus !== undefined ? { kind: "connect-stream", codec } : undefined;
    case "json":
    case "proto":
      return text === undefined && plus === undefined ? { kind: "connect-unary", codec } : undefined;
    default:
      return undefined;
  }
}

function openPost(exchange: WebExchange, maker: WebCallMaker, path: string, method: GrpcMethod | undefined, form: Form): WebCall {
  const makeHead = (facts: HeadFacts) => headOf(exchange, facts, maker.metadataBytes);
  const field = (name: string): string => exchange.field(name) ?? "";
  const { codec } = form;
  if (form.kind === "grpc-web") {
    const timeout = field("grpc-timeout");
    const timeoutMs = grpcTimeoutMs(timeout);
    const head = makeHead({
      protocol: "grpc-web",
      codec,
      path,
      timeoutMs,
      fault: timeout !== "" && timeoutMs === undefined ? unreadableTimeout() : undefined,
      acceptEncoding: field("grpc-accept-encoding"),
      requestEncoding: field("grpc-encoding"),
    });
    const accept = field("accept");
    const isText = accept.includes("application/grpc-web") ? accept.includes("application/grpc-web-text") : form.isText;
    const body = form.isText ? new TextBody(maker) : new FramedBody(maker);
    return new FramedCall(grpcWebProtocol(codec, isText), optionsOf(exchange, maker, head, body, method));
  }
  const version = field("connect-protocol-version");
  const protocol = "connect";
  const fault = version !== "" && version !== "1" ? wrongVersion(version) : undefined;
  const timeout = connectTimeout(field("connect-timeout-ms"));
  const isStream = form.kind === "connect-stream";
  const prefix = isStream ? "connect-" : "";
  const head = makeHead({
    protocol,
    codec,
    path,
    ...timeout,
    fault: fault ?? timeout.fault,
    acceptEncoding: field(`${prefix}accept-encoding`),
    requestEncoding: field(`${prefix}content-encoding`),
  });
  if (isStream) {
    const body = new FramedBody(maker);
    return new FramedCall(connectStreamProtocol(codec, maker.errors), optionsOf(exchange, maker, head, body, method));
  }
  const body = new BareBody(maker, head.requestEncoding !== "identity");
  return new ConnectUnaryCall(maker.errors, optionsOf(exchange, maker, head, body, method));
}

/** https://connectrpc.com/docs/protocol#unary-get-request */
const fieldsOfGet: ReadonlySet<string> = new Set(["encoding", "message", "base64", "compression", "connect"]);

/** The first value of each. What else there is, thousands of fields perhaps, is not decoded. */
function readQuery(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (let from = 0; from < text.length && found.size < fieldsOfGet.size; ) {
    const next = text.indexOf("&", from);
    const end = next < 0 ? text.length : next;
    const field = text.slice(from, end);
    const [name = ""] = field.split("=", 1);
    if (fieldsOfGet.has(name) && !found.has(name)) found.set(name, new URLSearchParams(field).get(name) ?? "");
    from = end + 1;
  }
  return found;
}

function openGet(exchange: WebExchange, maker: WebCallMaker, path: string, method: GrpcMethod, queryText: string): WebCall | Refusal {
  const query = readQuery(queryText);
  const codec = query.get("encoding");
  if (codec !== "proto" && codec !== "json") {
    return { httpStatus: 415, why: "A GET needs ?encoding=json or proto, and ?message=", fields: { "accept-post": unaryTypes.join(", ") } };
  }
  const version = query.get("connect");
  const timeout = connectTimeout(exchange.field("connect-timeout-ms") ?? "");
  const message = query.get("message");
  const missing = message === undefined ? new StatusError("INVALID_ARGUMENT", "a GET needs ?message=") : undefined;
  const head = headOf(
    exchange,
    {
      protocol: "connect",
      codec,
      path,
      ...timeout,
      fault: version !== undefined && version !== "v1" ? wrongVersion(version) : (missing ?? timeout.fault),
      acceptEncoding: exchange.field("accept-encoding") ?? "",
      requestEncoding: query.get("compression") ?? "",
    },
    maker.metadataBytes,
  );
  const body = new BareBody(maker, head.requestEncoding !== "identity");
  // The length of the request line is limited.
  body.push(Buffer.from(message ?? "", query.get("base64") === "1" ? "base64" : "utf8"));
  return new ConnectUnaryCall(maker.errors, optionsOf(exchange, maker, head, body, method));
}

function connectTimeout(text: string): Pick<CallHead, "timeoutMs" | "fault"> {
  if (text === "") return { timeoutMs: undefined, fault: undefined };
  if (/^\d{1,10}$/.test(text)) return { timeoutMs: Number(text), fault: undefined };
  return { timeoutMs: undefined, fault: new StatusError("INVALID_ARGUMENT", "connect-timeout-ms is not a number of up to ten digits") };
}

const wrongVersion = (version: string): StatusError =>
  new StatusError("INVALID_ARGUMENT", `version ${JSON.stringify(version.slice(0, 20))} of Connect is not supported; use 1`);

type HeadFacts = Pick<CallHead, "codec" | "path" | "timeoutMs" | "fault" | "acceptEncoding" | "requestEncoding"> & {
  readonly protocol: Exclude<GrpcProtocol, "grpc">;
};

/** What is read of a request's head. */
export type HeadOfExchange = Pick<WebExchange, "target" | "httpVersion" | "httpMethod" | "authority" | "rawHeaders" | "connection">;

export function headOf(exchange: HeadOfExchange, facts: HeadFacts, metadataBytes = Number.POSITIVE_INFINITY): CallHead {
  const { httpVersion, httpMethod, authority, rawHeaders, connection } = exchange;
  let metadata: Metadata | undefined;
  // Of HTTP/1.1, Node itself refuses names and values of more bytes.
  const uncounted = httpVersion === "2" ? 0 : (rawHeaders.length / 2) * overheadOfField;
  const listBytes = headerListBytes(rawHeaders) - uncounted;
  return {
    ...facts,
    fault: metadataFault(rawHeaders, listBytes, metadataBytes) ?? facts.fault,
    httpVersion,
    httpMethod,
    authority,
    rawHeaders,
    requestEncoding: facts.requestEncoding === "" ? "identity" : facts.requestEncoding.toLowerCase(),
    acceptEncoding: codingNames(facts.acceptEncoding),
    get metadata() {
      metadata ??= metadataOf(rawHeaders);
      return metadata;
    },
    connectionCalls: ++connection.calls,
    connection,
  };
}

/** The names without weights; those with weight 0 are left out. */
const codingNames = (text: string): string =>
  listedCodings(text.toLowerCase())
    .filter((one) => !/;\s*q=0(?:\.0*)?\s*$/.test(one))
    .map((one) => one.split(";", 1)[0]?.trim())
    .join(",");

function optionsOf(
  exchange: WebExchange,
  { cors, largestMessage, onFault, requestMs }: WebCallMaker,
  head: CallHead,
  body: BodyReader,
  method: GrpcMethod | undefined,
): WebCallOptions {
  const takesOne = method?.pattern === "unary" || method?.pattern === "server stream";
  return { exchange, head, body, cors, largestMessage, onFault, requestMs: takesOne ? requestMs : undefined };
}

import type { GrpcPattern } from "../../../../contract/traffic/grpc.ts";
import { shellQuoted } from "../../ui/copy/copy-text.ts";
import { toHex } from "../../viewer/decode/bytes.ts";

export const callLanguages = [
  { value: "grpcurl", label: "grpcurl" },
  { value: "python", label: "Python" },
  { value: "node", label: "Node" },
] as const;
export type CallLanguage = (typeof callLanguages)[number]["value"];

/** A call to be made again by another client, which needs nothing but reflection. */
export interface CopiedCall {
  /** "grpc://127.0.0.1:50051" */
  readonly origin: string;
  readonly path: string;
  readonly pattern: GrpcPattern;
  readonly requestType: string;
  readonly responseType: string;
  /** Values of names that end in "-bin" are base64. */
  readonly metadata: readonly (readonly [name: string, value: string])[];
  readonly deadlineMs?: number | undefined;
  readonly messages: readonly CopiedMessage[];
}

export interface CopiedMessage {
  /** ProtoJSON */
  readonly json: string;
  /** Serialized; undefined for JSON that is not of the type. */
  readonly bytes: Uint8Array | undefined;
}

export const isTlsOrigin = (origin: string): boolean => origin.startsWith("grpcs:");
export const sendsStream = (pattern: GrpcPattern | undefined): boolean => pattern === "client stream" || pattern === "bidi stream";
const getsStream = (pattern: GrpcPattern): boolean => pattern === "server stream" || pattern === "bidi stream";

export function callLines(language: CallLanguage, call: CopiedCall): string {
  switch (language) {
    case "grpcurl":
      return grpcurl(call);
    case "python":
      return python(call);
    case "node":
      return node(call);
    default:
      return language satisfies never;
  }
}

const addressOf = (origin: string): string => origin.replace(/^grpcs?:\/\//, "");
const isBinary = (name: string): boolean => name.endsWith("-bin");

function compact(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json));
  } catch {
    return json;
  }
}

function grpcurl({ origin, path, metadata, deadlineMs, messages }: CopiedCall): string {
  const words = [
    `grpcurl ${isTlsOrigin(origin) ? "-cacert authority.pem" : "-plaintext"}`,
    ...metadata.map(([name, value]) => `-H ${shellQuoted(`${name}: ${value}`)}`),
    ...(deadlineMs === undefined ? [] : [`-max-time ${deadlineMs / 1_000}`]),
    `-d ${shellQuoted(messages.map(({ json }) => compact(json)).join(" "))}`,
    `${addressOf(origin)} ${path.slice(1)}`,
  ];
  return words.join(" ");
}

const pythonCalls = {
  unary: "unary_unary",
  "server stream": "unary_stream",
  "client stream": "stream_unary",
  "bidi stream": "stream_stream",
};

function python({ origin, path, pattern, requestType, responseType, metadata, deadlineMs, messages }: CopiedCall): string {
  const address = JSON.stringify(addressOf(origin));
  const channel = isTlsOrigin(origin)
    ? `grpc.secure_channel(${address}, grpc.ssl_channel_credentials(open("authority.pem", "rb").read()))`
    : `grpc.insecure_channel(${address})`;
  const pairs = metadata.map(([name, value]) => {
    const text = JSON.stringify(value);
    return `(${JSON.stringify(name)}, ${isBinary(name) ? `base64.b64decode(${text})` : text})`;
  });
  const parsed = messages.map(({ json }) => `Parse(${JSON.stringify(compact(json))}, Request(), descriptor_pool=pool)`);
  const isStream = sendsStream(pattern);
  const options = [
    ...(deadlineMs === undefined ? [] : [`timeout=${deadlineMs / 1_000}`]),
    ...(pairs.length === 0 ? [] : [`metadata=[${pairs.join(", ")}]`]),
  ];
  const sent = `call(${[isStream ? "iter(requests)" : "request", ...options].join(", ")})`;
  return [
    ...(metadata.some(([name]) => isBinary(name)) ? ["import base64"] : []),
    "import grpc",
    "from google.protobuf import message_factory",
    "from google.protobuf.descriptor_pool import DescriptorPool",
    "from google.protobuf.json_format import Parse",
    "from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase",
    "",
    `channel = ${channel}`,
    "pool = DescriptorPool(ProtoReflectionDescriptorDatabase(channel))",
    "# The name before protobuf 4.22 is MessageFactory.GetPrototype.",
    'class_of = getattr(message_factory, "GetMessageClass", None) or message_factory.MessageFactory(pool).GetPrototype',
    `Request = class_of(pool.FindMessageTypeByName(${JSON.stringify(requestType)}))`,
    `Reply = class_of(pool.FindMessageTypeByName(${JSON.stringify(responseType)}))`,
    isStream ? `requests = [${parsed.join(",\n            ")}]` : `request = ${parsed[0] ?? "Request()"}`,
    `call = channel.${pythonCalls[pattern]}(${JSON.stringify(path)}, Request.SerializeToString, Reply.FromString)`,
    ...(getsStream(pattern) ? [`for reply in ${sent}:`, "    print(reply)"] : [`print(${sent})`]),
  ].join("\n");
}

const nodeCalls = {
  unary: "makeUnaryRequest",
  "server stream": "makeServerStreamRequest",
  "client stream": "makeClientStreamRequest",
  "bidi stream": "makeBidiStreamRequest",
};

function node({ origin, path, pattern, metadata, deadlineMs, messages }: CopiedCall): string {
  const isStream = sendsStream(pattern);
  const isStreamed = getsStream(pattern);
  const isTls = isTlsOrigin(origin);
  const args = [
    ...[JSON.stringify(path), "asIs", "asIs"],
    ...(isStream ? [] : ["messages[0]"]),
    "metadata",
    deadlineMs === undefined ? "{}" : `{ deadline: Date.now() + ${deadlineMs} }`,
    ...(isStreamed ? [] : ["(error, reply) => console.log(error ?? reply)"]),
  ];
  return [
    'import * as grpc from "@grpc/grpc-js";',
    ...(isTls ? ['import { readFileSync } from "node:fs";'] : []),
    "",
    "// Messages are bytes here; with a .proto file, @grpc/proto-loader makes objects of them.",
    "const asIs = (bytes) => bytes;",
    `const messages = [${messages.map(({ bytes }) => `Buffer.from("${bytes ? toHex(bytes).replaceAll(" ", "") : ""}", "hex")`).join(", ")}];`,
    `const client = new grpc.Client(${JSON.stringify(addressOf(origin))}, grpc.credentials.${isTls ? 'createSsl(readFileSync("authority.pem"))' : "createInsecure()"});`,
    "const metadata = new grpc.Metadata();",
    ...metadata.map(([name, value]) => {
      const text = JSON.stringify(value);
      return `metadata.add(${JSON.stringify(name)}, ${isBinary(name) ? `Buffer.from(${text}, "base64")` : text});`;
    }),
    `const call = client.${nodeCalls[pattern]}(${args.join(", ")});`,
    ...(isStreamed ? ['call.on("data", (reply) => console.log(reply)).on("error", (error) => console.error(error.message));'] : []),
    ...(isStream ? ["for (const message of messages) call.write(message);", "call.end();"] : []),
    'call.on("status", () => client.close());',
  ].join("\n");
}

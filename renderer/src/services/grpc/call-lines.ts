import type { ConfigView } from "../../../../contract/config.ts";
import type { GrpcPattern } from "../../../../contract/traffic/grpc.ts";
import { inBash, isLongArgument, printed, shellQuoted } from "../../ui/copy/shells.ts";

export const callLanguages = [
  { value: "grpcurl", label: inBash("grpcurl") },
  { value: "python", label: "Python" },
  { value: "node", label: "Node" },
] as const;
export type CallLanguage = (typeof callLanguages)[number]["value"];

/** A call to be made again by another client, which needs nothing but reflection. */
export interface CopiedCall {
  /** "grpc://127.0.0.1:50051" */
  readonly origin: string;
  /** Whether the service requires one of its clients. */
  readonly clientCertificate: boolean;
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
  /** As @grpc/proto-loader has it; undefined for JSON that is not of the type. */
  readonly object: unknown;
}

/** Whether the service takes only clients with a certificate. */
export function requiresClientCertificate({ fields }: ConfigView): boolean {
  const configured = (wanted: string) => fields.find(({ name }) => name === wanted)?.value;
  return configured("tls") === true && configured("clientCertificates") === "required";
}

export const isTlsOrigin = (origin: string): boolean => origin.startsWith("grpcs:");
export const sendsStream = (pattern: GrpcPattern | undefined): boolean => pattern === "client stream" || pattern === "bidi stream";
const getsStream = (pattern: GrpcPattern): boolean => pattern === "server stream" || pattern === "bidi stream";

const writers: Readonly<Record<CallLanguage, (call: CopiedCall) => string>> = { grpcurl, python, node };

export const callLines = (language: CallLanguage, call: CopiedCall): string => writers[language](call);

const addressOf = (origin: string): string => origin.replace(/^grpcs?:\/\//, "");
const isBinary = (name: string): boolean => name.endsWith("-bin");

function compact(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json));
  } catch {
    return json;
  }
}

/** The program and how it connects. */
export const grpcurlFor = (origin: string): string => `grpcurl ${isTlsOrigin(origin) ? "-cacert backlot-authority.pem" : "-plaintext"}`;

/** In the order in which both libraries take them. */
const certificateFiles = (ofClient: boolean): readonly string[] => [
  "backlot-authority.pem",
  ...(ofClient ? ["client-key.pem", "client.pem"] : []),
];

function grpcurl({ origin, clientCertificate, path, metadata, deadlineMs, messages }: CopiedCall): string {
  const data = messages.map(({ json }) => compact(json)).join(" ");
  const isPiped = isLongArgument(data);
  const words = [
    grpcurlFor(origin),
    ...(clientCertificate ? ["-cert client.pem -key client-key.pem"] : []),
    // With -H it would be sent with the reflection calls too, where x-backlot-status would end them.
    ...metadata.map(([name, value]) => `-rpc-header ${shellQuoted(`${name}: ${value}`)}`),
    ...(deadlineMs === undefined ? [] : [`-max-time ${deadlineMs / 1_000}`]),
    `-d ${isPiped ? "@" : shellQuoted(data)}`,
    `${addressOf(origin)} ${path.slice(1)}`,
  ];
  return `${isPiped ? `${printed(data)} | ` : ""}${words.join(" ")}`;
}

const pythonCalls = {
  unary: "unary_unary",
  "server stream": "unary_stream",
  "client stream": "stream_unary",
  "bidi stream": "stream_stream",
};

function python(call: CopiedCall): string {
  const { origin, clientCertificate, path, pattern, requestType, responseType, metadata, deadlineMs, messages } = call;
  const address = JSON.stringify(addressOf(origin));
  const files = certificateFiles(clientCertificate);
  const channel = isTlsOrigin(origin)
    ? `grpc.secure_channel(${address}, grpc.ssl_channel_credentials(${files.map((file) => `open("${file}", "rb").read()`).join(", ")}))`
    : `grpc.insecure_channel(${address})`;
  const pairs = metadata.map(([name, value]) => {
    const text = JSON.stringify(value);
    return `(${JSON.stringify(name)}, ${isBinary(name) ? `base64.b64decode(${text})` : text})`;
  });
  const parsed = messages.map(({ json }) => `Parse(${JSON.stringify(compact(json))}, Request(), descriptor_pool=pool)`);
  const service = path.slice(1, path.lastIndexOf("/"));
  const isStream = sendsStream(pattern);
  const options = [
    ...(deadlineMs === undefined ? [] : [`timeout=${deadlineMs / 1_000}`]),
    ...(pairs.length === 0 ? [] : [`metadata=[${pairs.join(", ")}]`]),
  ];
  const sent = `call(${[isStream ? "iter(requests)" : "request", ...options].join(", ")})`;
  return [
    ...(metadata.some(([name]) => isBinary(name)) ? ["import base64"] : []),
    "import grpc",
    "from google.protobuf import descriptor_pb2, descriptor_pool, message_factory",
    "from google.protobuf.descriptor_database import DescriptorDatabase",
    "from google.protobuf.json_format import Parse",
    "",
    `channel = ${channel}`,
    "# The name before protobuf 4.22 is MessageFactory.GetPrototype.",
    'class_of = getattr(message_factory, "GetMessageClass", None) or message_factory.MessageFactory().GetPrototype',
    "",
    "# The types come by reflection. These two messages have the fields of its protocol that are needed.",
    'reflection = descriptor_pb2.FileDescriptorProto(name="asked.proto", dependency=["google/protobuf/descriptor.proto"])',
    'asked = reflection.message_type.add(name="Asked")',
    'asked.field.add(name="symbol", number=4, type=9, label=1)',
    'answered = reflection.message_type.add(name="Answered")',
    'answered.field.add(name="files", number=4, type=11, label=1, type_name=".google.protobuf.FileDescriptorSet")',
    "known = descriptor_pool.Default()",
    "known.AddSerializedFile(reflection.SerializeToString())",
    'Asked, Answered = (class_of(known.FindMessageTypeByName(name)) for name in ("Asked", "Answered"))',
    'reflect = channel.stream_stream("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", Asked.SerializeToString, Answered.FromString)',
    "database = DescriptorDatabase()",
    `for answer in reflect(iter([Asked(symbol=${JSON.stringify(service)})])):`,
    "    for file in answer.files.file:",
    "        database.Add(file)",
    "pool = descriptor_pool.DescriptorPool(database)",
    "",
    `Request = class_of(pool.FindMessageTypeByName(${JSON.stringify(requestType)}))`,
    `Reply = class_of(pool.FindMessageTypeByName(${JSON.stringify(responseType)}))`,
    isStream ? `requests = [${parsed.join(",\n            ")}]` : `request = ${parsed[0] ?? "Request()"}`,
    `call = channel.${pythonCalls[pattern]}(${JSON.stringify(path)}, Request.SerializeToString, Reply.FromString)`,
    ...(getsStream(pattern) ? [`for reply in ${sent}:`, "    print(reply)"] : [`print(${sent})`]),
  ].join("\n");
}

function node({ origin, clientCertificate, path, pattern, metadata, deadlineMs, messages }: CopiedCall): string {
  const files = certificateFiles(clientCertificate);
  const isStream = sendsStream(pattern);
  const isStreamed = getsStream(pattern);
  const isTls = isTlsOrigin(origin);
  const slash = path.lastIndexOf("/");
  const service = JSON.stringify(path.slice(1, slash));
  const literals = messages.map(({ json, object }) => JSON.stringify(object) ?? compact(json));
  const args = [
    ...(isStream ? [] : [literals[0] ?? "{}"]),
    "metadata",
    deadlineMs === undefined ? "{}" : `{ deadline: Date.now() + ${deadlineMs} }`,
    ...(isStreamed ? [] : ["(error, reply) => show(error?.message ?? reply)"]),
  ];
  return [
    "// npm install @grpc/grpc-js @grpc/proto-loader protobufjs; an ES module, such as call.mjs",
    'import * as grpc from "@grpc/grpc-js";',
    'import { loadFileDescriptorSetFromBuffer } from "@grpc/proto-loader";',
    'import protobuf from "protobufjs";',
    ...(isTls ? ['import { readFileSync } from "node:fs";'] : []),
    "",
    `const address = ${JSON.stringify(addressOf(origin))};`,
    `const credentials = grpc.credentials.${isTls ? `createSsl(${files.map((file) => `readFileSync("${file}")`).join(", ")})` : "createInsecure()"};`,
    "const show = (value) => console.dir(value, { depth: null });",
    "",
    "// The types come by reflection. These two messages have the fields of its protocol that are needed.",
    `const { Asked, Answered } = protobuf.parse('syntax = "proto3"; message Asked { string symbol = 4; } message Answered { bytes files = 4; }').root.nested;`,
    "const reflection = new grpc.Client(address, credentials);",
    "const files = await new Promise((resolve, reject) => {",
    "  const encode = (asked) => Buffer.from(Asked.encode(asked).finish());",
    "  const decode = (bytes) => Answered.decode(bytes).files;",
    '  const asked = reflection.makeBidiStreamRequest("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", encode, decode);',
    '  asked.on("data", resolve).on("error", reject);',
    `  asked.end({ symbol: ${service} });`,
    "});",
    "reflection.close();",
    "const types = loadFileDescriptorSetFromBuffer(files, { longs: String, enums: String, bytes: String, defaults: true });",
    "",
    `const Service = grpc.makeClientConstructor(types[${service}]);`,
    "const client = new Service(address, credentials);",
    "const metadata = new grpc.Metadata();",
    ...metadata.map(([name, value]) => {
      const text = JSON.stringify(value);
      return `metadata.add(${JSON.stringify(name)}, ${isBinary(name) ? `Buffer.from(${text}, "base64")` : text});`;
    }),
    `const call = client.${path.slice(slash + 1)}(${args.join(", ")});`,
    ...(isStreamed ? ['call.on("data", show).on("error", (error) => show(error.message));'] : []),
    ...(isStream ? [...literals.map((literal) => `call.write(${literal});`), "call.end();"] : []),
    'call.on("status", () => client.close());',
  ].join("\n");
}

/** Runs in a browser: calls the service with the clients that pages use, and says what they got. */
import { createFileRegistry, type DescMethod, type DescService, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { GrpcWebClientBase, MethodDescriptor, MethodType } from "grpc-web";

type Fields = Record<string, unknown>;
interface Greeter {
  sayHello(request: Fields, options?: { headers?: Record<string, string>; timeoutMs?: number }): Promise<Fields>;
  streamData(request: Fields): AsyncIterable<Fields>;
}

export interface BrowserResult {
  readonly hello: string;
  readonly items: readonly string[];
  readonly error: { readonly code: number; readonly message: string; readonly detail: string; readonly trailer: string | null };
  readonly deadline: number;
}

const asked = {
  "x-backlot-status": "NOT_FOUND",
  "x-backlot-message": "no such user",
  "x-backlot-details": '{"@type":"RetryInfo","retryDelay":"2s"}',
  "x-backlot-trailers": "x-why=gone",
};

async function byConnectWeb(greeter: DescService, transport: Transport): Promise<BrowserResult> {
  const client = createClient(greeter, transport) as unknown as Greeter;
  const { message } = await client.sayHello({ name: "Ada" });
  const items: string[] = [];
  for await (const { value } of client.streamData({ count: 3, prefix: "p" })) items.push(String(value));
  const failed = async (options: object) =>
    ConnectError.from(
      await client.sayHello({ name: "Ada" }, options).then(
        () => "no error",
        (error: unknown) => error,
      ),
    );
  const { code, rawMessage, details, metadata } = await failed({ headers: asked });
  const [detail] = details;
  const late = await failed({ headers: { "x-backlot-delay": "5s" }, timeoutMs: 200 });
  const type = detail && "value" in detail && "type" in detail ? detail.type : "none";
  return {
    hello: String(message),
    items,
    error: { code, message: rawMessage, detail: String(type), trailer: metadata.get("x-why") },
    deadline: late.code,
  };
}

/** Google's client: base64 in its text format. */
async function byGrpcWeb(greeter: DescService, baseUrl: string, format: "text" | "binary"): Promise<BrowserResult> {
  const client = new GrpcWebClientBase({ format });
  const described = (name: string, type: string) => {
    const { input, output } = greeter.methods.find((method) => method.name === name) as DescMethod;
    return new MethodDescriptor<Fields, Fields>(
      `/example.Greeter/${name}`,
      type,
      Object as never,
      Object as never,
      (fields: Fields) => toBinary(input, { $typeName: input.typeName, ...fields } as never),
      (bytes: Uint8Array) => fromBinary(output, bytes),
    );
  };
  const sayHello = (metadata: Record<string, string>) =>
    new Promise<Fields>((resolve, reject) => {
      const url = `${baseUrl}/example.Greeter/SayHello`;
      client.rpcCall(url, { name: "Ada" }, metadata, described("SayHello", MethodType.UNARY), (error, reply) =>
        error ? reject(error) : resolve(reply),
      );
    });
  const failed = (metadata: Record<string, string>) =>
    sayHello(metadata).then(
      () => ({ code: 0, message: "", metadata: {} as Record<string, string> }),
      (error: unknown) => error as { readonly code: number; readonly message: string; readonly metadata: Record<string, string> },
    );
  const { message } = await sayHello({});
  const items: string[] = [];
  const streamed = described("StreamData", MethodType.SERVER_STREAMING);
  await new Promise<void>((resolve, reject) => {
    const stream = client.serverStreaming(`${baseUrl}/example.Greeter/StreamData`, { count: 3, prefix: "p" }, {}, streamed);
    stream.on("data", ({ value }) => void items.push(String(value)));
    stream.on("error", reject);
    stream.on("end", () => resolve());
  });
  const error = await failed(asked);
  const late = await failed({ "x-backlot-delay": "5s", deadline: String(Date.now() + 200) });
  const details = error.metadata["grpc-status-details-bin"] ?? "";
  return {
    hello: String(message),
    items,
    error: {
      code: error.code,
      message: error.message,
      detail: atob(details).includes("google.rpc.RetryInfo") ? "google.rpc.RetryInfo" : "none",
      trailer: error.metadata["x-why"] ?? null,
    },
    deadline: late.code,
  };
}

export type BrowserClient = "connect" | "connect json" | "connect get" | "grpc-web" | "grpc-web json" | "google text" | "google binary";

async function call(client: BrowserClient, baseUrl: string, schema: string): Promise<BrowserResult> {
  const files = fromBinary(
    FileDescriptorSetSchema,
    Uint8Array.from(atob(schema), (character) => character.charCodeAt(0)),
  );
  const greeter = createFileRegistry(files).getService("example.Greeter");
  if (!greeter) throw new Error("the schema has no Greeter");
  switch (client) {
    case "connect":
      return byConnectWeb(greeter, createConnectTransport({ baseUrl, useBinaryFormat: true }));
    case "connect json":
      return byConnectWeb(greeter, createConnectTransport({ baseUrl }));
    case "connect get":
      return byConnectWeb(greeter, createConnectTransport({ baseUrl, useHttpGet: true }));
    case "grpc-web":
      return byConnectWeb(greeter, createGrpcWebTransport({ baseUrl }));
    case "grpc-web json":
      return byConnectWeb(greeter, createGrpcWebTransport({ baseUrl, useBinaryFormat: false }));
    case "google text":
      return byGrpcWeb(greeter, baseUrl, "text");
    case "google binary":
      return byGrpcWeb(greeter, baseUrl, "binary");
    default:
      return client satisfies never;
  }
}

Object.assign(globalThis, { call });

import { type Client, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { loadOwnProtos } from "../../servers/grpc/protos/own-protos.ts";

type Reply = Record<string, unknown>;
interface Options {
  readonly headers?: Record<string, string> | Headers;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  onHeader?(headers: Headers): void;
  onTrailer?(trailers: Headers): void;
}
type Messages = AsyncIterable<Record<string, unknown>>;

/** Methods of the reference services, by their names in connect-es. */
export interface ReferenceClient {
  sayHello(request: Reply, options?: Options): Promise<Reply>;
  streamData(request: Reply, options?: Options): AsyncIterable<Reply>;
  clientStream(requests: Messages, options?: Options): Promise<Reply>;
  bidirectionalStream(requests: Messages, options?: Options): AsyncIterable<Reply>;
  subscribe(request: Reply, options?: Options): AsyncIterable<Reply>;
  echoUnary(request: Reply, options?: Options): Promise<Reply>;
  check(request: Reply, options?: Options): Promise<Reply>;
  watch(request: Reply, options?: Options): AsyncIterable<Reply>;
  serverReflectionInfo(requests: Messages, options?: Options): AsyncIterable<Reply>;
}

const protos = await loadOwnProtos();

/** A client of connect-es by the served descriptors. */
export function referenceClient(transport: Transport, service = "example.Greeter"): ReferenceClient {
  const described = protos.services.find(({ typeName }) => typeName === service);
  if (!described) throw new Error(`there is no service ${service}`);
  return createClient(described, transport) as Client<typeof described> as unknown as ReferenceClient;
}

export interface WebTransportCase {
  readonly name: string;
  readonly protocol: "grpc-web" | "connect";
  readonly httpVersion: "1.1" | "2";
  readonly json: boolean;
}

export const webTransportCases: readonly WebTransportCase[] = (["grpc-web", "connect"] as const).flatMap((protocol) =>
  (["1.1", "2"] as const).flatMap((httpVersion) =>
    [false, true].map((json) => ({ name: `${protocol} ${json ? "JSON" : "proto"}, HTTP/${httpVersion}`, protocol, httpVersion, json })),
  ),
);

export const webTransport = (baseUrl: string, { protocol, httpVersion, json }: WebTransportCase, more: object = {}): Transport =>
  (protocol === "connect" ? createConnectTransport : createGrpcWebTransport)({ baseUrl, httpVersion, useBinaryFormat: !json, ...more });

export async function* sent(...messages: readonly Record<string, unknown>[]): Messages {
  yield* messages;
}

export async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const got: Item[] = [];
  for await (const item of items) got.push(item);
  return got;
}

/** A plain request, as curl or a page would make it. */
export async function post(url: string, headers: Record<string, string>, request: Buffer | string) {
  const response = await fetch(url, { method: "POST", headers, body: request as BodyInit });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

export interface AnsweredFrame {
  readonly flags: number;
  readonly content: Buffer;
}

/** The frames of an answer of gRPC-Web, or of a stream of Connect. */
export function framesOf(bytes: Buffer): AnsweredFrame[] {
  const frames: AnsweredFrame[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at + 1);
    frames.push({ flags: bytes[at] ?? 0, content: bytes.subarray(at + 5, at + 5 + length) });
    at += 5 + length;
  }
  return frames;
}

/** Of an answer as gRPC-Web's text, in which each piece has its own padding. */
export const fromText = (bytes: Buffer): Buffer =>
  Buffer.concat((bytes.toString().match(/[^=]+={0,2}/g) ?? []).map((piece) => Buffer.from(piece, "base64")));

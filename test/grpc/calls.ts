import type { Buffer } from "node:buffer";
import type { Client, ClientDuplexStream, ClientReadableStream, Metadata as MetadataType, ServiceError, StatusObject } from "@grpc/grpc-js";
import { Metadata } from "@grpc/grpc-js";
import { type MessageType, prefixBytes } from "../../servers/grpc/engine/message-type.ts";

const asIs = (bytes: Buffer): Buffer => bytes;

/** The message of a frame, without its prefix. */
export const body = (frame: Buffer): Buffer => frame.subarray(prefixBytes);

const metadataOf = (pairs: Readonly<Record<string, string | Buffer | readonly string[]>> = {}): MetadataType => {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(pairs)) {
    for (const one of Array.isArray(value) ? (value as string[]) : [value as string | Buffer]) metadata.add(name, one);
  }
  return metadata;
};

export interface Called<Reply> {
  readonly replies: readonly Reply[];
  readonly headers: MetadataType | undefined;
  readonly status: StatusObject;
}

interface CallOptions {
  readonly metadata?: Readonly<Record<string, string | Buffer | readonly string[]>>;
  readonly deadlineMs?: number;
}

const optionsOf = ({ deadlineMs }: CallOptions) => (deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs });

/** A call of any pattern, as a client that sends all its messages at once; resolves with all that came, whatever the status. */
export function callMethod<Request, Reply>(
  client: Client,
  path: string,
  request: MessageType<Request>,
  reply: Pick<MessageType<Reply>, "decode">,
  messages: readonly Request[],
  options: CallOptions = {},
): Promise<Called<Reply>> {
  const stream = client.makeBidiStreamRequest(path, asIs, asIs, metadataOf(options.metadata), optionsOf(options));
  for (const message of messages) stream.write(body(request.frame(message)));
  stream.end();
  return collect(stream, reply);
}

export function collect<Reply>(
  stream: ClientDuplexStream<Buffer, Buffer> | ClientReadableStream<Buffer>,
  reply: Pick<MessageType<Reply>, "decode">,
): Promise<Called<Reply>> {
  return new Promise((resolve) => {
    const replies: Reply[] = [];
    let headers: MetadataType | undefined;
    stream.on("metadata", (metadata: MetadataType) => {
      headers = metadata;
    });
    stream.on("data", (bytes: Buffer) => replies.push(reply.decode(bytes)));
    stream.on("error", (_error: ServiceError) => {});
    stream.on("status", (status: StatusObject) => resolve({ replies, headers, status }));
  });
}

/** An open stream in both directions. */
export const openStream = (client: Client, path: string, options: CallOptions = {}): ClientDuplexStream<Buffer, Buffer> =>
  client.makeBidiStreamRequest(path, asIs, asIs, metadataOf(options.metadata), optionsOf(options)).on("error", () => {});

/** Requests as no client library would make them. */
import { connect, type OutgoingHttpHeaders } from "node:http2";
import { type GrpcUnderTest, onEnd } from "./harness.ts";

export const echoUnary = "/example.EchoService/EchoUnary";

/** A message behind its prefix. */
export function framed(message: Buffer, flag = 0): Buffer {
  const prefix = Buffer.from([flag, 0, 0, 0, 0]);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

export interface RawAnswer {
  /** Of the head and the trailers together. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

/** One stream of HTTP/2, by default a call of EchoUnary; `undefined` leaves a field out. */
export function rawRequest(service: GrpcUnderTest, headers: OutgoingHttpHeaders, bytes: Buffer): Promise<RawAnswer> {
  const session = connect(`http://${service.address}`);
  onEnd(() => session.destroy());
  session.on("error", () => {});
  const wanted: OutgoingHttpHeaders = {
    ":method": "POST",
    ":path": echoUnary,
    "content-type": "application/grpc",
    te: "trailers",
    ...headers,
  };
  const fieldsOfRequest = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
  // A GET too may have a body.
  const stream = session.request(fieldsOfRequest, { endStream: false });
  const chunks: Buffer[] = [];
  let fields: Record<string, unknown> = {};
  stream.on("error", () => {});
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  for (const event of ["response", "trailers"]) {
    stream.on(event, (more: object) => {
      fields = { ...fields, ...more };
    });
  }
  stream.end(bytes);
  return new Promise((resolve) => stream.on("close", () => resolve({ fields, body: Buffer.concat(chunks) })));
}

import { Metadata } from "@grpc/grpc-js";
import { StatusError } from "./status.ts";

/** Fields that belong to a protocol or a connection and not to a call; the rest is metadata. */
const notMetadata =
  /^(?::.*|grpc-(?:timeout|encoding|accept-encoding)|te|content-type|accept-encoding|connect-(?:timeout-ms|protocol-version|content-encoding|accept-encoding)|content-(?:length|encoding)|connection|keep-alive|proxy-connection|transfer-encoding|upgrade|http2-settings|host)$/;

/** The metadata of a call's header fields: name, value, name, value. */
export function metadataOf(rawHeaders: readonly string[]): Metadata {
  const metadata = new Metadata();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] as string).toLowerCase();
    const value = rawHeaders[index + 1] as string;
    if (notMetadata.test(name)) continue;
    try {
      if (!name.endsWith("-bin")) metadata.add(name, value);
      // Several values may be in one field.
      else for (const one of value.split(",")) metadata.add(name, Buffer.from(one, "base64"));
    } catch {
      // Valid in HTTP, but not in gRPC: it is in the raw header fields only.
    }
  }
  return metadata;
}

const unitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 };

/** Milliseconds of a `grpc-timeout`; undefined if it is not valid. */
export function grpcTimeoutMs(text: string): number | undefined {
  const [, digits, unit = ""] = /^(\d{1,8})([HMSmun])$/.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits) * (unitMs[unit] ?? 0);
}

export const unreadableTimeout = (): StatusError =>
  new StatusError("INTERNAL", "grpc-timeout is not a number of up to eight digits with a unit");

/** RFC 9113 §6.5.2: the bytes of header fields as HTTP/2 counts them. */
export function headerListBytes(rawHeaders: readonly string[]): number {
  let bytes = rawHeaders.length * 16;
  for (let index = 0; index < rawHeaders.length; index++) bytes += (rawHeaders[index] as string).length;
  return bytes;
}

export const tooMuchMetadata = (bytes: number, limit: number): StatusError =>
  new StatusError("RESOURCE_EXHAUSTED", `the header fields of the call have ${bytes} bytes, which is more than the limit of ${limit}`);

/** Names and values of Node's header fields. */
export function fieldPairs(fields: object): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  for (const [name, value] of Object.entries(fields) as [string, unknown][]) {
    if (Array.isArray(value)) for (const one of value) pairs.push([name, String(one)]);
    else pairs.push([name, String(value)]);
  }
  return pairs;
}

/** As `grpc-message` has it: all but printable ASCII, and the percent sign. The text is well-formed. */
export const percentEncoded = (text: string): string => text.replace(/[^ -$&-~]+/g, encodeURIComponent);

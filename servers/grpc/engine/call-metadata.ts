import { Metadata } from "@grpc/grpc-js";
import { StatusError } from "./status.ts";

/** Fields that belong to a protocol or a connection and not to a call; the rest is metadata. */
const notMetadata =
  /^(?::.*|grpc-(?:timeout|encoding|accept-encoding)|te|content-type|accept-encoding|connect-(?:timeout-ms|protocol-version|content-encoding|accept-encoding)|content-(?:length|encoding)|connection|keep-alive|proxy-connection|transfer-encoding|upgrade|http2-settings|host)$/;

/** The metadata of a call's header fields: name, value, name, value. With `only` those of one name, in lower case: there may be thousands of fields. */
export function metadataOf(rawHeaders: readonly string[], only?: string): Metadata {
  const metadata = new Metadata();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] as string).toLowerCase();
    const value = rawHeaders[index + 1] as string;
    if ((only !== undefined && name !== only) || notMetadata.test(name)) continue;
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

/** RFC 9113 §6.5.2: counted for each field, beside its name and value. */
export const overheadOfField = 32;

/** RFC 9113 §6.5.2: the bytes of header fields as HTTP/2 counts them. */
export function headerListBytes(rawHeaders: readonly string[]): number {
  let bytes = rawHeaders.length * (overheadOfField / 2);
  for (let index = 0; index < rawHeaders.length; index++) bytes += (rawHeaders[index] as string).length;
  return bytes;
}

/**
 * An error if the header fields have more bytes than the limit: `listBytes`, and for each further value in a "-bin" field what a field of its
 * own would count, since a value takes much more memory than the comma before it.
 */
export function metadataFault(rawHeaders: readonly string[], listBytes: number, limit: number): StatusError | undefined {
  let bytes = listBytes;
  // A comma is a byte: the values of few bytes are few, which spares nearly all calls the search.
  if (listBytes <= limit && listBytes * overheadOfField > limit) {
    for (let index = 0; index < rawHeaders.length; index += 2) {
      if (/-bin$/i.test(rawHeaders[index] as string)) bytes += overheadOfField * commasIn(rawHeaders[index + 1] as string);
    }
  }
  if (bytes <= limit) return undefined;
  return new StatusError(
    "RESOURCE_EXHAUSTED",
    `the header fields of the call have ${bytes} bytes, which is more than the limit of ${limit}`,
  );
}

function commasIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf(","); at >= 0; at = text.indexOf(",", at + 1)) count++;
  return count;
}

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

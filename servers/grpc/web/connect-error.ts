import { fromBinary, type JsonValue, toJson } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import type { CallEnd } from "../engine/call-transport.ts";
import { fieldsAtOnce, fieldsOfMessage } from "../engine/message-check.ts";
import { statusName } from "../engine/status.ts";
import type { DescriptorPool } from "../protos/descriptor-pool.ts";

/** A detail of an error in Connect's form. */
export interface ConnectDetail {
  readonly type: string;
  /** Base64 without padding. */
  readonly value: string;
  /** The same as JSON, for people, unless it has very many fields. */
  readonly debug?: JsonValue;
}

export interface ConnectError {
  readonly code: string;
  readonly message?: string;
  readonly details?: readonly ConnectDetail[];
}

/** Reads the details of a serialized google.rpc.Status; undefined for other bytes. */
export type ConnectErrors = (status: Uint8Array) => readonly ConnectDetail[] | undefined;

/** The user's types change while the service runs. */
export function createConnectErrors(current: () => DescriptorPool): ConnectErrors {
  function debugOf(type: string, value: Uint8Array, { registry }: DescriptorPool): JsonValue | undefined {
    const message = registry.getMessage(type);
    try {
      if (!message || fieldsOfMessage(value, message, fieldsAtOnce, registry) > fieldsAtOnce) return undefined;
      return toJson(message, fromBinary(message, value), { registry });
    } catch {
      return undefined;
    }
  }

  return (bytes) => {
    try {
      const pool = current();
      const { details } = fromBinary(pool.message("google.rpc.Status"), bytes) as unknown as { readonly details: readonly Any[] };
      return details.map(({ typeUrl, value }) => {
        const type = typeUrl.slice(typeUrl.lastIndexOf("/") + 1);
        const debug = debugOf(type, value, pool);
        return {
          type,
          value: Buffer.from(value)
            .toString("base64")
            .replace(/={1,2}$/, ""),
          ...(debug !== undefined && { debug }),
        };
      });
    } catch {
      return undefined;
    }
  };
}

const detailsField = "grpc-status-details-bin";

/** The error of a call, if it has one, and the trailing metadata without the error's details. */
export function connectErrorOf({ code, message, trailers }: CallEnd, errors: ConnectErrors) {
  const metadata = trailers?.toHttp2Headers() ?? {};
  if (code === 0) return { error: undefined, metadata };
  const [status] = trailers?.get(detailsField) ?? [];
  const details = Buffer.isBuffer(status) ? errors(status) : undefined;
  if (details) delete metadata[detailsField];
  const error: ConnectError = {
    code: codeName(code),
    ...(message !== "" && { message }),
    ...(details && details.length > 0 && { details }),
  };
  return { error, metadata };
}

const codeName = (code: number): string => (code === 1 ? "canceled" : statusName(code).toLowerCase());

/** By code, from 0: https://connectrpc.com/docs/protocol#error-codes */
const httpStatuses = [200, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401];

export const httpStatusOf = (code: number): number => httpStatuses[code] ?? 500;

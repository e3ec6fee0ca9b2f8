import { fromBinary, toJson } from "@bufbuild/protobuf";
import type { Json } from "../../../contract/services/grpc-replies.ts";
import { errorText } from "../../core/service/service-error.ts";
import type { GrpcCall } from "../engine/grpc-call.ts";
import type { GrpcMethod } from "../engine/grpc-method.ts";
import { knownFields } from "../engine/message-type.ts";
import { requireWrittenValues } from "../engine/message-values.ts";
import { StatusError } from "../engine/status.ts";
import type { MatchSubject } from "./conditions.ts";

/** A call's metadata and messages for its rules. Messages are converted to JSON on first use. */
export class ReceivedMessages implements MatchSubject {
  readonly metadata: (name: string) => readonly string[];
  readonly #method: GrpcMethod;
  readonly #bytes: readonly Uint8Array[];
  readonly #mostValues: number;
  #messages: readonly Json[] | undefined;

  constructor(call: GrpcCall, method: GrpcMethod, bytes: readonly Uint8Array[], mostValues: number) {
    this.metadata = metadataOf(call);
    this.#method = method;
    this.#bytes = bytes;
    this.#mostValues = mostValues;
  }

  messages(): readonly Json[] {
    this.#messages ??= this.#read();
    return this.#messages;
  }

  #read(): readonly Json[] {
    const { descriptor, pool } = this.#method;
    requireWrittenValues(this.#bytes, descriptor.input, this.#mostValues);
    return this.#bytes.map((bytes) => {
      try {
        const message = fromBinary(descriptor.input, bytes, knownFields);
        return toJson(descriptor.input, message, { registry: pool.registry, alwaysEmitImplicit: true }) as Json;
      } catch (error) {
        throw new StatusError("INTERNAL", `a reply rule cannot read the request: ${errorText(error)}`);
      }
    });
  }

  /** The message that rules name `request`. */
  get last(): Json | undefined {
    return this.messages().at(-1);
  }
}

/** The values of a field; those of a "-bin" field in base64. */
export const metadataOf =
  ({ head: { metadata } }: Pick<GrpcCall, "head">) =>
  (name: string): readonly string[] =>
    metadata.get(name).map((value) => (typeof value === "string" ? value : value.toString("base64")));

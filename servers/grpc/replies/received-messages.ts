import { fromBinary, toJson } from "@bufbuild/protobuf";
import type { Json } from "../../../contract/services/grpc-replies.ts";
import type { GrpcCall } from "../engine/grpc-call.ts";
import type { GrpcMethod } from "../engine/grpc-method.ts";
import { StatusError } from "../engine/status.ts";
import type { MatchSubject } from "./conditions.ts";

/** What a call's rules look at: its metadata, and messages of the client, which become JSON when a rule first asks. */
export class ReceivedMessages implements MatchSubject {
  readonly metadata: (name: string) => readonly string[];
  readonly #method: GrpcMethod;
  readonly #bytes: readonly Uint8Array[];
  #messages: readonly Json[] | undefined;

  constructor(call: GrpcCall, method: GrpcMethod, bytes: readonly Uint8Array[]) {
    this.metadata = metadataOf(call);
    this.#method = method;
    this.#bytes = bytes;
  }

  messages(): readonly Json[] {
    const { descriptor, pool } = this.#method;
    this.#messages ??= this.#bytes.map((bytes) => {
      try {
        return toJson(descriptor.input, fromBinary(descriptor.input, bytes), { registry: pool.registry, alwaysEmitImplicit: true }) as Json;
      } catch (error) {
        throw new StatusError(
          "INTERNAL",
          `a reply rule cannot read the request: ${error instanceof Error ? error.message : String(error)}`,
        );
      }
    });
    return this.#messages;
  }

  /** The one that a rule calls the request. */
  get last(): Json | undefined {
    return this.messages().at(-1);
  }
}

/** Values of a field as texts, those of a field with bytes in base64. */
export const metadataOf =
  ({ metadata }: GrpcCall) =>
  (name: string): readonly string[] =>
    metadata.get(name).map((value) => (typeof value === "string" ? value : value.toString("base64")));

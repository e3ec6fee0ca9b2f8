import { errorText } from "../../core/service/service-error.ts";
import { metadataOf } from "../engine/call-metadata.ts";
import type { GrpcCall } from "../engine/grpc-call.ts";
import type { GrpcMethod } from "../engine/grpc-method.ts";
import { WrittenValues } from "../engine/message-values.ts";
import { StatusError } from "../engine/status.ts";
import type { MatchSubject } from "./conditions.ts";
import type { FieldPath } from "./field-path.ts";
import { type FieldSource, MessageView, type ViewOptions } from "./message-view.ts";

/** A call's metadata and messages for its rules. What rules read of messages becomes JSON. */
export class ReceivedMessages implements MatchSubject {
  readonly metadata: (name: string) => readonly string[];
  readonly #method: GrpcMethod;
  readonly #bytes: readonly Uint8Array[];
  readonly #mostValues: number;
  #messages: readonly FieldSource[] | undefined;

  constructor(call: GrpcCall, method: GrpcMethod, bytes: readonly Uint8Array[], mostValues: number) {
    this.metadata = metadataValues(call);
    this.#method = method;
    this.#bytes = bytes;
    this.#mostValues = mostValues;
  }

  messages(): readonly FieldSource[] {
    this.#messages ??= this.#read();
    return this.#messages;
  }

  #read(): readonly FieldSource[] {
    const { descriptor, pool } = this.#method;
    const options = { registry: pool.registry, values: new WrittenValues(this.#mostValues) };
    return this.#bytes.map((bytes) => new ReadableMessage(bytes, descriptor.input, options));
  }

  /** The message that rules name `request`. */
  get last(): FieldSource | undefined {
    return this.messages().at(-1);
  }
}

class ReadableMessage implements FieldSource {
  readonly #view: MessageView;

  constructor(bytes: Uint8Array, type: GrpcMethod["descriptor"]["input"], options: ViewOptions) {
    this.#view = new MessageView(type, bytes, options);
  }

  at(path: FieldPath) {
    try {
      return this.#view.at(path);
    } catch (error) {
      if (error instanceof StatusError) throw error;
      throw new StatusError("INTERNAL", `a reply rule cannot read the request: ${errorText(error)}`);
    }
  }
}

/** The values of a field, whose name is in lower case; those of a "-bin" field in base64. */
export const metadataValues =
  ({ head: { rawHeaders } }: Pick<GrpcCall, "head">) =>
  (name: string): readonly string[] =>
    metadataOf(rawHeaders, name)
      .get(name)
      .map((value) => (typeof value === "string" ? value : value.toString("base64")));

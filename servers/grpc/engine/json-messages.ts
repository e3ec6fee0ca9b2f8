import { type DescMethod, fromBinary, fromJsonString, type Registry, toBinary, toJsonString } from "@bufbuild/protobuf";
import { errorText } from "../../core/service/service-error.ts";
import { knownFields } from "./message-type.ts";
import { StatusError } from "./status.ts";

/** Converts the messages of one method between JSON, which some clients send, and the bytes that handlers read and write. */
export interface JsonMessages {
  /** Throws INVALID_ARGUMENT for JSON that does not fit the request's type. Unknown fields are ignored; `onIgnored` gets the name of the first. */
  request(json: Uint8Array, onIgnored: (field: string) => void): Uint8Array;
  reply(message: Uint8Array): Buffer;
}

/** A longer message is read or written in turns of its own, and not read twice to name a field that is ignored: 4 MB take some 40 ms. */
export const jsonAtOnce = 64 << 10;

export function jsonMessages({ input, output }: DescMethod, registry: Registry): JsonMessages {
  return {
    request(json, onIgnored) {
      let text: string;
      try {
        text = utf8.decode(json);
      } catch {
        throw new StatusError("INVALID_ARGUMENT", "the request is not JSON: its bytes are not UTF-8");
      }
      if (json.length <= jsonAtOnce) {
        try {
          return toBinary(input, fromJsonString(input, text, { registry }));
        } catch (error) {
          const field = /key "(.+)" is unknown$/.exec(errorText(error))?.[1];
          if (field !== undefined) onIgnored(field);
        }
      }
      try {
        // As Connect's servers do by default.
        return toBinary(input, fromJsonString(input, text, { registry, ignoreUnknownFields: true }));
      } catch (error) {
        throw new StatusError("INVALID_ARGUMENT", `the request is not valid JSON for ${input.typeName}: ${reasonOf(error)}`);
      }
    },
    reply(message) {
      try {
        return Buffer.from(toJsonString(output, fromBinary(output, message, knownFields), { registry }));
      } catch (error) {
        throw new StatusError("INTERNAL", `the answer cannot be written as JSON: ${reasonOf(error)}`);
      }
    },
  };
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

const reasonOf = (error: unknown): string => errorText(error).slice(0, 500);

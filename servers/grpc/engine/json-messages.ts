import { type DescMethod, fromBinary, fromJsonString, type JsonValue, type Registry, toBinary, toJsonString } from "@bufbuild/protobuf";
import { errorText } from "../../core/service/service-error.ts";
import { fieldsOfJson } from "./json-fields.ts";
import { fieldsAtOnce, fieldsOfMessage } from "./message-check.ts";
import { knownFields } from "./message-type.ts";
import { StatusError } from "./status.ts";

/** Converts the messages of one method between JSON, which some clients send, and the bytes that handlers read and write. */
export interface JsonMessages {
  /**
   * Throws INVALID_ARGUMENT for JSON that does not fit the request's type. Unknown fields are ignored; `onIgnored` gets the name of the first, for which the
   * message may be read twice.
   */
  request(json: Uint8Array, onIgnored?: (field: string) => void): Uint8Array;
  reply(message: Uint8Array): Buffer;
  /** Of a request's messages, with those that have their default; 0 for what is not JSON. Counted until there are more than `most`. */
  requestFields(json: Uint8Array, most: number): number;
  /** The same for a reply. */
  replyFields(message: Uint8Array, most: number): number;
  /** Others are read or written by another thread: these may take some milliseconds. */
  isShortRequest(json: Uint8Array): boolean;
  isShortReply(message: Uint8Array): boolean;
}

const jsonAtOnce = 16 << 10;

const unknownStart = 'key "';
const unknownEnd = '" is unknown';

/** The name in the library's text about a field that the type does not have. */
function unknownField(text: string): string | undefined {
  const at = text.indexOf(unknownStart);
  return at < 0 || !text.endsWith(unknownEnd) ? undefined : text.slice(at + unknownStart.length, -unknownEnd.length);
}

export function jsonMessages({ input, output }: DescMethod, registry: Registry): JsonMessages {
  const textOf = (json: Uint8Array): string => {
    try {
      return utf8.decode(json);
    } catch {
      throw new StatusError("INVALID_ARGUMENT", "the request is not JSON: its bytes are not UTF-8");
    }
  };
  const unreadable = (error: unknown) =>
    new StatusError("INVALID_ARGUMENT", `the request is not valid JSON for ${input.typeName}: ${reasonOf(error)}`);
  const unwritable = (error: unknown) => new StatusError("INTERNAL", `the answer cannot be written as JSON: ${reasonOf(error)}`);
  // As Connect's servers do by default.
  const lenient = { registry, ignoreUnknownFields: true };
  const messages: JsonMessages = {
    requestFields(json, most) {
      try {
        return fieldsOfJson(JSON.parse(utf8.decode(json)) as JsonValue, input, most, registry);
      } catch {
        return 0;
      }
    },
    replyFields: (message, most) => fieldsOfMessage(message, output, most, registry),
    isShortRequest: (json) => json.length <= jsonAtOnce && messages.requestFields(json, fieldsAtOnce) <= fieldsAtOnce,
    isShortReply: (message) => message.length <= jsonAtOnce && messages.replyFields(message, fieldsAtOnce) <= fieldsAtOnce,
    request(json, onIgnored) {
      const text = textOf(json);
      try {
        if (onIgnored) return toBinary(input, fromJsonString(input, text, { registry }));
      } catch (error) {
        const field = unknownField(errorText(error));
        if (field !== undefined) onIgnored?.(field);
      }
      try {
        return toBinary(input, fromJsonString(input, text, lenient));
      } catch (error) {
        throw unreadable(error);
      }
    },
    reply(message) {
      try {
        return Buffer.from(toJsonString(output, fromBinary(output, message, knownFields), { registry }));
      } catch (error) {
        throw unwritable(error);
      }
    },
  };
  return messages;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

const reasonOf = (error: unknown): string => errorText(error).slice(0, 500);

import { isUtf8 } from "node:buffer";
import type { DescMessage, Registry } from "@bufbuild/protobuf";
import { isMessageOf, madeFields } from "../../../contract/services/grpc-message-walk.ts";
import { unreadable } from "./status.ts";

/** A message with more, of those that have their default too, takes some milliseconds to be decoded. */
export const fieldsAtOnce = 16_384;

/** Throws `UnreadableRequest` for bytes that are not a message of the type, without decoding them. */
export function requireMessage(bytes: Uint8Array, type: DescMessage): void {
  if (!isMessageOf(bytes, type, isUtf8)) throw unreadable();
}

/** As `madeFields`. Throws `UnreadableRequest` for bytes that are not a message. */
export function fieldsOfMessage(bytes: Uint8Array, type: DescMessage, most: number, registry: Registry): number {
  const made = madeFields(bytes, type, { most, registry });
  if (made === undefined) throw unreadable();
  return made;
}

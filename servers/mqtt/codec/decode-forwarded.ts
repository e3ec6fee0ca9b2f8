import { ByteReader } from "./byte-reader.ts";
import { putVariable, variableLength } from "./byte-writer.ts";
import { type Properties, propertyContext, readProperties } from "./properties.ts";

/** The properties that a message carries on, as `encodeForwarded` wrote them. */
export function decodeForwarded(forwarded: Buffer): Properties | undefined {
  if (forwarded.length === 0) return undefined;
  const bytes = Buffer.allocUnsafe(variableLength(forwarded.length) + forwarded.length);
  const at = putVariable(bytes, 0, forwarded.length);
  forwarded.copy(bytes, at);
  const reader = new ByteReader();
  reader.open(bytes, 0, bytes.length);
  return readProperties(reader, propertyContext.publish);
}

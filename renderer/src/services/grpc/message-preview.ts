import type { GrpcCodec } from "../../../../contract/traffic/grpc.ts";
import { shownText } from "../../ui/texts/shown-text.ts";
import { fromBase64, toHex } from "../../viewer/decode/bytes.ts";
import { readMessage, readMessageStart } from "./schema/message-json.ts";
import type { GrpcSchema } from "./schema/use-grpc-schema.ts";

const shownBytes = 24;
/** Of a longer message the fields at its start are shown. */
const previewedCharacters = 2_048;

/** The kept part of a message, and the length of the whole. */
export interface PreviewedMessage {
  readonly base64: string;
  readonly bytes: number;
  readonly codec?: GrpcCodec;
}

/** A message on one line: its JSON, or its first bytes if it cannot be decoded. */
export function messagePreview(schema: GrpcSchema | undefined, typeName: string, { base64, bytes, codec }: PreviewedMessage): string {
  const kept = fromBase64(base64.slice(0, previewedCharacters));
  // JSON from the client, unchanged.
  if (codec === "json") return shownText(new TextDecoder().decode(kept).replace(/\s+/g, " "));
  const isWhole = kept.length === bytes;
  const json = isWhole ? readMessage(schema, typeName, kept) : readMessageStart(schema, typeName, kept);
  return json === undefined ? toHex(kept.subarray(0, shownBytes)) : shownText(`${JSON.stringify(json)}${isWhole ? "" : " …"}`);
}

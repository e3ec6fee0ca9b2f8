import type { MqttMessageSummary } from "../../../contract/traffic/mqtt.ts";
import { fromBase64, toHex } from "./base64.ts";
import { decodeCbor } from "./decode-cbor.ts";
import { decodeMessagePack } from "./decode-message-pack.ts";
import { decodeProtobuf } from "./decode-protobuf.ts";
import { type DecodedValue, DecodeError } from "./decoded-value.ts";
import { type BinaryView, isBinaryView, type PayloadView } from "./payload-lines.ts";
import { protobufValue } from "./protobuf-lines.ts";
import { utf8Text } from "./utf8-text.ts";
import { valueText } from "./value-text.ts";

/** How a payload begins, base64, and how long it is. */
type Start = Pick<MqttMessageSummary, "start" | "bytes">;

const hexBytes = 32;

/** In a narrow column a JSON object with a reading is worth its reading alone: 20.78. */
export function previewOf(preview: string): string {
  const value = /^\{\s*"(v|val|value)"\s*:\s*(-?[\d.]+(?:[eE][+-]?\d+)?|"[^"]{0,20}")\s*[,}]/.exec(preview);
  return value?.[2] ?? preview;
}

/** The start of a payload as text; undefined where it is none, or not decoded in this view. */
export function startText({ start, bytes }: Start, view: PayloadView): string | undefined {
  const head = fromBase64(start);
  const isCut = head.length < bytes;
  if (!isBinaryView(view)) return utf8Text(head, isCut);
  if (isCut) return undefined;
  try {
    return valueText(decoded(head, view));
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

function decoded(bytes: Uint8Array, view: BinaryView): DecodedValue {
  switch (view) {
    case "messagepack":
      return decodeMessagePack(bytes);
    case "cbor":
      return decodeCbor(bytes);
    case "protobuf":
      return protobufValue(decodeProtobuf(bytes));
    default:
      return view satisfies never;
  }
}

/** One line for the table: text as far as it is any, otherwise bytes. */
export function previewLine(message: Start, view: PayloadView): string {
  if (message.bytes === 0) return "";
  const text = view === "hex" ? undefined : (startText(message, view) ?? (isBinaryView(view) ? startText(message, "text") : undefined));
  if (text !== undefined) return text.replace(/\s+/g, " ").trim();
  const head = fromBase64(message.start).subarray(0, hexBytes);
  return `${toHex(head)}${message.bytes > head.length ? " …" : ""}`;
}

import type { MqttMessageSummary } from "../../../contract/traffic/mqtt.ts";
import { shownText } from "../ui/texts/shown-text.ts";
import { detectFormat, type FormatChoice } from "./content-format.ts";
import { decodeText, fromBase64, toHex } from "./decode/bytes.ts";
import { decodeCbor } from "./decode/decode-cbor.ts";
import { decodeMessagePack } from "./decode/decode-message-pack.ts";
import { decodeProtobuf } from "./decode/decode-protobuf.ts";
import { type DecodedValue, DecodeError, valueText } from "./decode/decoded-value.ts";
import { protobufValue } from "./layout/protobuf-layout.ts";

/** The start of a payload, base64, and its length. */
type Start = Pick<MqttMessageSummary, "start" | "bytes">;

const hexBytes = 32;

/** In a narrow column only the reading of a JSON object is shown: 20.78. */
export function previewOf(preview: string): string {
  const value = /^\{\s*"(v|val|value)"\s*:\s*(-?[\d.]+(?:[eE][+-]?\d+)?|"[^"]{0,20}")\s*[,}]/.exec(preview);
  return shownText(value?.[2] ?? preview);
}

type BinaryFormat = "messagepack" | "cbor" | "protobuf";
const isBinary = (format: FormatChoice): format is BinaryFormat => format === "messagepack" || format === "cbor" || format === "protobuf";

/** The start of a payload as text; undefined if it is not text or cannot be decoded in this format. */
export function startText({ start, bytes }: Start, choice: FormatChoice): string | undefined {
  const head = fromBase64(start);
  const isCut = head.length < bytes;
  const format = choice === "auto" ? detectFormat(head, { contentType: "", isCut }) : choice;
  if (!isBinary(format)) return decodeText(head, isCut);
  if (isCut) return undefined;
  try {
    return valueText(decoded(head, format));
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

function decoded(bytes: Uint8Array, format: BinaryFormat): DecodedValue {
  switch (format) {
    case "messagepack":
      return decodeMessagePack(bytes);
    case "cbor":
      return decodeCbor(bytes);
    case "protobuf":
      return protobufValue(decodeProtobuf(bytes));
    default:
      return format satisfies never;
  }
}

/** One line for the table: text if possible, otherwise bytes. */
export function previewLine(message: Start, format: FormatChoice): string {
  if (message.bytes === 0) return "";
  const text = format === "hex" ? undefined : (startText(message, format) ?? (isBinary(format) ? startText(message, "text") : undefined));
  if (text !== undefined) return shownText(text.replace(/\s+/g, " ").trim());
  const head = fromBase64(message.start).subarray(0, hexBytes);
  return `${toHex(head)}${message.bytes > head.length ? " …" : ""}`;
}

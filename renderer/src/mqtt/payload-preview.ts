import type { MqttMessageSummary } from "../../../contract/mqtt-message.ts";
import { formatBytes } from "../format/quantity.ts";
import { fromBase64, toHex } from "./base64.ts";
import { decodeCbor } from "./decode-cbor.ts";
import { decodeMessagePack } from "./decode-message-pack.ts";
import { DecodeError } from "./decoded-value.ts";
import { type PayloadView, utf8Text } from "./payload-lines.ts";
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
  if (view === "messagepack" || view === "cbor") {
    if (isCut) return undefined;
    try {
      return valueText(view === "cbor" ? decodeCbor(head) : decodeMessagePack(head));
    } catch (error) {
      if (error instanceof DecodeError) return undefined;
      throw error;
    }
  }
  return utf8Text(head, isCut);
}

/** One line for the table. */
export function previewLine(message: Start, view: PayloadView): string {
  if (message.bytes === 0) return "";
  if (view === "hex") {
    const head = fromBase64(message.start).subarray(0, hexBytes);
    return `${toHex(head)}${message.bytes > head.length ? " …" : ""}`;
  }
  const text = startText(message, view) ?? (view === "messagepack" || view === "cbor" ? startText(message, "text") : undefined);
  return text === undefined ? `<${formatBytes(message.bytes)}>` : text.replace(/\s+/g, " ").trim();
}

import { type ContentFacts, type ContentFormat, charsetOf, detectFormat, type FormatChoice, formatTitles } from "../content-format.ts";
import { decodeText } from "../decode/bytes.ts";
import { decodeCbor } from "../decode/decode-cbor.ts";
import { decodeMessagePack } from "../decode/decode-message-pack.ts";
import { decodeProtobuf } from "../decode/decode-protobuf.ts";
import { DecodeError, valueText } from "../decode/decoded-value.ts";
import { multipartParts } from "../decode/multipart.ts";
import { layOutHex } from "./hex-lines.ts";
import { layOutJson } from "./json-layout.ts";
import { isJsonScalar, looksLikeJson } from "./json-tokens.ts";
import { type LaidOutText, layOutPlain, layoutBounds } from "./laid-out-text.ts";
import { compareTexts } from "./line-diff.ts";
import { layOutMarkup } from "./markup-layout.ts";
import { layOutForm, layOutParts } from "./parts-layout.ts";
import { layOutProtobuf } from "./protobuf-layout.ts";

/** Content and the requested format; can be posted to a worker. */
export interface LayoutRequest extends ContentFacts {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly format: FormatChoice;
  /** As it was sent: text with its own lines, anything else as hex. */
  readonly raw?: boolean;
  /** JSON with one member per line, also in short containers. */
  readonly expanded?: boolean;
  readonly bytesInLine?: number;
  /** Older content for a comparison: changes are marked. */
  readonly before?: Pick<LayoutRequest, "bytes" | "isCut" | "contentType">;
}

export interface ContentLayout extends LaidOutText {
  /** The format that is shown: Auto's choice, or the fallback if the content does not fit the requested format. */
  readonly format: ContentFormat;
  /** Why it is not shown in the requested format. */
  readonly problem?: string;
}

/** Bounded in time and size by `layoutBounds`, whatever the bytes are. */
export function layOutContent(request: LayoutRequest): ContentLayout {
  const { before, ...now } = request;
  const shown = layOutOne(now);
  if (before === undefined) return shown;
  // Both in the same format; otherwise every line would differ.
  const old = layOutOne({ ...now, ...before, format: shown.format });
  // Images have no place among the lines of both.
  const { images: _, ...text } = shown;
  return { ...text, ...compareTexts(old, shown) };
}

function layOutOne(request: Omit<LayoutRequest, "before">): ContentLayout {
  const format = request.format === "auto" ? detectFormat(request.bytes, request) : request.format;
  const { bytes, isCut, contentType, raw = false } = request;
  if (raw) return { ...plainOrHex(request), format };
  switch (format) {
    case "image":
    case "hex":
      return { ...layOutHex(bytes, request.bytesInLine), format };
    case "text":
      return plainOrHex(request);
    case "cbor":
    case "messagepack":
    case "protobuf":
      return layOutBinary(request, format);
    case "multipart": {
      const parts = multipartParts(bytes, contentType);
      return parts.length > 0
        ? { ...layOutParts(parts, request.bytesInLine), format }
        : { ...plainOrHex(request), problem: "not multipart" };
    }
    case "json":
    case "xml":
    case "html":
    case "form":
      return layOutText(request, format);
    default:
      return format satisfies never;
  }

  function layOutText(asked: Omit<LayoutRequest, "before">, wanted: "json" | "xml" | "html" | "form"): ContentLayout {
    const text = decodeText(
      bytes.subarray(0, layoutBounds.characters),
      isCut || bytes.length > layoutBounds.characters,
      charsetOf(contentType),
    );
    if (text === undefined) return { ...plainOrHex(asked), problem: "not text, shown as bytes" };
    switch (wanted) {
      case "json":
        if (!looksLikeJson(text) && !isJsonScalar(text)) return { ...plainOrHex(asked), problem: "not JSON" };
        return { ...layOutJson(text, { expanded: asked.expanded ?? false }), format: wanted };
      case "xml":
      case "html":
        return { ...layOutMarkup(text, wanted), format: wanted };
      case "form":
        return { ...layOutForm(new URLSearchParams(text.trimEnd())), format: wanted };
      default:
        return wanted satisfies never;
    }
  }
}

function layOutBinary(
  { bytes, isCut, bytesInLine, expanded = false }: Omit<LayoutRequest, "before">,
  format: "cbor" | "messagepack" | "protobuf",
): ContentLayout {
  const title = formatTitles[format];
  const asHex = (problem: string): ContentLayout => ({ ...layOutHex(bytes, bytesInLine), format: "hex", problem });
  if (isCut) return asHex(`only the start was recorded, not a whole ${title} value`);
  try {
    if (format === "protobuf") return { ...layOutProtobuf(decodeProtobuf(bytes)), format };
    const value = format === "cbor" ? decodeCbor(bytes) : decodeMessagePack(bytes);
    return { ...layOutJson(valueText(value), { expanded }), format };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return asHex(`not ${title}: it ${error.message}`);
  }
}

function plainOrHex({ bytes, isCut, contentType, bytesInLine }: Omit<LayoutRequest, "before">): ContentLayout {
  const start = bytes.subarray(0, layoutBounds.characters);
  const text = decodeText(start, isCut || start.length < bytes.length, charsetOf(contentType));
  if (text === undefined) return { ...layOutHex(bytes, bytesInLine), format: "hex", problem: "not text, shown as bytes" };
  const laidOut = layOutPlain(text);
  return { ...laidOut, format: "text" };
}

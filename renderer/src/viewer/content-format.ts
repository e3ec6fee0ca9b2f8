import { decodeText } from "./decode/bytes.ts";
import { decodeCbor } from "./decode/decode-cbor.ts";
import { decodeMessagePack } from "./decode/decode-message-pack.ts";
import { DecodeError } from "./decode/decoded-value.ts";
import { imageSize } from "./image-size.ts";
import { isJsonScalar, looksLikeJson } from "./layout/json-tokens.ts";

/** Formats in which bytes can be shown. */
export const contentFormats = [
  "json",
  "xml",
  "html",
  "text",
  "hex",
  "cbor",
  "messagepack",
  "protobuf",
  "form",
  "multipart",
  "image",
] as const;
export type ContentFormat = (typeof contentFormats)[number];
/** The chosen format: Auto, or a fixed one. */
export type FormatChoice = ContentFormat | "auto";

export const formatTitles: Readonly<Record<FormatChoice, string>> = {
  auto: "Auto",
  json: "JSON",
  xml: "XML",
  html: "HTML",
  text: "Text",
  hex: "Hex",
  cbor: "CBOR",
  messagepack: "MessagePack",
  protobuf: "Protobuf",
  form: "Form",
  multipart: "Multipart",
  image: "Image",
};

export interface ContentFacts {
  /** From an HTTP header or an MQTT property; empty if there is none. */
  readonly contentType: string;
  /** MQTT 5.0 §3.3.2.3.2: the sender declares it as UTF-8. */
  readonly isText?: boolean;
  /** Only the start of the content was kept. */
  readonly isCut: boolean;
}

export const mediaTypeOf = (contentType: string): string => contentType.split(";", 1)[0]?.trim().toLowerCase() ?? "";
export const charsetOf = (contentType: string): string => /charset=["']?([\w-]+)/i.exec(contentType)?.[1] ?? "utf-8";

/** Bytes examined to detect whether they are text, and which kind. */
const sampleBytes = 64 * 1_024;
/** Binary content that names no format is tried only up to this size. */
const guessedBytes = 64 * 1_024;

/** From the declared type, or without one from the bytes. */
export function detectFormat(bytes: Uint8Array, { contentType, isText = false, isCut }: ContentFacts): ContentFormat {
  if (bytes.length === 0) return "text";
  if (imageSize(bytes)) return "image";
  const mediaType = mediaTypeOf(contentType);
  const declared = formatOfMediaType(mediaType);
  if (declared === "cbor" || declared === "messagepack" || declared === "protobuf" || declared === "multipart") return declared;
  const sample = bytes.subarray(0, sampleBytes);
  const text = decodeText(sample, isCut || sample.length < bytes.length, charsetOf(contentType));
  if (text === undefined) return isText ? "hex" : binaryFormat(bytes, isCut);
  if (declared !== undefined) return declared;
  if (looksLikeJson(text)) return "json";
  const start = text.slice(0, 1_024).trimStart().toLowerCase();
  if (start.startsWith("<!doctype html") || start.startsWith("<html")) return "html";
  if (start.startsWith("<?xml")) return "xml";
  return bytes.length < 100 && isJsonScalar(text) ? "json" : "text";
}

function formatOfMediaType(mediaType: string): ContentFormat | undefined {
  if (/[/+]json$/.test(mediaType)) return "json";
  if (mediaType === "text/html" || mediaType === "application/xhtml+xml") return "html";
  if (/[/+]xml$/.test(mediaType)) return "xml";
  if (/[/+]cbor$/.test(mediaType)) return "cbor";
  if (/^application\/(x-|vnd\.)?msgpack$|\+msgpack$/.test(mediaType)) return "messagepack";
  if (/^application\/(x-|vnd\.google\.)?protobuf|\+protobuf$/.test(mediaType)) return "protobuf";
  if (mediaType === "application/x-www-form-urlencoded") return "form";
  return mediaType.startsWith("multipart/") ? "multipart" : undefined;
}

/** A map or a list that takes all of the bytes. Their first bytes differ, except for CBOR lists, which MessagePack reads as maps. */
function binaryFormat(bytes: Uint8Array, isCut: boolean): ContentFormat {
  const first = bytes[0] ?? 0;
  if (isCut || bytes.length > guessedBytes || bytes.length < 2) return "hex";
  const isMessagePack = (first >= 0x80 && first <= 0x9f) || (first >= 0xdc && first <= 0xdf);
  if (isMessagePack && isDecoded(() => decodeMessagePack(bytes))) return "messagepack";
  const isCbor = (first >= 0x80 && first <= 0xbf) || first === 0xd9;
  return isCbor && isDecoded(() => decodeCbor(bytes)) ? "cbor" : "hex";
}

function isDecoded(decode: () => unknown): boolean {
  try {
    decode();
    return true;
  } catch (error) {
    if (error instanceof DecodeError) return false;
    throw error;
  }
}

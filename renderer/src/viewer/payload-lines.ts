import { decodeCbor } from "./decode-cbor.ts";
import { decodeMessagePack } from "./decode-message-pack.ts";
import { decodeProtobuf } from "./decode-protobuf.ts";
import { DecodeError } from "./decoded-value.ts";
import { bytesInHexLine, hexLine, hexLineCount, offsetDigits } from "./hex-lines.ts";
import { jsonTokens, looksLikeJson, type Token, type TokenKind } from "./json-tokens.ts";
import { protobufLines } from "./protobuf-lines.ts";
import { textLines } from "./text-lines.ts";
import { utf8Text } from "./utf8-text.ts";
import { valueText } from "./value-text.ts";

export const payloadViews = ["text", "json", "hex", "messagepack", "cbor", "protobuf"] as const;
export type PayloadView = (typeof payloadViews)[number];

export const payloadViewTitles: Readonly<Record<PayloadView, string>> = {
  text: "Text",
  json: "JSON",
  hex: "Hex",
  messagepack: "MsgPack",
  cbor: "CBOR",
  protobuf: "Protobuf",
};

/** Views that decode bytes, and need all of them. */
export type BinaryView = "messagepack" | "cbor" | "protobuf";
const formatNames: Readonly<Record<BinaryView, string>> = { messagepack: "MessagePack", cbor: "CBOR", protobuf: "Protobuf" };
export const isBinaryView = (view: PayloadView): view is BinaryView => Object.hasOwn(formatNames, view);

export interface LinePiece {
  readonly kind: TokenKind | "plain";
  readonly text: string;
}
export type PayloadLine = readonly LinePiece[];

export interface PayloadLines {
  readonly lines: readonly PayloadLine[];
  /** Columns that must not be broken. */
  readonly isHex?: boolean;
  /** Why the bytes are not shown in the view that was asked for. */
  readonly problem?: string;
}

/** The payload line by line in a view; as what it is where it does not fit the view. */
export function payloadLines(bytes: Uint8Array, view: PayloadView, isCut: boolean, bytesInLine = bytesInHexLine): PayloadLines {
  switch (view) {
    case "text":
      return textOrHex(bytes, isCut, bytesInLine);
    case "hex":
      return { lines: hexLines(bytes, bytesInLine), isHex: true };
    case "json": {
      const text = utf8Text(bytes, isCut);
      if (text !== undefined && (looksLikeJson(text) || isJsonScalar(text))) return { lines: expandedLines(jsonTokens(text)) };
      return { ...textOrHex(bytes, isCut, bytesInLine), problem: "no JSON" };
    }
    case "messagepack":
    case "cbor":
    case "protobuf":
      return decodedLines(bytes, view, isCut, bytesInLine);
    default:
      return view satisfies never;
  }
}

function decodedLines(bytes: Uint8Array, view: BinaryView, isCut: boolean, bytesInLine: number): PayloadLines {
  const name = formatNames[view];
  const hex = { lines: hexLines(bytes, bytesInLine), isHex: true } as const;
  if (isCut) return { ...hex, problem: `only the start was recorded: no whole ${name} value` };
  try {
    if (view === "protobuf") return { lines: protobufLines(decodeProtobuf(bytes)) };
    const value = view === "cbor" ? decodeCbor(bytes) : decodeMessagePack(bytes);
    return { lines: expandedLines(jsonTokens(valueText(value))) };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return { ...hex, problem: `no ${name}: it ${error.message}` };
  }
}

function textOrHex(bytes: Uint8Array, isCut: boolean, bytesInLine: number): PayloadLines {
  const text = utf8Text(bytes, isCut);
  if (text === undefined) return { lines: hexLines(bytes, bytesInLine), isHex: true, problem: "no text, shown as bytes" };
  return { lines: textLines(text).map((line) => [{ kind: "plain", text: line.text }]) };
}

const isJsonScalar = (text: string) => /^\s*(-?\d+(\.\d+)?([eE][+-]?\d+)?|true|false|null|"([^"\\]|\\.)*")\s*$/.test(text);

function hexLines(bytes: Uint8Array, bytesInLine: number): PayloadLine[] {
  const digits = offsetDigits(bytes);
  return Array.from({ length: hexLineCount(bytes, bytesInLine) }, (_, index) => {
    const { offset, hex, text } = hexLine(bytes, index, bytesInLine);
    return [
      { kind: "punctuation", text: `${offset.slice(-digits)}  ` },
      { kind: "plain", text: `${hex}  ` },
      { kind: "string", text },
    ];
  });
}

/** One member a line, so that what changed between two messages stands alone. */
export function expandedLines(tokens: readonly Token[]): PayloadLine[] {
  const lines: LinePiece[][] = [];
  let line: LinePiece[] = [];
  let depth = 0;
  const breakLine = () => {
    if (line.length > 0) lines.push(line);
    line = depth > 0 ? [{ kind: "plain", text: "  ".repeat(depth) }] : [];
  };
  for (const [index, token] of tokens.entries()) {
    const isOpening = token.kind === "punctuation" && (token.text === "{" || token.text === "[");
    const isClosing = token.kind === "punctuation" && (token.text === "}" || token.text === "]");
    const isEmpty = isClosing && /^[{[]$/.test(tokens[index - 1]?.text ?? "") && tokens[index - 1]?.kind === "punctuation";
    if (isClosing) depth = Math.max(0, depth - 1);
    if (isClosing && !isEmpty) breakLine();
    line.push(token);
    if (isOpening) depth++;
    const next = tokens[index + 1];
    if (isOpening && next && !(next.kind === "punctuation" && /^[}\]]$/.test(next.text))) breakLine();
    else if (token.kind === "punctuation" && token.text === ",") breakLine();
    else if (token.kind === "punctuation" && token.text === ":") line.push({ kind: "punctuation", text: " " });
  }
  if (line.length > 0) lines.push(line);
  return lines;
}

export const lineText = (line: PayloadLine): string => line.map((piece) => piece.text).join("");

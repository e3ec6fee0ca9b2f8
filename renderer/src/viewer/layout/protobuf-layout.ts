import { toHex } from "../decode/bytes.ts";
import type { ProtobufField, ProtobufValue } from "../decode/decode-protobuf.ts";
import { type DecodedValue, shortest } from "../decode/decoded-value.ts";
import { type LaidOutText, type MarkKind, TextLayout } from "./laid-out-text.ts";

interface Piece {
  readonly text: string;
  readonly kind?: MarkKind;
}

/** One field per line: its number, its wire type, and its most likely meaning. */
export function layOutProtobuf(fields: readonly ProtobufField[]): LaidOutText {
  const layout = new TextLayout();
  addFields(layout, fields, 0);
  return layout.finish();
}

function addFields(layout: TextLayout, fields: readonly ProtobufField[], depth: number): void {
  for (const [index, { number, value }] of fields.entries()) {
    if (layout.isFull) return;
    if (index > 0) layout.breakLine(depth);
    layout.add(String(number), "key");
    layout.add(` ${value.wire} `, "punctuation");
    const nested = nestedFields(value);
    if (nested === undefined) for (const { kind, text } of pieces(value)) layout.add(text, kind);
    else if (nested.length === 0) layout.add("{}", "punctuation");
    else {
      layout.add("{", "punctuation");
      const from = layout.length;
      layout.breakLine(depth + 1);
      addFields(layout, nested, depth + 1);
      layout.breakLine(depth);
      layout.fold(from, layout.length);
      layout.add("}", "punctuation");
    }
  }
}

/** As a decoded value like those of other formats, for one line and for plots; a repeated field occurs several times. */
export const protobufValue = (fields: readonly ProtobufField[]): DecodedValue => ({
  kind: "map",
  entries: fields.map(({ number, value }) => [number, plainValue(value)]),
});

function plainValue(value: ProtobufValue): DecodedValue {
  switch (value.wire) {
    case "VARINT":
      return value.value > BigInt(Number.MAX_SAFE_INTEGER) ? signed(value.value) : Number(value.value);
    case "I64":
    case "I32":
      return likeliestNumber(value.bytes);
    case "GROUP":
      return protobufValue(value.fields);
    case "LEN":
      return isFields(value.content) ? protobufValue(value.content) : value.content;
    default:
      return value satisfies never;
  }
}

const isFields = (content: string | Uint8Array | readonly ProtobufField[]): content is readonly ProtobufField[] => Array.isArray(content);

function nestedFields(value: ProtobufValue): readonly ProtobufField[] | undefined {
  if (value.wire === "GROUP") return value.fields;
  return value.wire === "LEN" && isFields(value.content) ? value.content : undefined;
}

function pieces(value: ProtobufValue): Piece[] {
  switch (value.wire) {
    case "VARINT":
      return numberPieces(value.value, signed(value.value));
    case "I64":
    case "I32": {
      const whole = wholeNumber(value.bytes);
      const likeliest = likeliestNumber(value.bytes);
      return typeof likeliest === "bigint" ? numberPieces(whole, likeliest) : numberPieces(likeliest, whole);
    }
    case "LEN":
      if (typeof value.content === "string") return [{ kind: "string", text: JSON.stringify(value.content) }];
      return value.content instanceof Uint8Array ? [{ text: `h'${toHex(value.content).replaceAll(" ", "")}'` }] : [];
    case "GROUP":
      return [];
    default:
      return value satisfies never;
  }
}

/** The most likely meaning, and the others. */
function numberPieces(likeliest: number | bigint, other: number | bigint): Piece[] {
  const number: Piece = { kind: "number", text: String(likeliest) };
  return String(other) === String(likeliest) ? [number] : [number, { kind: "punctuation", text: ` or ${other}` }];
}

/** int32 and int64 encode negative values in 64 bits. */
const signed = (value: bigint): bigint => BigInt.asIntN(64, value);

function wholeNumber(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return bytes.length === 8 ? view.getBigUint64(0, true) : BigInt(view.getUint32(0, true));
}

/** Fixed widths are usually floating point; a tiny or huge value is an integer instead. */
function likeliestNumber(bytes: Uint8Array): number | bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const fraction = bytes.length === 8 ? view.getFloat64(0, true) : view.getFloat32(0, true);
  const size = Math.abs(fraction);
  if (size === 0 || (size >= 1e-9 && size < 1e15)) return bytes.length === 8 ? fraction : shortest(fraction);
  return BigInt.asIntN(bytes.length * 8, wholeNumber(bytes));
}

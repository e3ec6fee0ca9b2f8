import { FieldDescriptorProto_Type as Type } from "@bufbuild/protobuf/wkt";
import type { OptionValue } from "./option-syntax.ts";

/** The default value of a field of proto2 as a descriptor has it: text for every type. Undefined where it is of another type. */
export function defaultValueText(type: Type, value: OptionValue): string | undefined {
  switch (type) {
    case Type.STRING:
      return value.kind === "bytes" ? Buffer.from(value.bytes, "latin1").toString("utf8") : undefined;
    case Type.BYTES:
      return value.kind === "bytes" ? escaped(value.bytes) : undefined;
    case Type.BOOL:
      return value.kind === "name" && /^(?:true|false)$/.test(value.name) ? value.name : undefined;
    case Type.ENUM:
      return value.kind === "name" ? value.name : undefined;
    case Type.DOUBLE:
      return realText(value, 15, 17);
    case Type.FLOAT:
      return realText(value, 6, 9);
    case Type.GROUP:
    case Type.MESSAGE:
      return undefined;
    default:
      return value.kind === "integer" ? String(value.value) : undefined;
  }
}

/** As protoc writes it: with `few` digits, or with `many` where those are not the same number. */
function realText(value: OptionValue, few: number, many: number): string | undefined {
  if (value.kind === "integer") return digits(Number(value.value), few, many);
  if (value.kind === "name") return /^(?:inf|nan)$/.test(value.name) ? value.name : undefined;
  if (value.kind !== "float") return undefined;
  if (Number.isNaN(value.value)) return "nan";
  if (!Number.isFinite(value.value)) return value.value > 0 ? "inf" : "-inf";
  return digits(value.value, few, many);
}

function digits(value: number, few: number, many: number): string {
  const rounded = many === floatDigits ? Math.fround(value) : value;
  if (rounded === 0) return Object.is(rounded, -0) ? "-0" : "0";
  const short = Number(rounded.toPrecision(few));
  return general(rounded, (many === floatDigits ? Math.fround(short) : short) === rounded ? few : many);
}

/** Enough for each number of 32 bits. */
const floatDigits = 9;

/** "%g" of C. */
function general(value: number, precision: number): string {
  const [mantissa = "", power = ""] = value.toExponential(precision - 1).split("e");
  const exponent = Number(power);
  const shorter = (text: string) => (text.includes(".") ? text.replace(/\.?0{1,40}$/, "") : text);
  if (exponent >= -4 && exponent < precision) return shorter(value.toFixed(precision - 1 - exponent));
  return `${shorter(mantissa)}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

/** As in C: what is not printable in octal. */
const escaped = (bytes: string) =>
  bytes.replace(/[\s\S]/g, (letter) => {
    const known = { "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "'": "\\'", "\\": "\\\\" }[letter];
    if (known !== undefined) return known;
    return /[ -~]/.test(letter) ? letter : `\\${letter.charCodeAt(0).toString(8).padStart(3, "0")}`;
  });

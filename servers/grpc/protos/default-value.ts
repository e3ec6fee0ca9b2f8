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
    case Type.FLOAT:
      return realText(value);
    case Type.GROUP:
    case Type.MESSAGE:
      return undefined;
    default:
      return value.kind === "integer" ? String(value.value) : undefined;
  }
}

function realText(value: OptionValue): string | undefined {
  if (value.kind === "integer") return String(value.value);
  if (value.kind === "name") return /^(?:inf|nan)$/.test(value.name) ? value.name : undefined;
  if (value.kind !== "float") return undefined;
  if (Number.isNaN(value.value)) return "nan";
  if (!Number.isFinite(value.value)) return value.value > 0 ? "inf" : "-inf";
  return String(value.value);
}

/** As in C: what is not printable in octal. */
const escaped = (bytes: string) =>
  bytes.replace(/[\s\S]/g, (letter) => {
    const known = { "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "'": "\\'", "\\": "\\\\" }[letter];
    if (known !== undefined) return known;
    return /[ -~]/.test(letter) ? letter : `\\${letter.charCodeAt(0).toString(8).padStart(3, "0")}`;
  });

import type { Token } from "./proto-tokens.ts";
import { integerValue, type TokenReader } from "./token-reader.ts";

/** `name`, or `(package.name)` of an extension. */
export interface OptionNamePart {
  readonly name: string;
  readonly isExtension: boolean;
}

export type OptionValue =
  | { readonly kind: "name"; readonly name: string; readonly place: Token }
  | { readonly kind: "integer"; readonly value: bigint; readonly place: Token }
  | { readonly kind: "float"; readonly value: number; readonly place: Token }
  /** One character for each byte. */
  | { readonly kind: "bytes"; readonly bytes: string; readonly place: Token }
  | { readonly kind: "message"; readonly fields: readonly OptionField[]; readonly place: Token };

/** A field of a message in text format. */
export interface OptionField {
  /** `[package.name]` is an extension, `[host/package.Type]` a message in an Any. */
  readonly name: OptionNamePart;
  readonly anyType?: string;
  readonly values: readonly OptionValue[];
  readonly place: Token;
}

export interface ParsedOption {
  readonly path: readonly OptionNamePart[];
  readonly value: OptionValue;
  readonly place: Token;
}

const mostNesting = 64;

/** `name.(extension).name = value` */
export function readOption(reader: TokenReader): ParsedOption {
  const place = reader.peek();
  const path: OptionNamePart[] = [];
  do {
    if (reader.take("(")) {
      path.push({ name: reader.typeName(), isExtension: true });
      reader.expect(")");
    } else path.push({ name: reader.name(), isExtension: false });
  } while (reader.take("."));
  reader.expect("=");
  return { path, value: readValue(reader, 0), place };
}

/** `[option, option]`, if there is one. */
export function readOptionList(reader: TokenReader): ParsedOption[] {
  if (!reader.take("[")) return [];
  const options: ParsedOption[] = [];
  do options.push(readOption(reader));
  while (reader.take(","));
  reader.expect("]");
  return options;
}

function readValue(reader: TokenReader, depth: number): OptionValue {
  const place = reader.peek();
  if (depth > mostNesting) reader.fail(`values are nested more than ${mostNesting} deep`);
  if (place.text === "{" || place.text === "<") return { kind: "message", fields: readFields(reader, depth), place };
  if (place.kind === "string") return { kind: "bytes", bytes: reader.bytes(), place };
  const sign = reader.take("-") ? -1 : 1;
  if (sign === 1) reader.take("+");
  const token = reader.next();
  switch (token.kind) {
    case "integer":
      return { kind: "integer", value: integerValue(token.text) * BigInt(sign), place };
    case "float":
      return { kind: "float", value: sign * Number(token.text.replace(/[fF]$/, "")), place };
    case "name":
      if (sign === 1) return { kind: "name", name: token.text, place };
      if (/^inf(?:inity)?$/i.test(token.text)) return { kind: "float", value: Number.NEGATIVE_INFINITY, place };
      if (/^nan$/i.test(token.text)) return { kind: "float", value: Number.NaN, place };
      return reader.fail("a number is missing", place);
    default:
      return reader.fail("a value is missing", place);
  }
}

function readFields(reader: TokenReader, depth: number): OptionField[] {
  const close = reader.next().text === "{" ? "}" : ">";
  const fields: OptionField[] = [];
  while (!reader.take(close)) {
    const place = reader.peek();
    let name: OptionNamePart;
    let anyType: string | undefined;
    if (reader.take("[")) {
      name = { name: reader.fullName(), isExtension: true };
      if (reader.take("/")) anyType = reader.fullName();
      reader.expect("]");
    } else name = { name: reader.name(), isExtension: false };
    const hasColon = reader.take(":");
    const values: OptionValue[] = [];
    if (hasColon && reader.take("[")) {
      if (!reader.take("]")) {
        do values.push(readValue(reader, depth + 1));
        while (reader.take(","));
        reader.expect("]");
      }
    } else {
      if (!hasColon && !["{", "<"].includes(reader.peek().text)) reader.expect(":");
      values.push(readValue(reader, depth + 1));
    }
    fields.push({ name, ...(anyType !== undefined && { anyType }), values, place });
    if (!reader.take(",")) reader.take(";");
  }
  return fields;
}

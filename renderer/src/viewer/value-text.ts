import type { DecodedValue } from "./decoded-value.ts";

/** A decoded value as JSON: what JSON has no word for is a string that names it. */
export function valueText(value: DecodedValue): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : JSON.stringify(String(value));
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "string") return JSON.stringify(value);
  if (value instanceof Uint8Array) return JSON.stringify(bytesText(value));
  if (isList(value)) return `[${value.map(valueText).join(",")}]`;
  switch (value.kind) {
    case "map":
      return `{${value.entries.map(([key, entry]) => `${keyText(key)}:${valueText(entry)}`).join(",")}}`;
    case "tag":
      return `{${JSON.stringify(value.name)}:${valueText(value.value)}}`;
    case "word":
      return JSON.stringify(value.text);
    default:
      return value satisfies never;
  }
}

/** "h'c01f8e24'", as CBOR's diagnostic notation writes bytes. */
const bytesText = (bytes: Uint8Array): string => `h'${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}'`;

/** A key that is no string is cut: each level of keys within keys would double the quotes of the one below. */
const keyCharacters = 200;

function keyText(key: DecodedValue): string {
  if (typeof key === "string") return JSON.stringify(key);
  const text = valueText(key);
  return JSON.stringify(text.length > keyCharacters ? `${text.slice(0, keyCharacters)}…` : text);
}

const isList = (value: DecodedValue): value is readonly DecodedValue[] => Array.isArray(value);

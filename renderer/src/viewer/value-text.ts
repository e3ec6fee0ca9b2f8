import type { DecodedValue } from "./decoded-value.ts";

/** A decoded value as JSON: what JSON has no word for stands as a string that names it. */
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

const keyText = (key: DecodedValue): string => (typeof key === "string" ? JSON.stringify(key) : JSON.stringify(valueText(key)));

const isList = (value: DecodedValue): value is readonly DecodedValue[] => Array.isArray(value);

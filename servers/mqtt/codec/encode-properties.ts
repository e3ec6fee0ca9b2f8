import { ByteWriter } from "./byte-writer.ts";
import { type Properties, type PropertyRow, propertyRows } from "./properties.ts";

/** The properties without their length. */
export function encodeProperties(properties: Properties | undefined): Buffer {
  const writer = new ByteWriter();
  if (properties) {
    for (const row of propertyRows) {
      if (properties[row.name] !== undefined) writeProperty(writer, row, properties);
    }
  }
  return writer.bytes();
}

/** Encodes the properties that receivers get unaltered. */
export function encodeForwarded(properties: Properties): Buffer {
  const writer = new ByteWriter();
  for (const row of propertyRows) {
    if (row.forwarded && properties[row.name] !== undefined) writeProperty(writer, row, properties);
  }
  return writer.bytes();
}

function writeProperty(writer: ByteWriter, row: PropertyRow, properties: Properties): void {
  if (row.name === "userProperties") {
    for (const [key, value] of properties.userProperties ?? []) writer.byte(row.id).string(key).string(value);
    return;
  }
  if (row.name === "subscriptionIdentifiers") {
    for (const identifier of properties.subscriptionIdentifiers ?? []) writer.byte(row.id).variable(identifier);
    return;
  }
  const value = properties[row.name];
  writer.byte(row.id);
  switch (row.type) {
    case "bit":
    case "byte":
      writer.byte(value as number);
      break;
    case "twoBytes":
      writer.twoBytes(value as number);
      break;
    case "fourBytes":
      writer.fourBytes(value as number);
      break;
    case "variable":
      writer.variable(value as number);
      break;
    case "string":
      writer.string(value as string);
      break;
    case "binary":
      writer.binary(value as Buffer);
      break;
    case "pair":
      throw new Error("user properties are written as pairs");
    default:
      row.type satisfies never;
  }
}

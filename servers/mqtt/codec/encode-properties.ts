import { ByteWriter } from "./byte-writer.ts";
import { type Properties, type PropertyRow, type PropertyType, propertyRows } from "./properties.ts";

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

/** Encodes the properties that are forwarded to receivers unaltered. */
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
  writers[row.type](writer, value as never);
}

const writers: Readonly<Record<PropertyType, (writer: ByteWriter, value: never) => ByteWriter>> = {
  bit: (writer, value) => writer.byte(value),
  byte: (writer, value) => writer.byte(value),
  twoBytes: (writer, value) => writer.twoBytes(value),
  fourBytes: (writer, value) => writer.fourBytes(value),
  variable: (writer, value) => writer.variable(value),
  string: (writer, value) => writer.string(value),
  binary: (writer, value) => writer.binary(value),
  pair() {
    throw new Error("user properties are written as pairs");
  },
};

import type { MqttMessageSummary } from "../../../contract/mqtt-message.ts";
import { firstField, numericFields, unitOf } from "./numeric-fields.ts";
import type { PayloadView } from "./payload-lines.ts";
import { startText } from "./payload-preview.ts";

export interface PlotSeries {
  /** Numeric fields of the messages, the commonest first. */
  readonly fields: readonly string[];
  readonly field: string | undefined;
  readonly unit: string;
  /** Seconds, oldest first. */
  readonly at: readonly number[];
  readonly values: readonly number[];
  readonly least: number;
  readonly mean: number;
  readonly most: number;
}

const plottedMessages = 500;

/** The numbers of one field over the newest messages; without a wish the field that is likeliest the reading. */
export function plotSeries(messages: readonly MqttMessageSummary[], view: PayloadView, wish: string | undefined): PlotSeries {
  const counts = new Map<string, number>();
  const found: { readonly at: number; readonly fields: ReadonlyMap<string, number> }[] = [];
  let unit = "";
  for (const message of messages.slice(0, plottedMessages)) {
    const text = startText(message, view) ?? "";
    const fields = numericFields(text);
    if (fields.size === 0) continue;
    if (unit === "") unit = unitOf(text);
    found.push({ at: message.at / 1_000, fields });
    for (const name of fields.keys()) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const fields = [...counts].sort((one, other) => other[1] - one[1]).map(([name]) => name);
  const field = wish !== undefined && counts.has(wish) ? wish : firstField(fields);
  // The unit is that of the reading, not of the counter beside it.
  if (field !== firstField(fields)) unit = "";
  const points = found.flatMap(({ at, fields: of }) => {
    const value = field === undefined ? undefined : of.get(field);
    return value !== undefined && Number.isFinite(value) ? [{ at, value }] : [];
  });
  points.reverse();
  const values = points.map(({ value }) => value);
  return {
    fields,
    field,
    unit,
    at: points.map(({ at }) => at),
    values,
    least: values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY),
    mean: values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length),
    most: values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY),
  };
}

/** As many decimals as tell the values apart: "20.78", "1,013.2", "148,212". */
export function readingText(value: number, span: number): string {
  const decimals = span === 0 ? (Number.isInteger(value) ? 0 : 2) : Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(span))));
  return value.toLocaleString("en-US", {
    minimumFractionDigits: Number.isInteger(value) && span > 20 ? 0 : decimals,
    maximumFractionDigits: decimals,
  });
}

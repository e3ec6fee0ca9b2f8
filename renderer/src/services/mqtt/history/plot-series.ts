import type { MqttMessageSummary } from "../../../../../contract/traffic/mqtt.ts";
import { formatDecimals } from "../../../ui/texts/quantity.ts";
import type { FormatChoice } from "../../../viewer/content-format.ts";
import { startText } from "../../../viewer/payload-preview.ts";
import { firstField, numericFields, unitOf } from "./numeric-fields.ts";

export interface PlotSeries {
  /** Numeric fields of the messages, the commonest first. */
  readonly fields: readonly string[];
  readonly field: string | undefined;
  readonly unit: string;
  /** Seconds, oldest first. */
  readonly at: readonly number[];
  readonly values: readonly number[];
  /** Indices of the values before which there is a gap. */
  readonly gaps: readonly number[];
  readonly least: number;
  readonly mean: number;
  readonly most: number;
}

const plottedMessages = 500;

interface Reading {
  /** The unit in the decoded payload. */
  readonly start: string;
  readonly fields: ReadonlyMap<string, number>;
  readonly unit: string;
}
type Readings = Map<MqttMessageSummary["id"], Reading>;

/** Caches decoded payloads: each is decoded once, however often the series is computed. */
export function createPlotReader(): typeof plotSeries {
  let readings: Readings = new Map();
  let decodedAs: FormatChoice | undefined;
  return (messages, view, chosenField) => {
    if (view !== decodedAs) readings = new Map();
    decodedAs = view;
    const series = plotSeries(messages, view, chosenField, readings);
    if (readings.size > 2 * plottedMessages)
      readings = new Map(messages.slice(0, plottedMessages).flatMap(({ id }) => entryOf(readings, id)));
    return series;
  };
}

function entryOf(readings: Readings, id: number): [number, Reading][] {
  const reading = readings.get(id);
  return reading ? [[id, reading]] : [];
}

function readingOf(message: MqttMessageSummary, view: FormatChoice, readings: Readings): Reading {
  const known = readings.get(message.id);
  // Ids start again when the service is restarted.
  if (known && known.start === message.start) return known;
  const text = startText(message, view) ?? "";
  const fields = numericFields(text);
  const reading = { start: message.start, fields, unit: fields.size === 0 ? "" : unitOf(text) };
  readings.set(message.id, reading);
  return reading;
}

/** The values of one field over the newest messages; by default the field that is most likely the reading. */
export function plotSeries(
  messages: readonly MqttMessageSummary[],
  view: FormatChoice,
  chosenField: string | undefined,
  readings: Readings = new Map(),
): PlotSeries {
  const counts = new Map<string, number>();
  const found: { readonly at: number; readonly fields: ReadonlyMap<string, number> }[] = [];
  let unit = "";
  for (const message of messages.slice(0, plottedMessages)) {
    const { fields, unit: named } = readingOf(message, view, readings);
    if (fields.size === 0) continue;
    if (unit === "") unit = named;
    found.push({ at: message.at / 1_000, fields });
    for (const name of fields.keys()) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const fields = [...counts].sort((one, other) => other[1] - one[1]).map(([name]) => name);
  const field = chosenField !== undefined && counts.has(chosenField) ? chosenField : firstField(fields);
  // The unit applies to the reading, not to a counter beside it.
  if (field !== firstField(fields)) unit = "";
  const points = found.flatMap(({ at, fields: of }) => {
    const value = field === undefined ? undefined : of.get(field);
    return value !== undefined && Number.isFinite(value) ? [{ at, value }] : [];
  });
  points.reverse();
  const values = points.map(({ value }) => value);
  const at = points.map((point) => point.at);
  return {
    fields,
    field,
    unit,
    at,
    values,
    gaps: gapsOf(at),
    least: values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY),
    mean: values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length),
    most: values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY),
  };
}

const shortestGapSeconds = 1;
const usualTimes = 5;

/** A gap is longer than five times the 75th percentile of the intervals, so irregular series have none. */
export function gapsOf(at: readonly number[]): readonly number[] {
  const intervals = at.slice(1).map((second, index) => second - (at[index] as number));
  const usual = intervals.toSorted((one, other) => one - other)[Math.floor(0.75 * (intervals.length - 1))] ?? 0;
  const longest = Math.max(shortestGapSeconds, usualTimes * usual);
  return intervals.flatMap((interval, index) => (interval > longest ? [index + 1] : []));
}

/** Values with a gap on both sides, which are not part of a line. */
export const aloneBetween = (gaps: readonly number[], count: number): number[] =>
  [0, ...gaps].filter((index, place, starts) => (starts[place + 1] ?? count) === index + 1);

/** As many decimals as distinguish the values: "20.78", "1,013.2", "148,212". */
export function readingText(value: number, span: number): string {
  const decimals = span === 0 ? (Number.isInteger(value) ? 0 : 2) : Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(span))));
  return formatDecimals(value, Number.isInteger(value) && span > 20 ? 0 : decimals, decimals);
}

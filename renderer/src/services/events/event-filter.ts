import { z } from "zod";
import type { EventFilter, EventRange } from "../../../../contract/services/events.ts";
import { eventRanges, samplePluginVersion } from "../../../../contract/services/events.ts";
import { namedFields, unknownFields } from "../../../../contract/traffic/row-query.ts";
import { listText } from "../../ui/texts/quantity.ts";

/** The toolbar's settings; an empty text is no filter. */
export interface ShownFilter {
  readonly text: string;
  readonly device: string;
  readonly outcome: string;
  readonly language: string;
  readonly provider: string;
  readonly range: EventRange;
  readonly sample: "all" | NonNullable<EventFilter["sample"]>;
}

export const shownFilterSchema: z.ZodType<ShownFilter> = z.object({
  text: z.string(),
  device: z.string(),
  outcome: z.string(),
  language: z.string(),
  provider: z.string(),
  range: z.enum(eventRanges),
  sample: z.enum(["all", "only", "without"]).default("all"),
});

export const noFilter: ShownFilter = { text: "", device: "", outcome: "", language: "", provider: "", range: "all", sample: "all" };

export const isFiltering = (filter: ShownFilter): boolean =>
  filter.range !== "all" ||
  filter.sample !== "all" ||
  [filter.text, filter.device, filter.outcome, filter.language, filter.provider].some((part) => part.trim() !== "");

/** Of the field of `text`. */
export const textHint =
  "Several words are searched as one text, in device, outcome, language, provider, extension, plugin version and scope. Single fields have menus beside it";

/** Names what looks like a term with a field, which other lists have: here menus choose by a field. */
export function textNote(text: string): { readonly text: string; readonly title: string } | undefined {
  const names = [...namedFields(text), ...unknownFields(text)].map((name) => `“${name}:”`);
  if (names.length === 0) return undefined;
  return {
    text: `${names.join(", ")} ${names.length === 1 ? "is no field" : "are no fields"} here: use the menus`,
    title: `Searched as text. ${textHint}.`,
  };
}

const minuteMs = 60_000;
const spansMs: Readonly<Record<Exclude<EventRange, "all">, number>> = {
  "15m": 15 * minuteMs,
  "1h": 60 * minuteMs,
  "24h": 24 * 60 * minuteMs,
  "7d": 7 * 24 * 60 * minuteMs,
};

const rangeWords: Readonly<Record<EventRange, string>> = {
  "15m": "the last 15 minutes",
  "1h": "the last hour",
  "24h": "the last 24 hours",
  "7d": "the last 7 days",
  all: "all time",
};

/** The filter as the service takes it, with the range ending at `now`. */
export function filterAt(filter: ShownFilter, now: number): EventFilter {
  const text = filter.text.trim();
  return {
    ...(filter.device !== "" && { device_id: filter.device }),
    ...(filter.outcome !== "" && { outcome: filter.outcome }),
    ...(filter.language !== "" && { language: filter.language }),
    ...(filter.provider !== "" && { provider: filter.provider }),
    ...(text !== "" && { text }),
    ...(filter.sample !== "all" && { sample: filter.sample }),
    ...(filter.range !== "all" && { from: now - spansMs[filter.range] }),
  };
}

/** "with outcome rejected and language rust, of the last hour"; empty without a filter. */
export function filterWords(filter: ShownFilter): string {
  const text = filter.text.trim();
  const parts = [
    filter.device && `device ${filter.device}`,
    filter.outcome && `outcome ${filter.outcome}`,
    filter.language && `language ${filter.language}`,
    filter.provider && `provider ${filter.provider}`,
    text && `“${text}” in their text`,
    filter.sample === "only" ? `plugin version ${samplePluginVersion}` : "",
    filter.sample === "without" ? `another plugin version than ${samplePluginVersion}` : "",
  ].filter(Boolean);
  const since = filter.range === "all" ? undefined : rangeWords[filter.range];
  if (parts.length === 0) return since === undefined ? "" : `of ${since}`;
  return since === undefined ? `with ${listText(parts)}` : `with ${listText(parts)}, of ${since}`;
}

import { z } from "zod";
import type { TrafficRow } from "../../../contract/traffic/row.ts";
import { hasText, hasTone, searchNeedle, type ToneFilter, toneFilters } from "../../../contract/traffic/row-filter.ts";

export interface TrafficFilter {
  readonly text: string;
  readonly tone: ToneFilter;
}

export const trafficFilterSchema: z.ZodType<TrafficFilter> = z.object({ text: z.string(), tone: z.enum(toneFilters) });

export const noFilter: TrafficFilter = { text: "", tone: "all" };

export const isFiltering = (filter: TrafficFilter): boolean => filter.text.trim() !== "" || filter.tone !== "all";

export function trafficMatcher({ text, tone }: TrafficFilter): (row: TrafficRow) => boolean {
  const needle = searchNeedle(text);
  return (row) => hasTone(row.tone, tone) && (needle === "" || hasText(row, needle));
}

import { z } from "zod";
import { toneFilters } from "../../../contract/control.ts";
import type { TrafficRow } from "../../../contract/traffic/row.ts";

export interface TrafficFilter {
  readonly text: string;
  readonly tone: (typeof toneFilters)[number];
}

export const trafficFilterSchema: z.ZodType<TrafficFilter> = z.object({ text: z.string(), tone: z.enum(toneFilters) });

export const noFilter: TrafficFilter = { text: "", tone: "all" };

export const isFiltering = (filter: TrafficFilter): boolean => filter.text.trim() !== "" || filter.tone !== "all";

/** The same as the supervisor's filter. */
export function trafficMatcher(filter: TrafficFilter): (row: TrafficRow) => boolean {
  const needle = filter.text.trim().toLowerCase();
  return (row) => hasTone(row, filter.tone) && (needle === "" || hasText(row, needle));
}

function hasTone(row: TrafficRow, tone: TrafficFilter["tone"]): boolean {
  switch (tone) {
    case "all":
      return true;
    case "failed":
      return row.tone === "failed" || row.tone === "aborted";
    case "ok":
    case "neutral":
    case "refused":
      return row.tone === tone;
    default:
      return tone satisfies never;
  }
}

const hasText = (row: TrafficRow, needle: string) =>
  `${row.verb} ${row.target}\n${row.outcome}\n${row.client} ${row.peer}\n${row.user ?? ""} ${row.reason ?? ""}\n${row.preview}`
    .toLowerCase()
    .includes(needle);

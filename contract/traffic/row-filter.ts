/** Which rows a filter lets through: the supervisor and the dashboard's lists decide alike. */
import type { Tone, TrafficRow } from "./row.ts";

/** `all` is no filter. */
export const toneFilters = ["all", "ok", "neutral", "refused", "failed"] as const;
export type ToneFilter = (typeof toneFilters)[number];

const tonesOf: Readonly<Record<ToneFilter, readonly Tone[] | undefined>> = {
  all: undefined,
  ok: ["ok"],
  neutral: ["neutral"],
  refused: ["refused"],
  failed: ["failed", "aborted"],
};

export const hasTone = (tone: Tone, filter: ToneFilter): boolean => tonesOf[filter]?.includes(tone) ?? true;

/** As it is compared: trimmed, in lower case. */
export const searchNeedle = (text: string): string => text.trim().toLowerCase();

/** Whether the texts of a row contain a needle; adjacent fields are joined by a space. */
export const hasText = (row: Omit<TrafficRow, "service">, needle: string): boolean =>
  `${row.verb} ${row.target}\n${row.outcome}\n${row.client} ${row.peer}\n${row.user ?? ""} ${row.reason ?? ""}\n${row.preview}`
    .toLowerCase()
    .includes(needle);

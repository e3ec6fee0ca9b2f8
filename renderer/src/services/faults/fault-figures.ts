import { z } from "zod";
import { formatCount } from "../../ui/texts/quantity.ts";

/** A number as typed. */
export const figureSchema = z.union([z.number(), z.string()]);
type Figure = z.output<typeof figureSchema>;

export interface DraftProblem {
  readonly field: string;
  readonly problem: string;
}

/** NaN if it is no number. */
const numberOf = (typed: Figure): number => (typed === "" ? Number.NaN : Number(typed));

export function parsePercent(typed: Figure): { readonly percent: number } | DraftProblem {
  const percent = numberOf(typed);
  return percent >= 0.1 && percent <= 100 ? { percent } : { field: "percent", problem: "0.1 to 100 %" };
}

/** A whole number of milliseconds from 1, or a problem of the field. */
export function parseMs(typed: Figure, field: string, most: number): { readonly ms: number } | DraftProblem {
  const ms = numberOf(typed);
  return Number.isInteger(ms) && ms >= 1 && ms <= most ? { ms } : { field, problem: `1 to ${formatCount(most)} ms` };
}

/** A duration that is typed in seconds. */
export function parseDuration(forSeconds: Figure, mostSeconds: number): { readonly forMs: number } | DraftProblem {
  const forMs = Math.round(numberOf(forSeconds) * 1_000);
  return forMs >= 1 && forMs <= mostSeconds * 1_000
    ? { forMs }
    : { field: "forSeconds", problem: `0.001 to ${formatCount(mostSeconds)} s` };
}

/** The seed of a random choice; none: one is drawn. */
export function parseSeed(typed: string): { readonly seed?: string } | DraftProblem {
  const seed = typed.trim();
  if (seed.length > 100) return { field: "seed", problem: "At most 100 characters" };
  return seed === "" ? {} : { seed };
}

import { z } from "zod";
import { type DraftProblem, figureSchema, parseDuration, parseMs } from "../../faults/fault-figures.ts";

/** As typed. */
export const clientFaultSchema = z.object({ how: z.enum(["freeze", "delay"]), forSeconds: figureSchema, delayMs: figureSchema });
type ClientFaultDraft = z.output<typeof clientFaultSchema>;

export const firstClientFault: ClientFaultDraft = { how: "freeze", forSeconds: 30, delayMs: 1_000 };
export const mostFaultSeconds = 3_600;
const mostDelayMs = 60_000;

/** What `client.delay` takes, or `client.freeze` without a delay; or what is wrong with it. */
export function parseClientFault(draft: ClientFaultDraft): { readonly forMs: number; readonly delayMs?: number } | DraftProblem {
  const time = parseDuration(draft.forSeconds, mostFaultSeconds);
  if ("problem" in time || draft.how === "freeze") return time;
  const delay = parseMs(draft.delayMs, "delayMs", mostDelayMs);
  return "problem" in delay ? delay : { ...time, delayMs: delay.ms };
}

import { z } from "zod";
import { faultySignals, mostFaultDelayMs, refusalCodes } from "../../../../../contract/services/webrtc-faults.ts";
import { type DraftProblem, figureSchema, parseDuration, parseMs, parsePercent, parseSeed } from "../../faults/fault-figures.ts";
import type { AnyFault, FaultKind, FaultTarget } from "./fault-target.ts";
import { kindsOf } from "./fault-target.ts";

const allKinds = [...new Set([...kindsOf.peer, ...kindsOf.relay])];

/** As typed. */
export const faultDraftSchema = z.object({
  kind: z.enum(allKinds),
  percent: figureSchema,
  delayMs: figureSchema,
  signals: z.enum(faultySignals),
  code: z.literal(refusalCodes),
  /** Empty: until it is released. */
  forSeconds: figureSchema,
  seed: z.string(),
});
export type FaultDraft = z.output<typeof faultDraftSchema>;

export const firstFault: FaultDraft = { kind: "drop", percent: 20, delayMs: 500, signals: "all", code: 486, forSeconds: "", seed: "" };

/** Kinds whose signals are chosen at random. */
export const seededKinds: ReadonlySet<FaultKind> = new Set(["drop", "duplicate", "reorder"]);

export interface FaultToStart {
  readonly fault: AnyFault;
  readonly forMs?: number;
  readonly seed?: string;
}

export const mostFaultSeconds = 86_400;

/** The fault that is typed, or what is wrong with it. */
export function parseFaultDraft(draft: FaultDraft, target: FaultTarget["kind"]): FaultToStart | DraftProblem {
  const fault = faultOf(draft, target);
  if ("problem" in fault) return fault;
  const time: { readonly forMs?: number } | DraftProblem = draft.forSeconds === "" ? {} : parseDuration(draft.forSeconds, mostFaultSeconds);
  if ("problem" in time) return time;
  const seed = parseSeed(draft.seed);
  if ("problem" in seed) return seed;
  return { fault, ...time, ...(seededKinds.has(draft.kind) && seed) };
}

function faultOf(draft: FaultDraft, target: FaultTarget["kind"]): AnyFault | DraftProblem {
  const { kind, signals } = draft;
  switch (kind) {
    case "drop":
    case "duplicate":
    case "reorder":
    case "loss": {
      const part = parsePercent(draft.percent);
      if ("problem" in part) return part;
      return kind === "loss" ? { kind, ...part } : { kind, ...part, signals };
    }
    case "delay": {
      const delay = parseMs(draft.delayMs, "delayMs", mostFaultDelayMs);
      if ("problem" in delay) return delay;
      return target === "relay" ? { kind, delayMs: delay.ms } : { kind, delayMs: delay.ms, signals };
    }
    case "refuse":
      return { kind, code: draft.code };
    case "credentials":
    case "cut":
      return { kind };
    default:
      return kind satisfies never;
  }
}

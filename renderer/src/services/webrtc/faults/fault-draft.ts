import { z } from "zod";
import { faultySignals, mostFaultDelayMs, refusalCodes } from "../../../../../contract/services/webrtc-faults.ts";
import type { AnyFault, FaultKind, FaultTarget } from "./fault-target.ts";
import { kindsOf } from "./fault-target.ts";

const figure = z.union([z.number(), z.string()]);
const allKinds = [...new Set([...kindsOf.peer, ...kindsOf.relay])];

/** As typed. */
export const faultDraftSchema = z.object({
  kind: z.enum(allKinds),
  percent: figure,
  delayMs: figure,
  signals: z.enum(faultySignals),
  code: z.literal(refusalCodes),
  /** Empty: until it is released. */
  forSeconds: figure,
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

interface DraftProblem {
  readonly field: string;
  readonly problem: string;
}

/** The fault that is typed, or what is wrong with it. */
export function parseFaultDraft(draft: FaultDraft, target: FaultTarget["kind"]): FaultToStart | DraftProblem {
  const fault = faultOf(draft, target);
  if ("problem" in fault) return fault;
  const isTimed = draft.forSeconds !== "";
  const forMs = Math.round(numberOf(draft.forSeconds) * 1_000);
  if (isTimed && !(forMs >= 1 && forMs <= 86_400_000)) return { field: "forSeconds", problem: "0.001 to 86,400 s" };
  const seed = draft.seed.trim();
  if (seed.length > 100) return { field: "seed", problem: "At most 100 characters" };
  return { fault, ...(isTimed && { forMs }), ...(seed !== "" && seededKinds.has(draft.kind) && { seed }) };
}

const numberOf = (typed: number | string): number => (typed === "" ? Number.NaN : Number(typed));

function faultOf(draft: FaultDraft, target: FaultTarget["kind"]): AnyFault | DraftProblem {
  const { kind, signals } = draft;
  switch (kind) {
    case "drop":
    case "duplicate":
    case "reorder":
    case "loss": {
      const percent = numberOf(draft.percent);
      if (!(percent >= 0.1 && percent <= 100)) return { field: "percent", problem: "0.1 to 100 %" };
      return kind === "loss" ? { kind, percent } : { kind, percent, signals };
    }
    case "delay": {
      const delayMs = numberOf(draft.delayMs);
      if (!(Number.isInteger(delayMs) && delayMs >= 1 && delayMs <= mostFaultDelayMs))
        return { field: "delayMs", problem: "1 to 60,000 ms" };
      return target === "relay" ? { kind, delayMs } : { kind, delayMs, signals };
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

import { z } from "zod";
import {
  descriptionFlaws,
  type FaultStatus,
  faultKinds,
  faultStatuses,
  mostFaultDelayMs,
  mostJumpMs,
  type RtspFault,
  type RtspFaultKind,
} from "../../../../../contract/services/rtsp-faults.ts";

const figure = z.union([z.number(), z.string()]);

/** As typed. */
export const faultDraftSchema = z.object({
  kind: z.enum(faultKinds),
  percent: figure,
  delayMs: figure,
  jitterMs: figure,
  jumpMs: figure,
  status: z.literal(faultStatuses),
  flaw: z.enum(descriptionFlaws),
  forSeconds: figure,
  seed: z.string(),
});
export type FaultDraft = z.output<typeof faultDraftSchema>;

export const firstFault: FaultDraft = {
  kind: "loss",
  percent: 5,
  delayMs: 500,
  jitterMs: 200,
  jumpMs: 10_000,
  status: 404,
  flaw: "parameter-sets",
  forSeconds: 60,
  seed: "",
};

/** Kinds whose packets are chosen at random. */
export const randomKinds: ReadonlySet<RtspFaultKind> = new Set(["loss", "jitter", "reorder"]);

export interface FaultToStart {
  readonly fault: RtspFault;
  readonly forMs: number;
  readonly seed?: string;
}

interface DraftProblem {
  readonly field: string;
  readonly problem: string;
}

/** The fault that is typed, or what is wrong with it. */
export function parseFaultDraft(draft: FaultDraft): FaultToStart | DraftProblem {
  const fault = faultOf(draft);
  if ("problem" in fault) return fault;
  const forMs = Math.round(numberOf(draft.forSeconds) * 1_000);
  if (!(forMs >= 1 && forMs <= 3_600_000)) return { field: "forSeconds", problem: "0.001 to 3,600 s" };
  const seed = draft.seed.trim();
  if (seed.length > 100) return { field: "seed", problem: "At most 100 characters" };
  return { fault, forMs, ...(seed !== "" && randomKinds.has(draft.kind) && { seed }) };
}

const numberOf = (typed: number | string): number => (typed === "" ? Number.NaN : Number(typed));

function faultOf(draft: FaultDraft): RtspFault | DraftProblem {
  const { kind } = draft;
  switch (kind) {
    case "loss":
    case "reorder": {
      const percent = numberOf(draft.percent);
      return percent >= 0.1 && percent <= 100 ? { kind, percent } : { field: "percent", problem: "0.1 to 100 %" };
    }
    case "delay": {
      const delayMs = numberOf(draft.delayMs);
      return isWhole(delayMs, 1, mostFaultDelayMs) ? { kind, delayMs } : { field: "delayMs", problem: "1 to 60,000 ms" };
    }
    case "jitter": {
      const jitterMs = numberOf(draft.jitterMs);
      return isWhole(jitterMs, 1, mostFaultDelayMs) ? { kind, jitterMs } : { field: "jitterMs", problem: "1 to 60,000 ms" };
    }
    case "jump": {
      const jumpMs = numberOf(draft.jumpMs);
      return isWhole(jumpMs, -mostJumpMs, mostJumpMs) && jumpMs !== 0
        ? { kind, jumpMs }
        : { field: "jumpMs", problem: "−86,400,000 to 86,400,000 ms, but not 0" };
    }
    case "status":
      return { kind, status: draft.status as FaultStatus };
    case "description":
      return { kind, flaw: draft.flaw };
    case "stall":
    case "drop-key-frames":
    case "freeze":
    case "close":
      return { kind };
    default:
      return kind satisfies never;
  }
}

const isWhole = (value: number, least: number, most: number): boolean => Number.isInteger(value) && value >= least && value <= most;

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
import { formatCount } from "../../../ui/texts/quantity.ts";
import { type DraftProblem, figureSchema, parseDuration, parseMs, parsePercent, parseSeed } from "../../faults/fault-figures.ts";

/** As typed. */
export const faultDraftSchema = z.object({
  kind: z.enum(faultKinds),
  percent: figureSchema,
  delayMs: figureSchema,
  jitterMs: figureSchema,
  jumpMs: figureSchema,
  status: z.literal(faultStatuses),
  flaw: z.enum(descriptionFlaws),
  forSeconds: figureSchema,
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

export const mostFaultSeconds = 3_600;

/** The fault that is typed, or what is wrong with it. */
export function parseFaultDraft(draft: FaultDraft): FaultToStart | DraftProblem {
  const fault = faultOf(draft);
  if ("problem" in fault) return fault;
  const time = parseDuration(draft.forSeconds, mostFaultSeconds);
  if ("problem" in time) return time;
  const seed = parseSeed(draft.seed);
  if ("problem" in seed) return seed;
  return { fault, ...time, ...(randomKinds.has(draft.kind) && seed) };
}

function faultOf(draft: FaultDraft): RtspFault | DraftProblem {
  const { kind } = draft;
  switch (kind) {
    case "loss":
    case "reorder": {
      const part = parsePercent(draft.percent);
      return "problem" in part ? part : { kind, ...part };
    }
    case "delay": {
      const delay = parseMs(draft.delayMs, "delayMs", mostFaultDelayMs);
      return "problem" in delay ? delay : { kind, delayMs: delay.ms };
    }
    case "jitter": {
      const jitter = parseMs(draft.jitterMs, "jitterMs", mostFaultDelayMs);
      return "problem" in jitter ? jitter : { kind, jitterMs: jitter.ms };
    }
    case "jump": {
      const jumpMs = draft.jumpMs === "" ? Number.NaN : Number(draft.jumpMs);
      return Number.isInteger(jumpMs) && Math.abs(jumpMs) <= mostJumpMs && jumpMs !== 0
        ? { kind, jumpMs }
        : { field: "jumpMs", problem: `−${formatCount(mostJumpMs)} to ${formatCount(mostJumpMs)} ms, but not 0` };
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

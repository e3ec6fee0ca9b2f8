import { z } from "zod";
/** As typed. */
export interface ClientFaultDraft {
  readonly how: "freeze" | "delay";
  readonly forSeconds: number | string;
  readonly delayMs: number | string;
}

const figure = z.union([z.number(), z.string()]);
export const clientFaultSchema: z.ZodType<ClientFaultDraft> = z.object({
  how: z.enum(["freeze", "delay"]),
  forSeconds: figure,
  delayMs: figure,
});

export const firstClientFault: ClientFaultDraft = { how: "freeze", forSeconds: 30, delayMs: 1_000 };

export type ClientFaultField = "forSeconds" | "delayMs";

/** The field's value in milliseconds, as `client.freeze` and `client.delay` take it; undefined if it is invalid. */
export function clientFaultMs(draft: ClientFaultDraft, field: ClientFaultField): number | undefined {
  const typed = draft[field];
  const value = typed === "" ? Number.NaN : Number(typed);
  const ms = field === "forSeconds" ? Math.round(value * 1_000) : value;
  const largest = field === "forSeconds" ? 3_600_000 : 60_000;
  return Number.isInteger(ms) && ms >= 1 && ms <= largest ? ms : undefined;
}

import type { z } from "zod";
import { issueSentence } from "../config/issue-text.ts";
import { ServiceError } from "./service-error.ts";

/** Parameters of a call or an action after their schema; throws CALL_INVALID with the first problem. */
export function parseParams<Schema extends z.ZodType>(schema: Schema, params: unknown, name: string): z.output<Schema> {
  const parsed = schema.safeParse(params);
  if (parsed.success) return parsed.data;
  throw new ServiceError("CALL_INVALID", issueSentence(parsed.error.issues[0]), "Correct the value and try again.", {
    cause: new Error(`${name}: ${parsed.error.message}`),
  });
}

/** Position of an export. Items that arrive after its first part are beyond `to`, so it ends even while more arrive. */
export interface ExportCursor {
  /** Ids beyond it. */
  readonly from: number;
  readonly to: number;
}

export const exportCursorText = ({ from, to }: ExportCursor): string => `${from}-${to}`;

/** Throws CALL_INVALID. */
export function parseExportCursor(text: string): ExportCursor {
  const [, from, to] = /^(\d{1,15})-(\d{1,15})$/.exec(text) ?? [];
  if (from === undefined || to === undefined)
    throw new ServiceError("CALL_INVALID", `"${text}" is not a position in an export`, "Start the export again.");
  return { from: Number(from), to: Number(to) };
}

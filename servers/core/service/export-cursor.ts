import { ServiceError } from "./service-error.ts";

/** Where an export goes on. What arrived after its first part is beyond `to`, so it ends however fast more arrives. */
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
    throw new ServiceError("CALL_INVALID", `"${text}" is no place in an export`, "Start the export again.");
  return { from: Number(from), to: Number(to) };
}

import { randomBytes } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { ServiceError } from "../core/service/service-error.ts";
import { pumpParts, TakerFailed } from "./export-pump.ts";

/**
 * Writes an export to a file, which gets its name when it is complete: one that is cancelled or fails leaves no file, and an older one of that
 * name as it was. Throws as `pumpParts` does, and EXPORT_UNWRITABLE in place of TakerFailed.
 */
export async function saveExport(file: string, options: Omit<Parameters<typeof pumpParts>[0], "to">): Promise<void> {
  const unfinished = unfinishedName(file);
  try {
    await pumpParts({ ...options, to: createWriteStream(unfinished, { flags: "wx", mode: 0o600, flush: true }) });
    await rename(unfinished, file).catch((cause: Error) => {
      throw new TakerFailed(cause.message, { cause });
    });
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => {});
    throw error instanceof TakerFailed ? unwritable(file, error) : error;
  }
}

export const unfinishedName = (file: string): string => `${file}.${randomBytes(4).toString("hex")}.part`;

export const unwritable = (file: string, cause: Error): ServiceError =>
  new ServiceError("EXPORT_UNWRITABLE", `${file} cannot be written: ${cause.message}`, "Choose another folder, or free some space.", {
    cause,
  });

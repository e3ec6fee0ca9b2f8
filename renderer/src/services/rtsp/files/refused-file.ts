import { z } from "zod";
import type { Failure } from "../../../../../contract/service.ts";
import { shellQuoted } from "../../../ui/copy/shells.ts";

export const refusedFileSchema = z.object({
  /** Milliseconds since the epoch at which it was dropped. */
  at: z.number(),
  name: z.string(),
  reason: z.string(),
  advice: z.string(),
  /** ffmpeg's line that makes a file that can be streamed; empty where there is none. */
  command: z.string(),
});
export type RefusedFile = z.output<typeof refusedFileSchema>;

/** In the hint of a failure: the line, with placeholders for the names. */
const placeholderLine = { begin: "ffmpeg -i FILE ", end: " new.mp4" };

/** A file that was not added, with the names of the files in ffmpeg's line. */
export function refusedFile(at: number, name: string, { message, hint }: Failure): RefusedFile {
  const [advice = "", line] = hint.split(placeholderLine.begin);
  const [options = ""] = line?.split(placeholderLine.end, 1) ?? [];
  if (options === "") return { at, name, reason: message, advice: hint, command: "" };
  return {
    ...{ at, name, reason: message },
    advice: advice.trim(),
    command: `ffmpeg -i ${fileArgument(name)} ${options} ${fileArgument(convertedName(name))}`,
  };
}

/** The rows that stay when a file was added: the file itself is no longer refused, nor is the one from which it was converted. */
export const stillRefused = (refused: readonly RefusedFile[], added: string): readonly RefusedFile[] =>
  refused.filter(({ name, command }) => name !== added && (command === "" || convertedName(name) !== added));

/** "Front door.mkv" becomes "Front door-new.mp4". */
const convertedName = (name: string): string => `${name.replace(/(.)\.[^.]*$/, "$1")}-new.mp4`;

/** A name that begins with a hyphen would be an option. */
const fileArgument = (name: string): string => shellQuoted(name.startsWith("-") ? `./${name}` : name);

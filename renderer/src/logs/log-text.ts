import type { LogLine } from "../../../contract/traffic.ts";
import { isoTime } from "../format/time.ts";

/** One line of a copied or saved log. */
export const logText = (line: LogLine): string => `${isoTime(line.at)} ${line.level.padEnd(7)} ${line.source.padEnd(7)} ${line.text}`;

export const logFile = (lines: readonly LogLine[]): string => lines.map((line) => `${logText(line)}\n`).join("");

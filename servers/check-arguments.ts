/** Entry for the launcher: says what is wrong with the arguments before it looks for a runtime to open a window with. */
import { services } from "./catalog.ts";
import { parseCommandLine } from "./command-line.ts";
import { toFailure } from "./core/service/service-error.ts";

/** The text for stderr, or undefined if the arguments are valid. */
export function problemWithArguments(argv: readonly string[]): string | undefined {
  try {
    parseCommandLine(argv, services);
    return undefined;
  } catch (error) {
    const { code, message, hint } = toFailure(error);
    return `${code}: ${message}\n${hint}`;
  }
}

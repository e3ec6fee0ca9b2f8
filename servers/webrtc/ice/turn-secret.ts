import { randomBytes } from "node:crypto";
import path from "node:path";
import { writeFileAtomically } from "../../core/files/atomic-file.ts";
import { readRegularFile } from "../../core/files/regular-file.ts";
import type { Log } from "../../core/service/log.ts";
import { errorText } from "../../core/service/service-error.ts";

const secretText = /^[0-9a-f]{64}$/;

/**
 * The secret of time-limited credentials: kept in the service's folder, so that credentials of a welcome stay valid when the service
 * is restarted. Where nothing can be kept there, it is valid for this run. One that cannot be used is replaced, with a log line.
 */
export async function keptTurnSecret(dataDir: string, log: Log): Promise<string> {
  const file = path.join(dataDir, "turn-secret");
  const kept = await readRegularFile(file).then(
    (text) => text.trim(),
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") log.warning(`The secret of TURN cannot be read: ${error.message}`);
      return undefined;
    },
  );
  if (kept !== undefined && secretText.test(kept)) return kept;
  if (kept !== undefined) log.warning(`${file} contains no secret of TURN and is replaced: credentials from before this start are refused`);
  const secret = randomBytes(32).toString("hex");
  try {
    await writeFileAtomically(file, `${secret}\n`);
  } catch (error) {
    log.warning(`The secret of TURN cannot be kept, so credentials end with this run: ${errorText(error)}`);
  }
  return secret;
}

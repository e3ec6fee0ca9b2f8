import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { writeFileAtomically } from "../../core/files/atomic-file.ts";
import type { Log } from "../../core/service/log.ts";
import { errorText } from "../../core/service/service-error.ts";

const secretText = /^[0-9a-f]{64}$/;

/**
 * The secret of time-limited credentials: kept in the service's folder, so that credentials of a welcome stay valid when the service
 * is restarted. Where nothing can be kept there, it is valid for this run.
 */
export async function keptTurnSecret(dataDir: string, log: Log): Promise<string> {
  const file = path.join(dataDir, "turn-secret");
  const kept = await readFile(file, "utf8").then(
    (text) => text.trim(),
    () => "",
  );
  if (secretText.test(kept)) return kept;
  const secret = randomBytes(32).toString("hex");
  try {
    await writeFileAtomically(file, `${secret}\n`);
  } catch (error) {
    log.warning(`The secret of TURN cannot be kept, so credentials end with this run: ${errorText(error)}`);
  }
  return secret;
}

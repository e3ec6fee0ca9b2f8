import { createHmac, randomBytes } from "node:crypto";
import path from "node:path";
import { writeFileAtomically } from "./core/files/atomic-file.ts";
import { readRegularFile } from "./core/files/regular-file.ts";

export const secretFileName = "dashboard-secret";

/**
 * The secret of this data folder, from which the links to its dashboards are made. It is kept (0600), so that a page that is open
 * while Backlot restarts reconnects by itself. If it cannot be stored, the secret is valid for this run only.
 */
export async function openDashboardSecret(dataDir: string, warn: (text: string) => void): Promise<string> {
  const file = path.join(dataDir, secretFileName);
  const kept = (await readRegularFile(file).catch(() => "")).trim();
  if (/^[\w-]{43}$/.test(kept)) return kept;
  const secret = randomBytes(32).toString("base64url");
  try {
    await writeFileAtomically(file, `${secret}\n`);
  } catch (error) {
    warn(`Cannot store the dashboard's secret, so its link changes with each start: ${(error as Error).message}`);
  }
  return secret;
}

/** The token of the link to the dashboard on that port. It is valid for this port only, so that a program on another port cannot reuse it. */
export const linkToken = (secret: string, port: number): string =>
  createHmac("sha256", secret).update(`dashboard on port ${port}`).digest("base64url");

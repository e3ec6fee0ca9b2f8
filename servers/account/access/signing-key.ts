import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { chmod, open, stat } from "node:fs/promises";
import path from "node:path";
import { readRegularFile } from "../../core/files/regular-file.ts";
import type { Log } from "../../core/service/log.ts";
import { ServiceError } from "../../core/service/service-error.ts";

const bytes = 32;

/** The secret of this installation, created at the first start and readable by its owner only. Throws STORE_DAMAGED for a file without a secret. */
export async function openSigningKey(folder: string, log: Log): Promise<KeyObject> {
  const file = path.join(folder, "signing-key");
  try {
    // "wx": of two processes that start at once, one creates it.
    const handle = await open(file, "wx", 0o600);
    try {
      await handle.writeFile(`${randomBytes(bytes).toString("base64url")}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    log.notable("Created the secret that signs this installation's tokens");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw unreachable(file, error);
  }
  try {
    const { mode } = await stat(file);
    if (process.platform !== "win32" && (mode & 0o077) !== 0) {
      await chmod(file, 0o600);
      log.warning(`${file} was readable by others; now only its owner may read it`);
    }
    const secret = Buffer.from((await readRegularFile(file)).trim(), "base64url");
    if (secret.length >= bytes) return createSecretKey(secret);
  } catch (error) {
    throw unreachable(file, error);
  }
  throw new ServiceError(
    "STORE_DAMAGED",
    `${file} contains no signing key`,
    "It was left unchanged. Remove it to create a new one; this invalidates every token.",
  );
}

const unreachable = (file: string, cause: unknown) =>
  new ServiceError("STORE_UNREACHABLE", `${file} cannot be used`, "Check that this user may read and write it.", { cause });

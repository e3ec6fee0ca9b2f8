import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { chmod, rm, stat } from "node:fs/promises";
import path from "node:path";
import { createOnce } from "../../core/files/create-once.ts";
import { readRegularFile } from "../../core/files/regular-file.ts";
import { sqliteFileError } from "../../core/files/sqlite-file.ts";
import type { Log } from "../../core/service/log.ts";
import { ServiceError } from "../../core/service/service-error.ts";

const bytes = 32;

/** The secret of this installation, created at the first start and readable by its owner only. Throws STORE_DAMAGED for a file with something else, STORE_FULL and STORE_UNREACHABLE. */
export async function openSigningKey(folder: string, log: Log): Promise<KeyObject> {
  const file = path.join(folder, "signing-key");
  try {
    // A process that ended while it wrote may have left it without content.
    if ((await stat(file).catch(() => undefined))?.size === 0) await rm(file);
    if (await createOnce(file, `${randomBytes(bytes).toString("base64url")}\n`))
      log.notable("Created the secret that signs this installation's tokens");
  } catch (error) {
    throw sqliteFileError(error, file);
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
    throw sqliteFileError(error, file);
  }
  throw new ServiceError(
    "STORE_DAMAGED",
    `${file} contains no signing key`,
    "It was left unchanged. Remove it to create a new one; this invalidates every token.",
  );
}

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { digestSecret } from "./digest.ts";
import { createEvenCheck } from "./even-check.ts";
import { HashTurns, type LoginClient } from "./login-queue.ts";
import { isPasswordHash, verifyPassword, workOfHash } from "./passwords.ts";

/** What is kept of each user's password, in place of it. */
type DigestAlgorithmOfUsers = "MD5" | "SHA-256";

export interface DigestUsers {
  readonly count: number;
  /** Of the users with a secret for Digest. */
  readonly names: readonly string[];
  /** For `digestResponse`. An unknown name gets a secret that no password matches. */
  secret(username: string, algorithm: DigestAlgorithmOfUsers): string;
  /** For Basic. False also for an unknown name. Rejects with `TooBusy`: see `HashTurns`. */
  verify(username: string, password: string, client: LoginClient): Promise<boolean>;
}

interface Secrets {
  readonly md5: string;
  readonly sha256: string;
}

const secretsText = /^\$digest\$([0-9a-f]{32})\$([0-9a-f]{64})$/;

/**
 * From lines `name:password`, or as `digestLines` wrote them for the same realm. A hash as in a mosquitto password file serves Basic only:
 * Digest needs a hash of its own kind (RFC 7616 §3.4.2).
 */
export function loadDigestUsers(lines: readonly string[], realm: string): DigestUsers {
  const users = new Map<string, Secrets>();
  const hashes = new Map<string, readonly string[]>();
  for (const line of digestLines(lines, realm)) {
    const [name, secret] = splitLine(line);
    const [, md5, sha256] = secretsText.exec(secret) ?? [];
    if (md5 !== undefined && sha256 !== undefined) users.set(name, { md5, sha256 });
    else hashes.set(name, [secret]);
  }
  const matchesHash = createEvenCheck(hashes, { kindOf: workOfHash, matches: verifyPassword });
  const turns = new HashTurns();
  const inventedKey = randomBytes(32);
  const invented = (username: string) => createHmac("sha256", inventedKey).update(username).digest("hex");
  return {
    count: new Set([...users.keys(), ...hashes.keys()]).size,
    names: [...users.keys()],
    secret(username, algorithm) {
      const known = users.get(username);
      return (algorithm === "MD5" ? known?.md5 : known?.sha256) ?? invented(username);
    },
    async verify(username, password, client) {
      const known = users.get(username)?.sha256 ?? invented(username);
      const isRight = timingSafeEqual(Buffer.from(known), Buffer.from(digestSecret("SHA-256", username, realm, password)));
      // Also for a name without a hash: a refusal takes the same time for all.
      if ((isRight && !hashes.has(username)) || hashes.size === 0) return isRight && !hashes.has(username);
      return await turns.run(client, username, () => matchesHash(username, password));
    },
  };
}

/** Replaces each password by what Digest needs of it. Lines that hold a hash are unchanged. */
export const digestLines = (lines: readonly string[], realm: string): string[] =>
  lines.map((line) => {
    const [name, secret] = splitLine(line);
    if (isPasswordHash(secret) || secretsText.test(secret)) return line;
    return `${name}:$digest$${digestSecret("MD5", name, realm, secret)}$${digestSecret("SHA-256", name, realm, secret)}`;
  });

function splitLine(line: string): [name: string, secret: string] {
  const text = line.trim();
  const colon = text.indexOf(":");
  return [text.slice(0, colon), text.slice(colon + 1)];
}

import { hashPassword, isPasswordHash, verifyPassword } from "./password-hash.ts";
import { createScramVerifier, parseScram, type ScramVerifier, verifyByScram } from "./scram.ts";

interface User {
  readonly hashes: string[];
  scram: ScramVerifier | undefined;
}

export interface Users {
  readonly count: number;
  /** False too for a name that is not known. */
  verify(username: string, password: Buffer): Promise<boolean>;
  scram(username: string): ScramVerifier | undefined;
}

/**
 * From lines `name:hash` as in a mosquitto password file; a name may stand twice, with a hash for passwords and one for SCRAM.
 * What is no known hash is taken as the password itself, and hashed here.
 */
export async function loadUsers(lines: readonly string[]): Promise<Users> {
  const users = new Map<string, User>();
  for (const line of lines) {
    const text = line.trim();
    const colon = text.indexOf(":");
    if (colon < 1 || text.startsWith("#")) continue;
    const name = text.slice(0, colon);
    const secret = text.slice(colon + 1);
    const user: User = users.get(name) ?? { hashes: [], scram: undefined };
    users.set(name, user);
    const scram = parseScram(secret);
    if (scram) user.scram = scram;
    else if (isPasswordHash(secret)) user.hashes.push(secret);
    else {
      user.hashes.push(await hashPassword(secret));
      user.scram = await createScramVerifier(secret);
    }
  }
  return {
    count: users.size,
    async verify(username, password) {
      const user = users.get(username);
      for (const hash of user?.hashes ?? []) if (await verifyPassword(hash, password)) return true;
      return user?.scram !== undefined && user.hashes.length === 0 && (await verifyByScram(user.scram, password));
    },
    scram: (username) => users.get(username)?.scram,
  };
}

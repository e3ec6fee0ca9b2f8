import { randomBytes } from "node:crypto";
import { hashPassword, isPasswordHash, verifyPassword } from "./passwords.ts";
import { createScramVerifier, inventedVerifier, parseScram, type ScramVerifier, scramText, verifyByScram } from "./scram.ts";

interface User {
  readonly hashes: string[];
  scram: ScramVerifier | undefined;
}

export interface Users {
  readonly count: number;
  /** False also for an unknown name. */
  verify(username: string, password: Buffer): Promise<boolean>;
  /** An unknown name gets credentials that no password matches: the exchange fails at its end, as with a wrong password. */
  scram(username: string): ScramVerifier;
}

/**
 * From lines `name:hash` as in a mosquitto password file; a name may have two lines, one with a password hash and one for SCRAM.
 * A text that is not a known hash is treated as a password and hashed here.
 */
export async function loadUsers(lines: readonly string[]): Promise<Users> {
  const users = new Map<string, User>();
  for (const { name, secret } of userLines(await hashedLines(lines))) {
    const user: User = users.get(name) ?? { hashes: [], scram: undefined };
    users.set(name, user);
    const scram = parseScram(secret);
    if (scram) user.scram = scram;
    else user.hashes.push(secret);
  }
  // An unknown name costs the same work as a known one: timing must not reveal which names exist.
  const [unknownUser] = users.values();
  const inventedSaltKey = randomBytes(32);
  return {
    count: users.size,
    async verify(username, password) {
      const user = users.get(username);
      const isRight = await matchesUser(user ?? unknownUser, password);
      return user !== undefined && isRight;
    },
    scram: (username) => users.get(username)?.scram ?? inventedVerifier(username, inventedSaltKey),
  };
}

async function matchesUser(user: User | undefined, password: Buffer): Promise<boolean> {
  if (!user) return false;
  for (const hash of user.hashes) if (await verifyPassword(hash, password)) return true;
  return user.scram !== undefined && user.hashes.length === 0 && (await verifyByScram(user.scram, password));
}

/** Turns each password into two lines, a password hash and one for SCRAM. Lines that hold a hash are unchanged. */
export async function hashedLines(lines: readonly string[]): Promise<string[]> {
  const hashed: string[] = [];
  for (const { name, secret } of userLines(lines)) {
    if (isPasswordHash(secret) || parseScram(secret)) hashed.push(`${name}:${secret}`);
    else hashed.push(`${name}:${await hashPassword(secret)}`, `${name}:${scramText(await createScramVerifier(secret))}`);
  }
  return hashed;
}

function userLines(lines: readonly string[]): { readonly name: string; readonly secret: string }[] {
  return lines.flatMap((line) => {
    const text = line.trim();
    const colon = text.indexOf(":");
    return colon < 1 || text.startsWith("#") ? [] : [{ name: text.slice(0, colon), secret: text.slice(colon + 1) }];
  });
}

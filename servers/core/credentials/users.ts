import { randomBytes } from "node:crypto";
import { countText } from "../service/quantity.ts";
import { ServiceError } from "../service/service-error.ts";
import { createEvenCheck } from "./even-check.ts";
import { HashTurns, type LoginClient } from "./login-queue.ts";
import { hashPassword, isPasswordHash, verifyPassword, workOfHash } from "./passwords.ts";
import { createScramVerifier, inventedVerifier, parseScram, type ScramVerifier, scramText, verifyByScram } from "./scram.ts";

export interface Users {
  readonly count: number;
  /** False also for an unknown name. Rejects with `TooBusy`: see `HashTurns`. */
  verify(username: string, password: Buffer, client: LoginClient): Promise<boolean>;
  /** An unknown name gets credentials that no password matches: the exchange fails at its end, as with a wrong password. */
  scram(username: string): ScramVerifier;
}

/**
 * From lines `name:hash` as in a mosquitto password file; a name may have two lines, one with a password hash and one for SCRAM.
 * A text that is not a known hash is treated as a password and hashed here.
 */
export async function loadUsers(lines: readonly string[]): Promise<Users> {
  const users = new Map<string, string[]>();
  for (const { name, secret } of userLines(await hashedLines(lines))) users.set(name, [...(users.get(name) ?? []), secret]);
  const scrams = new Map([...users].map(([name, secrets]) => [name, secrets.map(parseScram).findLast((scram) => scram !== undefined)]));
  const inventedSaltKey = randomBytes(32);
  const turns = new HashTurns();
  const isRight = createEvenCheck(new Map([...users].map(([name, secrets]) => [name, secretsToVerify(secrets)])), {
    kindOf: (secret) => parseScram(secret)?.iterations.toString() ?? workOfHash(secret),
    matches: matchesSecret,
  });
  return {
    count: users.size,
    verify: (username, password, client) => turns.run(client, username, () => isRight(username, password)),
    scram: (username) => scrams.get(username) ?? inventedVerifier(username, inventedSaltKey),
  };
}

/** What is kept for SCRAM verifies a password too, if there is nothing else. */
function secretsToVerify(secrets: readonly string[]): readonly string[] {
  const hashes = secrets.filter((secret) => !parseScram(secret));
  return hashes.length > 0 ? hashes : secrets.slice(-1);
}

async function matchesSecret(secret: string, password: string | Buffer): Promise<boolean> {
  const scram = parseScram(secret);
  return scram ? verifyByScram(scram, Buffer.from(password)) : verifyPassword(secret, password);
}

/** Each takes tens of milliseconds to hash: this many take minutes. */
const mostPasswords = 10_000;

const isHashed = (secret: string): boolean => isPasswordHash(secret) || parseScram(secret) !== undefined;

/**
 * Turns each password into two lines, a password hash and one for SCRAM. Lines that hold a hash are unchanged. Throws CONFIG_INVALID, before
 * anything is hashed, where there are more passwords than can be hashed in reasonable time.
 */
export async function hashedLines(lines: readonly string[]): Promise<string[]> {
  const users = userLines(lines);
  const passwords = users.filter(({ secret }) => !isHashed(secret)).length;
  if (passwords > mostPasswords) throw tooManyPasswords(passwords);
  const hashed: string[] = [];
  for (const { name, secret } of users) {
    if (isHashed(secret)) hashed.push(`${name}:${secret}`);
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

const tooManyPasswords = (count: number) =>
  new ServiceError(
    "CONFIG_INVALID",
    `${countText(count)} users have a password that is not hashed: at most ${countText(mostPasswords)} are hashed here`,
    "Hash the passwords, as mosquitto_passwd -U does it for a whole file. If the file is another one, correct its path.",
  );

import { createHash, pbkdf2, randomBytes, type ScryptOptions, scrypt as scryptCallback, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { HashTurns, type LoginClient } from "./login-queue.ts";

const pbkdf2Async = promisify(pbkdf2);

/** For whom a hash is computed. */
export interface Login {
  readonly client: LoginClient;
  readonly account: string;
}

/** All hashes are computed in turns: see `HashTurns`, also for its error. */
export interface Passwords {
  /** "scrypt$16384$8$1$salt$hash" */
  hash(password: string, login?: Login): Promise<string>;
  /** Takes the same time with and without a stored hash. */
  verify(password: string, stored: string | undefined, login: Login): Promise<boolean>;
  /** True if the hash has another cost than new hashes get. */
  isOutdated(stored: string): boolean;
}

interface ScryptCost {
  readonly cost: number;
  readonly blockSize: number;
  readonly parallel: number;
}

type StoredHash = { readonly salt: Buffer; readonly hash: Buffer } & (
  | ({ readonly scheme: "scrypt" } & ScryptCost)
  /** mosquitto_passwd's `$7$`, PBKDF2 with SHA-512. */
  | { readonly scheme: "pbkdf2"; readonly iterations: number }
  /** mosquitto_passwd's older `$6$`, SHA-512 over password and salt. */
  | { readonly scheme: "sha512" }
);

/** OWASP's minimum for interactive use: 16 MiB and about 30 ms. */
const defaultCostExponent = 14;
const keyBytes = 32;
const longestPassword = 1_000;
/** Of a password that this computer's user sets. */
const ownLogin: Login = { client: { address: "", connection: {}, hasLeft: () => false }, account: "" };

export function createPasswords({ costExponent }: { readonly costExponent: number }): Passwords {
  const current: ScryptCost = { cost: 2 ** costExponent, blockSize: 8, parallel: 1 };
  const nobody: StoredHash = { scheme: "scrypt", ...current, salt: randomBytes(16), hash: randomBytes(keyBytes) };
  const turns = new HashTurns();

  return {
    hash: (password, { client, account } = ownLogin) => turns.run(client, account, () => scryptText(password, current)),
    async verify(password, stored, { client, account }) {
      const known = stored === undefined ? undefined : parseHash(stored);
      const isRight = await turns.run(client, account, () => matchesHash(known ?? nobody, password.slice(0, longestPassword)));
      return isRight && known !== undefined && password.length <= longestPassword;
    },
    isOutdated(stored) {
      const known = parseHash(stored);
      if (known?.scheme !== "scrypt") return true;
      return known.cost !== current.cost || known.blockSize !== current.blockSize || known.parallel !== current.parallel;
    },
  };
}

/** As a password file has it, which begins a hash with "$". */
export const hashPassword = async (password: string): Promise<string> =>
  `$${await scryptText(password, { cost: 2 ** defaultCostExponent, blockSize: 8, parallel: 1 })}`;

/** A hash that begins as in a password file; other text is a password. */
export const isPasswordHash = (text: string): boolean => /^\$(?:scrypt|7|6)\$/.test(text);

/** False also for a hash that is damaged or of an unknown scheme. */
export async function verifyPassword(stored: string, password: string | Buffer): Promise<boolean> {
  const known = parseHash(stored);
  return known !== undefined && (await matchesHash(known, password));
}

async function scryptText(password: string, parameters: ScryptCost): Promise<string> {
  const salt = randomBytes(16);
  const hash = await scrypt(password, salt, keyBytes, parameters);
  const { cost, blockSize, parallel } = parameters;
  return ["scrypt", cost, blockSize, parallel, salt.toString("base64url"), hash.toString("base64url")].join("$");
}

/** Of a hash: what its check takes, which is all but salt and hash. */
export const workOfHash = (stored: string): string => stored.split("$").slice(0, -2).join("$");

/** Parses our own hashes, with or without a leading "$", and those of mosquitto_passwd. */
function parseHash(stored: string): StoredHash | undefined {
  const [scheme, ...parts] = stored.replace(/^\$/, "").split("$");
  // Node reads base64 and base64url alike.
  const [salt, hash] = parts.slice(-2).map((text) => Buffer.from(text, "base64"));
  if (!salt || salt.length === 0 || !hash || hash.length === 0) return undefined;
  const numbers = parts.slice(0, -2).map(Number);
  if (!numbers.every((number) => Number.isSafeInteger(number) && number > 0)) return undefined;
  const [first, blockSize, parallel] = numbers;
  if (scheme === "scrypt" && first && blockSize && parallel && numbers.length === 3)
    return { scheme, cost: first, blockSize, parallel, salt, hash };
  if (scheme === "7" && first && numbers.length === 1) return { scheme: "pbkdf2", iterations: first, salt, hash };
  return scheme === "6" && numbers.length === 0 ? { scheme: "sha512", salt, hash } : undefined;
}

async function matchesHash(stored: StoredHash, password: string | Buffer): Promise<boolean> {
  return timingSafeEqual(stored.hash, await derive(stored, password));
}

function derive(stored: StoredHash, password: string | Buffer): Buffer | Promise<Buffer> {
  const { salt, hash } = stored;
  switch (stored.scheme) {
    case "scrypt":
      return scrypt(password, salt, hash.length, stored);
    case "pbkdf2":
      return pbkdf2Async(password, salt, stored.iterations, hash.length, "sha512");
    case "sha512": {
      const digest = createHash("sha512").update(password).update(salt).digest();
      return hash.length === digest.length ? digest : Buffer.alloc(hash.length);
    }
    default:
      return stored satisfies never;
  }
}

function scrypt(password: string | Buffer, salt: Buffer, bytes: number, { cost, blockSize: r, parallel: p }: ScryptCost): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options: ScryptOptions = { N: cost, r, p, maxmem: 256 * cost * r };
    scryptCallback(password, salt, bytes, options, (error, key) => (error ? reject(error) : resolve(key)));
  });
}

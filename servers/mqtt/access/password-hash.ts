import { createHash, pbkdf2, randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

const scryptAsync = promisify<Buffer | string, Buffer, number, { N: number; r: number; p: number }, Buffer>(scrypt);
const pbkdf2Async = promisify(pbkdf2);

/** OWASP's least for interactive use; 16 MiB and some 30 ms. */
const cost = { N: 16_384, r: 8, p: 1 };

/** `$scrypt$N$r$p$salt$hash`, the last two base64. */
export async function hashPassword(password: string | Buffer): Promise<string> {
  const salt = randomBytes(16);
  const hash = await scryptAsync(password, salt, 32, cost);
  return `$scrypt$${cost.N}$${cost.r}$${cost.p}$${salt.toString("base64")}$${hash.toString("base64")}`;
}

/** A stored hash that this can check: our own, mosquitto_passwd's `$7$` (PBKDF2-SHA512) and `$6$` (salted SHA-512). */
export const isPasswordHash = (text: string): boolean => /^\$(?:scrypt|7|6)\$/.test(text);

export async function verifyPassword(stored: string, password: Buffer): Promise<boolean> {
  const [, scheme, ...parts] = stored.split("$");
  switch (scheme) {
    case "scrypt": {
      const [N, r, p] = parts.slice(0, 3).map(Number);
      const [salt, hash] = parts.slice(3);
      if (!N || !r || !p || !salt || !hash) return false;
      const wanted = Buffer.from(hash, "base64");
      return equal(wanted, await scryptAsync(password, Buffer.from(salt, "base64"), wanted.length, { N, r, p }));
    }
    case "7": {
      const [iterations, salt, hash] = parts;
      if (!iterations || !salt || !hash) return false;
      const wanted = Buffer.from(hash, "base64");
      return equal(wanted, await pbkdf2Async(password, Buffer.from(salt, "base64"), Number(iterations), wanted.length, "sha512"));
    }
    case "6": {
      const [salt, hash] = parts;
      if (!salt || !hash) return false;
      const digest = createHash("sha512").update(password).update(Buffer.from(salt, "base64")).digest();
      return equal(Buffer.from(hash, "base64"), digest);
    }
    default:
      return false;
  }
}

const equal = (one: Buffer, other: Buffer): boolean => one.length === other.length && timingSafeEqual(one, other);

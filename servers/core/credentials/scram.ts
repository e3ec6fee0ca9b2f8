import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

/** One authentication exchange in progress. */
export interface ScramExchange {
  /** Processes the client's message and returns the next step. */
  step(data: Buffer): ScramStep;
}

export type ScramStep =
  | { readonly state: "continue"; readonly data: Buffer }
  | { readonly state: "done"; readonly data: Buffer; readonly username: string }
  | { readonly state: "failed" };

const pbkdf2Async = promisify(pbkdf2);
export const scramMethod = "SCRAM-SHA-256";
/** RFC 7677 §4: at least 4096. */
const iterations = 4_096;

/** What the server keeps of a password (RFC 5802 §3). */
export interface ScramVerifier {
  readonly salt: Buffer;
  readonly iterations: number;
  readonly storedKey: Buffer;
  readonly serverKey: Buffer;
}

const hmac = (key: Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();
const hash = (bytes: Buffer): Buffer => createHash("sha256").update(bytes).digest();

/**
 * RFC 4013 §2.2, but for a text that UAX #15 §13 does not call stream-safe, which is taken as it is: marks in a row are sorted by their
 * number squared, and 64 KB of them take half a second.
 */
const normalized = (password: string): string => (/\p{M}{31}/u.test(password) ? password : password.normalize("NFKC"));

export async function createScramVerifier(password: string): Promise<ScramVerifier> {
  const salt = randomBytes(16);
  const salted = await pbkdf2Async(normalized(password), salt, iterations, 32, "sha256");
  return { salt, iterations, storedKey: hash(hmac(salted, "Client Key")), serverKey: hmac(salted, "Server Key") };
}

/** Credentials for an unknown user; a name always gets the same salt, as a real user does (RFC 5802 §9). */
export function inventedVerifier(username: string, key: Buffer): ScramVerifier {
  const salt = hmac(key, username).subarray(0, 16);
  return { salt, iterations, storedKey: randomBytes(32), serverKey: randomBytes(32) };
}

/** RFC 5803: `SCRAM-SHA-256$4096:salt$StoredKey:ServerKey`, base64. */
export const scramText = ({ salt, iterations: count, storedKey, serverKey }: ScramVerifier): string =>
  `${scramMethod}$${count}:${salt.toString("base64")}$${storedKey.toString("base64")}:${serverKey.toString("base64")}`;

export function parseScram(text: string): ScramVerifier | undefined {
  const match = /^SCRAM-SHA-256\$(\d+):([^$]+)\$([^:]+):(.+)$/.exec(text);
  if (!match) return undefined;
  const [, count, salt, storedKey, serverKey] = match as unknown as [string, string, string, string, string];
  const bytes = (base64: string) => Buffer.from(base64, "base64");
  return { salt: bytes(salt), iterations: Number(count), storedKey: bytes(storedKey), serverKey: bytes(serverKey) };
}

/** Checks a plaintext password. */
export async function verifyByScram(verifier: ScramVerifier, password: Buffer): Promise<boolean> {
  const salted = await pbkdf2Async(normalized(password.toString("utf8")), verifier.salt, verifier.iterations, 32, "sha256");
  return timingSafeEqual(hash(hmac(salted, "Client Key")), verifier.storedKey);
}

/** The server's side of one exchange, RFC 5802 §5; without channel binding. */
export function createScramExchange(find: (username: string) => ScramVerifier): ScramExchange {
  let opened: { username: string; verifier: ScramVerifier; nonce: string; transcript: string } | undefined;

  function first(text: string): ScramStep {
    const match = /^[ny],(?:a=[^,]*)?,(n=([^,]*),r=([^,]+)(?:,.*)?)$/s.exec(text);
    if (!match) return { state: "failed" };
    const [, bare, escaped, clientNonce] = match as unknown as [string, string, string, string];
    // The reply repeats the nonce, and an MQTT field has room for 65,535 bytes.
    if (text.length > 8_192) return { state: "failed" };
    const username = escaped.replaceAll("=2C", ",").replaceAll("=3D", "=");
    const verifier = find(username);
    const nonce = clientNonce + randomBytes(18).toString("base64");
    const reply = `r=${nonce},s=${verifier.salt.toString("base64")},i=${verifier.iterations}`;
    opened = { username, verifier, nonce, transcript: `${bare},${reply}` };
    return { state: "continue", data: Buffer.from(reply) };
  }

  function final(text: string): ScramStep {
    const match = /^((?:c=(?:biws|eSws)),r=([^,]+)),p=(.+)$/.exec(text);
    if (!match || !opened) return { state: "failed" };
    const [, withoutProof, nonce, proof] = match as unknown as [string, string, string, string];
    const { verifier, username, transcript } = opened;
    const signed = `${transcript},${withoutProof}`;
    const signature = hmac(verifier.storedKey, signed);
    const given = Buffer.from(proof, "base64");
    if (nonce !== opened.nonce || given.length !== signature.length) return { state: "failed" };
    const clientKey = Buffer.from(given.map((byte, index) => byte ^ (signature[index] as number)));
    if (!timingSafeEqual(hash(clientKey), verifier.storedKey)) return { state: "failed" };
    return { state: "done", data: Buffer.from(`v=${hmac(verifier.serverKey, signed).toString("base64")}`), username };
  }

  return {
    step(data) {
      const text = data.toString("utf8");
      // An empty first step asks for the client's first message.
      if (!opened && text === "") return { state: "continue", data: Buffer.alloc(0) };
      return opened ? final(text) : first(text);
    },
  };
}

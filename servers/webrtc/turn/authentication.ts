import { createHash, createSecretKey, type KeyObject } from "node:crypto";
import { createDigestNonces, digestSecret } from "../../core/credentials/digest.ts";
import type { DigestUsers } from "../../core/credentials/digest-users.ts";
import type { FailureLimits } from "../../core/credentials/failure-limits.ts";
import { BoundedCache } from "../../core/limits/bounded-cache.ts";
import { hasIntegrity } from "../stun/message-integrity.ts";
import { type PasswordAlgorithm, passwordAlgorithmNumbers, stunAttributes } from "../stun/stun-attributes.ts";
import { attributeOf, type StunMessage } from "../stun/stun-message.ts";
import { type IntegrityKey, uint16List, type WrittenAttribute } from "../stun/write-stun.ts";
import { parseTimeLimitedName, timeLimitedPassword } from "./time-limited-credentials.ts";

export interface AuthenticationOptions {
  readonly realm: string;
  readonly users: DigestUsers;
  /** Of time-limited credentials; several while one replaces another. */
  readonly secrets: readonly string[];
  /** Offered to clients that know RFC 8489, best first. Others use MD5. */
  readonly passwordAlgorithms: readonly PasswordAlgorithm[];
  readonly nonceLifetimeMs: number;
  readonly failures: Pick<FailureLimits, "count" | "stateOf">;
  /** As `Date.now`. */
  readonly now: () => number;
}

export interface Authenticated {
  /** As the client wrote it, or its hash stands for. */
  readonly username: string;
  /** Without the time of time-limited credentials: whom quotas count for. */
  readonly user: string;
  /** Of the response. */
  readonly integrity: IntegrityKey;
}

export interface AuthenticationRefusal {
  readonly code: 400 | 401 | 438;
  /** For the page and the log. */
  readonly why: string;
  readonly username?: string | undefined;
  readonly attributes: readonly WrittenAttribute[];
}

/** Who opened an allocation: others at the same address, such as behind a NAT, must not end it by wrong credentials. */
export interface AllocationHolder {
  readonly username: string;
  /** In a row, while the address is refused: a datagram may come from anybody, so they are not endless. */
  wrongCredentials: number;
}

export interface Authentication {
  /** As wrong credentials are refused. */
  reject(why: string, username: string): AuthenticationRefusal;
  /** `holder` is the allocation at the client's address and port. */
  check(message: StunMessage, address: string, holder?: AllocationHolder): Authenticated | AuthenticationRefusal;
}

/** RFC 8489 §9.2: a nonce that begins so tells which features the server has, in 24 bits, the first of them on the left. */
const nonceCookie = "obMatJos2";
const featureBits = { passwordAlgorithms: 0x80, userAnonymity: 0x40 } as const;
const nonceCookieLength = nonceCookie.length + 4;

/** RFC 8489 §14.3, §14.9, §14.10 */
const longest = { username: 508, realm: 763, nonce: 763 };
const mostKeys = 10_000;
/** Of one allocation in a row. */
const mostWrongOfHolder = 20;
const tooManyWrong = "too many wrong credentials from this address";

/** The long-term credential mechanism of RFC 8489 §9.2. */
export function createAuthentication(options: AuthenticationOptions): Authentication {
  const { realm, users, secrets, passwordAlgorithms, failures, now } = options;
  const nonces = createDigestNonces(now, options.nonceLifetimeMs);
  const knowsSha256 = passwordAlgorithms.includes("SHA-256");
  const features = featureBits.userAnonymity | (knowsSha256 ? featureBits.passwordAlgorithms : 0);
  const noncePrefix = nonceCookie + Buffer.from([features, 0, 0]).toString("base64");
  const offeredAlgorithms = uint16List(passwordAlgorithms.flatMap((name) => [passwordAlgorithmNumbers[name], 0]));
  const namesByHash = new Map(users.names.map((name) => [userhash(name, realm), name]));
  const known = new Set(users.names);
  const realmValue = Buffer.from(realm);
  /** By algorithm and name. */
  const keys = new BoundedCache<string, readonly KeyObject[]>(mostKeys);

  function challenge(code: 401 | 438, why: string, username?: string): AuthenticationRefusal {
    const attributes: WrittenAttribute[] = [
      [stunAttributes.realm, realmValue],
      [stunAttributes.nonce, Buffer.from(noncePrefix + nonces.issue(Number.POSITIVE_INFINITY))],
    ];
    if (knowsSha256) attributes.push([stunAttributes.passwordAlgorithms, offeredAlgorithms]);
    return { code, why, username, attributes };
  }

  const badRequest = (why: string): AuthenticationRefusal => ({ code: 400, why, attributes: [] });

  /** One for each secret, if the name is one of time-limited credentials. */
  function keysOf(username: string, algorithm: PasswordAlgorithm): readonly KeyObject[] {
    if (known.has(username)) return keys.get(`${algorithm} ${username}`, () => [keyFrom(users.secret(username, algorithm))]);
    const limited = parseTimeLimitedName(username);
    if (!limited || limited.validUntilMs <= now()) return [];
    return keys.get(`${algorithm} ${username}`, () =>
      secrets.map((secret) => keyFrom(digestSecret(algorithm, username, realm, timeLimitedPassword(secret, username)))),
    );
  }

  /** Undefined where the message is wrong (RFC 8489 §9.2.4). */
  function algorithmOf(message: StunMessage, nonce: string): { readonly name: PasswordAlgorithm; readonly isChosen: boolean } | undefined {
    const chosen = attributeOf(message, stunAttributes.passwordAlgorithm);
    const offered = attributeOf(message, stunAttributes.passwordAlgorithms);
    if (!offersAlgorithms(nonce) || (!chosen && !offered)) return { name: "MD5", isChosen: false };
    if (!chosen || !offered?.equals(offeredAlgorithms) || chosen.length < 4) return undefined;
    const name = passwordAlgorithms.find((one) => passwordAlgorithmNumbers[one] === chosen.readUInt16BE());
    return name && { name, isChosen: true };
  }

  function usernameOf(message: StunMessage): string | undefined {
    const name = attributeOf(message, stunAttributes.username);
    if (name) return name.toString();
    const hash = attributeOf(message, stunAttributes.userhash);
    return hash && (namesByHash.get(hash.toString("hex")) ?? "");
  }

  function isRight(message: StunMessage, key: KeyObject): boolean {
    return hasIntegrity(message.integritySha256At > 0 ? "sha256" : "sha1", key, message);
  }

  return {
    reject: (why, username) => challenge(401, why, username),
    check(message, address, holder) {
      if (message.integrityAt === 0 && message.integritySha256At === 0) return challenge(401, "without credentials");
      const username = usernameOf(message);
      const givenRealm = attributeOf(message, stunAttributes.realm);
      const givenNonce = attributeOf(message, stunAttributes.nonce);
      if (username === undefined || !givenRealm || !givenNonce) return badRequest("without user name, realm or nonce");
      if (Buffer.byteLength(username) > longest.username || givenRealm.length > longest.realm || givenNonce.length > longest.nonce)
        return badRequest("user name, realm or nonce is too long");
      const nonce = givenNonce.toString("latin1");
      const algorithm = algorithmOf(message, nonce);
      if (!algorithm) return badRequest("password algorithms that were not offered");
      // Whoever sends under another's address never gets a nonce: its guesses are neither checked nor counted.
      const age = nonce.startsWith(noncePrefix) ? nonces.ageOf(nonce.slice(nonceCookieLength)) : "foreign";
      if (age === "foreign") return challenge(438, "the nonce is not of this server", username);
      const isRefused = failures.stateOf(address).remaining === 0;
      const isHolder = holder?.username === username && holder.wrongCredentials < mostWrongOfHolder;
      if (isRefused && !isHolder) return challenge(401, tooManyWrong, username);
      const key = givenRealm.equals(realmValue) ? keysOf(username, algorithm.name).find((one) => isRight(message, one)) : undefined;
      if (!key) {
        failures.count(address);
        if (isRefused && holder) holder.wrongCredentials++;
        return challenge(401, isRefused ? tooManyWrong : whyWrong(username, givenRealm), username);
      }
      if (isHolder) holder.wrongCredentials = 0;
      if (age === "stale") return challenge(438, "the nonce has expired", username);
      const user = known.has(username) ? username : parseTimeLimitedName(username)?.user || username;
      return { username, user, integrity: { hash: algorithm.isChosen ? "sha256" : "sha1", key } };
    },
  };

  function whyWrong(username: string, givenRealm: Buffer): string {
    if (!givenRealm.equals(realmValue)) return "another realm";
    const limited = known.has(username) ? undefined : parseTimeLimitedName(username);
    if (limited && limited.validUntilMs <= now()) return "the credentials have expired";
    return known.has(username) || limited ? "the password is wrong" : "the user is unknown";
  }
}

const keyFrom = (hex: string): KeyObject => createSecretKey(hex, "hex");

/** RFC 8489 §14.4 */
const userhash = (username: string, realm: string): string => createHash("sha256").update(`${username}:${realm}`).digest("hex");

function offersAlgorithms(nonce: string): boolean {
  if (!nonce.startsWith(nonceCookie)) return false;
  const features = Buffer.from(nonce.slice(nonceCookie.length, nonceCookieLength), "base64");
  return ((features[0] ?? 0) & featureBits.passwordAlgorithms) !== 0;
}

import { createHash, createHmac, createSecretKey, randomBytes } from "node:crypto";
import { percentDecoded } from "../../../contract/percent-decoded.ts";

/** RFC 7616 §3.4: the fields of an `Authorization: Digest` header. */
export interface DigestCredentials {
  readonly username: string;
  readonly usernameIsHashed: boolean;
  readonly realm: string;
  readonly uri: string;
  readonly nonce: string;
  readonly opaque: string;
  readonly response: string;
  readonly algorithm: string;
  readonly qop: string;
  readonly cnonce: string;
  readonly nc: string;
}

const parameter = /[\s,]*([!#$%&'*+.^_`|~\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*))/y;

/**
 * What follows the scheme in a challenge or in credentials, up to what is no parameter (RFC 9110 §11.2). Names in lower case. Undefined where
 * the scheme is not Digest.
 */
export function digestParameters(header: string): ReadonlyMap<string, string> | undefined {
  if (!/^digest\s/i.test(header)) return undefined;
  const values = new Map<string, string>();
  parameter.lastIndex = "digest".length;
  for (let found = parameter.exec(header); found; found = parameter.exec(header)) {
    const [, name = "", quoted, plain = ""] = found;
    values.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, "$1") ?? plain);
  }
  return values;
}

/** Undefined where the header is not of the Digest scheme. */
export function parseDigestCredentials(header: string | undefined): DigestCredentials | undefined {
  const values = digestParameters(header ?? "");
  if (!values) return undefined;
  const of = (name: string) => values.get(name) ?? "";
  return {
    username: values.has("username*") ? decodeExtended(of("username*")) : latin1AsUtf8(of("username")),
    usernameIsHashed: of("userhash").toLowerCase() === "true",
    realm: of("realm"),
    uri: of("uri"),
    nonce: of("nonce"),
    opaque: of("opaque"),
    response: of("response").toLowerCase(),
    algorithm: of("algorithm"),
    qop: of("qop").toLowerCase(),
    cnonce: of("cnonce"),
    nc: of("nc"),
  };
}

/** RFC 8187: UTF-8''J%C3%A4s%C3%B8n */
function decodeExtended(value: string): string {
  const encoded = /^utf-8'[^']*'(.*)$/i.exec(value)?.[1];
  return (encoded !== undefined && percentDecoded(encoded)) || "";
}

/** Node reads header bytes as Latin-1; the challenge asked for UTF-8. */
function latin1AsUtf8(text: string): string {
  const decoded = Buffer.from(text, "latin1").toString("utf8");
  return decoded.includes("\uFFFD") ? text : decoded;
}

export const digestAlgorithms = ["MD5", "SHA-256", "SHA-512", "SHA-512-256"] as const;
export type DigestAlgorithm = (typeof digestAlgorithms)[number];

const hashNames: Readonly<Record<DigestAlgorithm, string>> = {
  MD5: "md5",
  "SHA-256": "sha256",
  "SHA-512": "sha512",
  "SHA-512-256": "sha512-256",
};

export interface DigestInput {
  readonly algorithm: DigestAlgorithm;
  /** The "-sess" variant (§3.4.2). */
  readonly session: boolean;
  /** `digestSecret` of the right password. */
  readonly secret: string;
  readonly method: string;
  readonly body: Buffer;
}

/** §3.4.2: what a server may keep in place of a password. */
export const digestSecret = (algorithm: DigestAlgorithm, username: string, realm: string, password: string): string =>
  hashOf(algorithm, `${username}:${realm}:${password}`);

/** §3.4.1: the response that the right password gives; without a qop as in RFC 2069, which clients of RTSP still send. */
export function digestResponse({ algorithm, session, secret, method, body }: DigestInput, given: DigestCredentials): string {
  const hash = (data: string | Buffer) => hashOf(algorithm, data);
  const a1 = session ? hash(`${secret}:${given.nonce}:${given.cnonce}`) : secret;
  const a2 = given.qop === "auth-int" ? `${method}:${given.uri}:${hash(body)}` : `${method}:${given.uri}`;
  if (given.qop === "") return hash(`${a1}:${given.nonce}:${hash(a2)}`);
  return hash(`${a1}:${given.nonce}:${given.nc}:${given.cnonce}:${given.qop}:${hash(a2)}`);
}

export const hashOf = (algorithm: DigestAlgorithm, data: string | Buffer): string =>
  createHash(hashNames[algorithm]).update(data).digest("hex");

export type NonceUse = "fresh" | "stale" | "foreign";

export interface DigestNonces {
  /** `uses`: the nonce is stale after this many uses. */
  issue(uses: number): string;
  /** Counts one use. A nonce count that was seen before is a replay and counts as stale (RFC 7616 §3.3). */
  use(nonce: string, nonceCount: string): NonceUse;
  /** Its age alone, for credentials without a nonce count (RFC 2069, and STUN). */
  ageOf(nonce: string): NonceUse;
}

const standardLifetimeMs = 300_000;
/** Nonces in use. */
const remembered = 10_000;

/** The counts of one nonce that were seen: the highest, and which of those before it. */
class SeenCounts {
  uses = 0;
  #highest = 0;
  /** Bit n is for the count n before the highest. */
  #mask = 0;

  /** False for one that was seen, or is too far behind to be known: requests of parallel connections overtake each other by a few. */
  add(count: number): boolean {
    const ahead = count - this.#highest;
    if (ahead <= -32 || (ahead <= 0 && this.#mask & (1 << -ahead))) return false;
    if (ahead > 0) {
      this.#mask = ahead < 32 ? this.#mask << ahead : 0;
      this.#highest = count;
    }
    this.#mask |= ahead > 0 ? 1 : 1 << -ahead;
    this.uses++;
    return true;
  }
}

/** Whole milliseconds of a clock that nobody sets: one that goes back would make nonces of earlier that are not known any more of new ones. */
const steadyMs = (): number => Math.floor(performance.now());

/** Nonces that contain their age and number of uses, signed; only the counts seen are stored. `now` is in whole milliseconds. */
export function createDigestNonces(now = steadyMs, lifetimeMs = standardLifetimeMs): DigestNonces {
  const key = createSecretKey(randomBytes(32));
  /** In the order of their first use. */
  const seen = new Map<string, SeenCounts>();
  /** What was used of nonces issued until then is not known any more. */
  let forgottenUntil = Number.NEGATIVE_INFINITY;
  const sign = (text: string) => createHmac("sha256", key).update(text).digest("base64url").slice(0, 22);
  const issuedAt = (nonce: string) => Number.parseInt(nonce, 36);

  function ageOf(nonce: string): NonceUse {
    const [issued = "", uses = "", random = "", signature = ""] = nonce.split(".", 5);
    if (signature !== sign(`${issued}.${uses}.${random}`)) return "foreign";
    return now() - issuedAt(issued) > lifetimeMs ? "stale" : "fresh";
  }

  function remember(nonce: string): SeenCounts {
    const counts = new SeenCounts();
    seen.set(nonce, counts);
    const [oldest] = seen.keys();
    if (seen.size > remembered && oldest !== undefined) {
      seen.delete(oldest);
      forgottenUntil = Math.max(forgottenUntil, issuedAt(oldest));
    }
    return counts;
  }

  return {
    ageOf,
    issue(uses) {
      const text = `${now().toString(36)}.${Number.isFinite(uses) ? uses : ""}.${randomBytes(9).toString("base64url")}`;
      return `${text}.${sign(text)}`;
    },
    use(nonce, nonceCount) {
      const [, uses = ""] = nonce.split(".", 2);
      if (!/^[0-9a-f]{8}$/i.test(nonceCount)) return "foreign";
      const age = ageOf(nonce);
      if (age !== "fresh") return age;
      const known = seen.get(nonce);
      if (!known && issuedAt(nonce) <= forgottenUntil) return "stale";
      if (uses !== "" && (known?.uses ?? 0) >= Number(uses)) return "stale";
      return (known ?? remember(nonce)).add(Number.parseInt(nonceCount, 16)) ? "fresh" : "stale";
    },
  };
}

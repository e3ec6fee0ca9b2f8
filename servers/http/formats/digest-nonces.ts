import { createHmac, randomBytes } from "node:crypto";

export type NonceUse = "fresh" | "stale" | "foreign";

export interface DigestNonces {
  /** `uses`: after so many it is stale. */
  issue(uses: number): string;
  /** Counts one use. A nonce count that was seen already is stale, as a replay has to be (RFC 7616 §3.3). */
  use(nonce: string, nonceCount: string): NonceUse;
}

const lifetimeMs = 300_000;
const remembered = 1_000;

/** Nonces that carry their own age and number of uses under our signature; only the counts seen are kept. */
export function createDigestNonces(now: () => number = Date.now): DigestNonces {
  const key = randomBytes(32);
  const seen = new Map<string, Set<number>>();
  const sign = (text: string) => createHmac("sha256", key).update(text).digest("base64url").slice(0, 22);

  return {
    issue(uses) {
      const text = `${now().toString(36)}.${Number.isFinite(uses) ? uses : ""}.${randomBytes(9).toString("base64url")}`;
      return `${text}.${sign(text)}`;
    },
    use(nonce, nonceCount) {
      const [issued = "", uses = "", random = "", signature = ""] = nonce.split(".");
      if (signature !== sign(`${issued}.${uses}.${random}`)) return "foreign";
      if (!/^[0-9a-f]{8}$/i.test(nonceCount)) return "foreign";
      if (now() - Number.parseInt(issued, 36) > lifetimeMs) return "stale";
      const counts = seen.get(nonce) ?? new Set<number>();
      const count = Number.parseInt(nonceCount, 16);
      if (counts.has(count) || counts.size >= (uses === "" ? remembered : Number(uses))) return "stale";
      counts.add(count);
      if (!seen.has(nonce) && seen.size >= remembered) seen.delete(seen.keys().next().value ?? "");
      seen.set(nonce, counts);
      return "fresh";
    },
  };
}

import { fromBase64Url } from "../../../viewer/decode/bytes.ts";
import { wallTime } from "../wall-time.ts";

export interface ClaimLine {
  readonly name: string;
  readonly value: string;
  /** Formats a number of seconds as a time. */
  readonly note?: string;
}

export interface Claims {
  readonly header: Readonly<Record<string, unknown>>;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** RFC 7519 §4.1: claims that hold seconds since the epoch. */
const times = new Set(["exp", "iat", "nbf"]);

/** Header and claims, in their order, with readable times. */
export function claimLines({ header, payload }: Claims): readonly ClaimLine[] {
  return [
    { name: "alg", value: text(header.alg) },
    ...Object.entries(payload).map(([name, value]) => ({
      name,
      value: text(value),
      ...(times.has(name) && typeof value === "number" && { note: wallTime(value * 1_000) }),
    })),
  ];
}

const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value)) ?? "";

/** A JSON Web Token without its signature; absent for any other text. */
export function decodeToken(token: string): Claims | undefined {
  const [header, payload, signature, ...more] = token.split(".");
  if (!header || !payload || signature === undefined || more.length > 0) return undefined;
  const parts = [header, payload].map(decodePart);
  return parts[0] && parts[1] && { header: parts[0], payload: parts[1] };
}

function decodePart(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(fromBase64Url(part)));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

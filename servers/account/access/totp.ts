import { HOTP, Secret, TOTP } from "otpauth";

const stepSeconds = 30;
const digits = 6;
/** RFC 6238 §5.2: one step before and after, for clocks that differ and slow typists. */
const drift = 1;

const secretOf = (bytes: Buffer) => new Secret({ buffer: Uint8Array.from(bytes).buffer });

/** RFC 4226 §5.3 */
export const hotp = (secret: Buffer, counter: number, length = digits): string =>
  HOTP.generate({ secret: secretOf(secret), counter, digits: length });

const totpStep = (atMs: number): number => TOTP.counter({ period: stepSeconds, timestamp: atMs });

/** The last step whose code is valid at that time. */
export const newestTotpStep = (atMs: number): number => totpStep(atMs) + drift;

/** RFC 6238 §4 */
export const totp = (secret: Buffer, atMs: number, length = digits): string => hotp(secret, totpStep(atMs), length);

export const secondsLeftOfStep = (atMs: number): number => Math.ceil(TOTP.remaining({ period: stepSeconds, timestamp: atMs }) / 1_000);

const isCode = (text: string): boolean => text.length === digits && /^[0-9]+$/.test(text);

/** The step whose code it is, among those that are valid now. */
export function matchingStep(secret: Buffer, code: string, atMs: number): number | undefined {
  if (!isCode(code)) return undefined;
  const offset = TOTP.validate({ secret: secretOf(secret), token: code, digits, period: stepSeconds, timestamp: atMs, window: drift });
  return offset === null ? undefined : totpStep(atMs) + offset;
}

/** RFC 4648 §6, without padding. */
export const toBase32 = (bytes: Buffer): string => secretOf(bytes).base32;

/** Letter case, spaces and padding do not matter; undefined for a text that is not Base32. */
export function fromBase32(text: string): Buffer | undefined {
  try {
    return Buffer.from(Secret.fromBase32(text.replaceAll(" ", "").replace(/={1,6}$/, "")).bytes);
  } catch {
    return undefined;
  }
}

/** RFC 4226 §4: 160 bits. */
export const newTotpSecret = (): string => new Secret({ size: 20 }).base32;

/** The otpauth URI that authenticator apps read from a QR code. */
export function totpUri(issuer: string, email: string, secret: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}&algorithm=SHA1&digits=${digits}&period=${stepSeconds}`;
}

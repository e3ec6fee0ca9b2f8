import { createHmac, randomBytes } from "node:crypto";

const stepSeconds = 30;
const digits = 6;
/** RFC 6238 §5.2: one step before and after, for clocks that differ and slow typists. */
const drift = 1;

/** RFC 4226 §5.3 */
export function hotp(secret: Buffer, counter: number, length = digits): string {
  const message = Buffer.alloc(8);
  message.writeBigUInt64BE(BigInt(counter));
  const digest = createHmac("sha1", secret).update(message).digest();
  const offset = (digest.at(-1) as number) & 0x0f;
  const binary = digest.readUInt32BE(offset) & 0x7fff_ffff;
  return String(binary % 10 ** length).padStart(length, "0");
}

export const totpStep = (atMs: number): number => Math.floor(atMs / 1_000 / stepSeconds);

/** The last step whose code holds at that time. */
export const newestTotpStep = (atMs: number): number => totpStep(atMs) + drift;

/** RFC 6238 §4 */
export const totp = (secret: Buffer, atMs: number, length = digits): string => hotp(secret, totpStep(atMs), length);

export const secondsLeftOfStep = (atMs: number): number => stepSeconds - (Math.floor(atMs / 1_000) % stepSeconds);

/** The step whose code it is, among those that hold now. */
export function matchingStep(secret: Buffer, code: string, atMs: number): number | undefined {
  const now = totpStep(atMs);
  for (let step = Math.max(0, now - drift); step <= now + drift; step++) if (hotp(secret, step) === code) return step;
  return undefined;
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** RFC 4648 §6, without padding. */
export function toBase32(bytes: Buffer): string {
  let bits = 0;
  let value = 0;
  let text = "";
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += alphabet[(value >> (bits - 5)) & 31];
  }
  return bits > 0 ? text + alphabet[(value << (5 - bits)) & 31] : text;
}

/** Letter case, spaces and padding do not matter; undefined for what is no Base32. */
export function fromBase32(text: string): Buffer | undefined {
  const letters = text.replaceAll(" ", "").replace(/=+$/, "").toUpperCase();
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const letter of letters) {
    const index = alphabet.indexOf(letter);
    if (index === -1) return undefined;
    value = ((value << 5) | index) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((value >> bits) & 0xff);
    }
  }
  return Buffer.from(bytes);
}

/** RFC 4226 §4: 160 bits. */
export const newTotpSecret = (): string => toBase32(randomBytes(20));

/** What authenticator apps read from a QR code. */
export function totpUri(issuer: string, email: string, secret: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}&algorithm=SHA1&digits=${digits}&period=${stepSeconds}`;
}

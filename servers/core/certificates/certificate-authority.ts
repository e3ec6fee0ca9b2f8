import { createPrivateKey, randomBytes, X509Certificate } from "node:crypto";
import { link, lstat, readdir, rename, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { AuthorityView } from "../../../contract/control.ts";
import { writeFileAtomically } from "../files/atomic-file.ts";
import { createOnce, linkOrCopy } from "../files/create-once.ts";
import { readRegularFile } from "../files/regular-file.ts";
import { sqliteFileError } from "../files/sqlite-file.ts";
import type { TlsMaterial } from "../net/tls-listener.ts";
import { ServiceError } from "../service/service-error.ts";
import { makeAuthority } from "./sign-certificate.ts";

/** Signs the certificates of every service of this installation: a client trusts the authority once. */
export interface CertificateAuthority extends TlsMaterial {
  /** PEM file of the certificate alone, for clients to trust. */
  readonly file: string;
}

export function authorityView({ cert, file }: CertificateAuthority): AuthorityView {
  const { subject, fingerprint256, validTo } = new X509Certificate(cert);
  return {
    subject: subject.replaceAll("\n", ", "),
    fingerprint: fingerprint256,
    validUntil: Date.parse(validTo),
    file: path.resolve(file),
    pem: cert,
  };
}

export const renewBeforeMs = 30 * 86_400_000;

const bundleFile = (folder: string) => path.join(folder, "authority-with-private-key.pem");
/** Its name in earlier versions, which did not say that the key is in it. */
const earlierBundleFile = (folder: string) => path.join(folder, "authority.pem");
const certificateFile = (folder: string) => path.join(folder, "backlot-authority.crt");

/**
 * Reads the authority of `folder`; creates one if none is valid for another 30 days. A clock that is wrong for a time ends no trust: an authority
 * that is only to become valid stays, and one that was replaced comes back when it is the valid one. `onReplaced` gets a text for the log.
 * Throws STORE_UNREACHABLE for a file that cannot be read or written, and STORE_FULL.
 */
export async function openAuthority(
  folder: string,
  now = Date.now(),
  onReplaced: (text: string) => void = () => {},
): Promise<CertificateAuthority> {
  try {
    return await readOrMake(folder, now, onReplaced);
  } catch (error) {
    throw sqliteFileError(error, folder);
  }
}

async function readOrMake(folder: string, now: number, onReplaced: (text: string) => void): Promise<CertificateAuthority> {
  const file = bundleFile(folder);
  await renameEarlier(folder);
  let before: string | undefined;
  for (;;) {
    const kept = await readIfThere(file);
    const authority = kept === undefined ? undefined : parsePair(kept);
    const isUsable = authority !== undefined && isValid(authority, now, renewBeforeMs);
    const replaced = isUsable ? undefined : await validOfReplaced(folder, now);
    if (authority && (isUsable || (!replaced && isToCome(authority, now)))) {
      const { fingerprint256 } = new X509Certificate(authority.cert);
      if (before !== undefined) onReplaced(`${before} Clients have to trust the one in use: ${fingerprint256}.`);
      return withFile(folder, authority);
    }
    if (kept !== undefined) {
      before = whyReplaced(authority, now);
      await moveAside(file, kept);
    }
    await createOnce(file, pairText(replaced ?? (await makeAuthority(`Backlot authority of ${os.hostname()}`, now))));
  }
}

function whyReplaced(authority: TlsMaterial | undefined, now: number): string {
  if (!authority) return `The certificate authority's file was damaged: it is kept beside the new one.`;
  const { fingerprint256, validFrom, validTo } = new X509Certificate(authority.cert);
  return `The certificate authority ${fingerprint256} is valid from ${validFrom} to ${validTo}, and this computer's clock says ${new Date(now).toISOString()}: it was replaced. If the clock is wrong, set it and start Backlot again.`;
}

/** Of those that were replaced, one that is valid now: the clock was wrong, or is. */
async function validOfReplaced(folder: string, now: number): Promise<TlsMaterial | undefined> {
  const prefix = `${path.basename(bundleFile(folder))}.`;
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.startsWith(prefix) && name.endsWith(".old"));
  for (const name of names) {
    const authority = parsePair(await readRegularFile(path.join(folder, name)).catch(() => ""));
    if (authority && isValid(authority, now, renewBeforeMs)) return authority;
  }
  return undefined;
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readRegularFile(file);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") {
      const found = await lstat(file).catch(() => undefined);
      if (found === undefined) return undefined;
      // Another process has made it meanwhile. A link to nothing is no place for a new one.
      if (found.isFile()) return readIfThere(file);
    }
    const hint =
      "Let this user read it, as where another user has started Backlot in this folder; or remove it, and trust the new authority.";
    throw new ServiceError("STORE_UNREACHABLE", `${file} cannot be read`, hint, { cause });
  }
}

/** Several processes may do so at once; one that exists under the new name stays, and the earlier one beside it. */
async function renameEarlier(folder: string): Promise<void> {
  const earlier = earlierBundleFile(folder);
  await linkOrCopy(earlier, bundleFile(folder)).then(
    () => rm(earlier, { force: true }),
    () => {},
  );
}

/** Makes a self-signed certificate that clients already trust the authority of `folder`, if the folder has none yet. */
export async function adoptAuthority(folder: string, from: { readonly certificate: string; readonly key: string }): Promise<void> {
  const pair = await Promise.all([readRegularFile(from.certificate), readRegularFile(from.key)]).catch(() => undefined);
  const authority = pair && parsePair(pair.join("\n"));
  await renameEarlier(folder);
  if (!authority || !new X509Certificate(authority.cert).ca || !isValid(authority, Date.now(), renewBeforeMs)) return;
  if ((await readRegularFile(bundleFile(folder)).catch(() => undefined)) === undefined)
    await createOnce(bundleFile(folder), pairText(authority));
}

const certificatePem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/;
const keyPem = /-----BEGIN PRIVATE KEY-----[^-]+-----END PRIVATE KEY-----\n?/;

/** Reads a certificate and its key from one file, so that neither can exist without the other; undefined if the file is damaged. */
export function parsePair(text: string): TlsMaterial | undefined {
  const [cert] = certificatePem.exec(text) ?? [];
  const [key] = keyPem.exec(text) ?? [];
  try {
    return cert && key && new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)) ? { cert, key } : undefined;
  } catch {
    return undefined;
  }
}

/** RFC 7468 §2: text before the first boundary is not read. */
export const pairText = ({ cert, key }: TlsMaterial): string =>
  `With the private key: do not pass it on. Clients need backlot-authority.crt only.\n${key.trimEnd()}\n${cert.trimEnd()}\n`;

export function isValid({ cert }: TlsMaterial, now: number, aheadMs: number): boolean {
  const { validFrom, validTo } = new X509Certificate(cert);
  return Date.parse(validFrom) <= now && now + aheadMs < Date.parse(validTo);
}

const isToCome = ({ cert }: TlsMaterial, now: number): boolean => now < Date.parse(new X509Certificate(cert).validFrom);

async function withFile(folder: string, authority: TlsMaterial): Promise<CertificateAuthority> {
  const file = certificateFile(folder);
  if ((await readRegularFile(file).catch(() => "")) !== authority.cert) await writeFileAtomically(file, authority.cert);
  return { ...authority, file };
}

/** Keeps a damaged or expired authority under another name; another process may have replaced it a moment ago. */
async function moveAside(file: string, judged: string): Promise<void> {
  const aside = `${file}.${randomBytes(4).toString("hex")}.old`;
  try {
    await rename(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  if ((await readRegularFile(aside)) === judged) return;
  await link(aside, file).catch(() => {});
  await rm(aside);
}

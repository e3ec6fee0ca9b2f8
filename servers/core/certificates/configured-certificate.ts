import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { type ConfiguredFile, fileProblem, readConfiguredFile } from "../config/configured-file.ts";
import type { TlsMaterial } from "../net/tls-listener.ts";

/** A certificate and key of the user's own. Throws CONFIG_INVALID, naming the field that is wrong. */
export async function readTlsMaterial(certificate: ConfiguredFile, key: ConfiguredFile): Promise<TlsMaterial> {
  requireBeside(certificate, key, "The key is set without a certificate");
  requireBeside(key, certificate, "The certificate is set without a key");
  const material = { cert: await readConfiguredFile(certificate), key: await readConfiguredFile(key) };
  const [own] = certificatesOf(certificate, material.cert);
  if (!own?.checkPrivateKey(privateKeyOf(key, material.key))) {
    throw fileProblem(key, "is not the key of the certificate", `Name the key of ${certificate.path} in ${key.env}.`);
  }
  return material;
}

/** Certificates of authorities whose clients are accepted. Throws CONFIG_INVALID. */
export async function readAuthorities(file: ConfiguredFile): Promise<string> {
  const pem = await readConfiguredFile(file);
  certificatesOf(file, pem);
  return pem;
}

function requireBeside(file: ConfiguredFile, other: ConfiguredFile, why: string): void {
  if (file.path !== "" || other.path === "") return;
  throw fileProblem(file, "is missing", `${why}: name the file in ${file.env}, or leave ${other.env} empty.`);
}

const pemCertificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The first is the certificate itself, the others its chain. */
function certificatesOf(file: ConfiguredFile, pem: string): X509Certificate[] {
  const found = pem.match(pemCertificate) ?? [];
  if (found.length === 0)
    throw fileProblem(file, "contains no certificate", `Name a PEM file in ${file.env}: it begins with -----BEGIN CERTIFICATE-----.`);
  return found.map((text, index) => {
    try {
      return new X509Certificate(text);
    } catch (cause) {
      const which = found.length === 1 ? "" : `: number ${index + 1}`;
      throw fileProblem(file, `contains a damaged certificate${which}`, `Name a complete PEM file in ${file.env}.`, cause);
    }
  });
}

function privateKeyOf(file: ConfiguredFile, pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    const isLocked = /-----BEGIN ENCRYPTED PRIVATE KEY-----|Proc-Type: 4,ENCRYPTED/.test(pem);
    throw isLocked
      ? fileProblem(
          file,
          "is locked with a password",
          `Write the key without one, and name that file in ${file.env}: openssl pkey -in KEY -out OPEN-KEY.`,
          cause,
        )
      : fileProblem(file, "contains no private key", `Name a PEM file in ${file.env}: it begins with -----BEGIN PRIVATE KEY-----.`, cause);
  }
}

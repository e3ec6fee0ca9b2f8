import { createPrivateKey, randomBytes, webcrypto, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import type { TlsMaterial } from "../net/tls-listener.ts";

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
/** A client whose clock is a little slow must not refuse a new certificate. */
const clockToleranceMs = 3_600_000;
/** Ten years: devices are asked to trust it once. */
const authorityDays = 3_650;
/** Apple's systems refuse a certificate that is valid for more than 398 days. */
const leafDays = 397;
const dayMs = 86_400_000;

/** Loads slowly, and only when a certificate is made. */
const loadX509 = () => import("@peculiar/x509");

const makeKeys = () => webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
// RFC 5280 §4.1.2.2: positive, and at most 20 bytes.
const serialNumber = () => `4${randomBytes(16).toString("hex").slice(1)}`;

async function pemOfKey(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", key));
  return createPrivateKey({ key: der, format: "der", type: "pkcs8" }).export({ format: "pem", type: "pkcs8" }) as string;
}

export async function makeAuthority(name: string, now: number): Promise<TlsMaterial> {
  const x509 = await loadX509();
  const keys = await makeKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: [{ CN: [name] }, { O: ["Backlot"] }],
    notBefore: new Date(now - clockToleranceMs),
    notAfter: new Date(now + authorityDays * dayMs),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { cert: `${certificate.toString("pem")}\n`, key: await pemOfKey(keys.privateKey) };
}

/** A server's certificate for host names and addresses, signed by `authority`; a client may show it too, to a service that asks for one. */
export async function makeLeaf(authority: TlsMaterial, names: readonly string[], now: number): Promise<TlsMaterial> {
  const x509 = await loadX509();
  const issuer = new x509.X509Certificate(authority.cert);
  const pkcs8 = createPrivateKey(authority.key).export({ format: "der", type: "pkcs8" });
  const keys = await makeKeys();
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: [{ CN: ["Backlot"] }],
    issuer: issuer.subjectName,
    notBefore: new Date(now - clockToleranceMs),
    notAfter: new Date(Math.min(now + leafDays * dayMs - clockToleranceMs, Date.parse(new X509Certificate(authority.cert).validTo))),
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey: await webcrypto.subtle.importKey("pkcs8", pkcs8, algorithm, false, ["sign"]),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth]),
      new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: isIP(value) === 0 ? "dns" : "ip", value }))),
      // OpenSSL's strict checks, Python's default since 3.13, ask for both identifiers.
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(await issuer.publicKey.export()),
    ],
  });
  return { cert: `${certificate.toString("pem")}\n`, key: await pemOfKey(keys.privateKey) };
}

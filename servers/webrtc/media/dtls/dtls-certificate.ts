import { createHash, createPrivateKey, type KeyObject, webcrypto } from "node:crypto";

/** What an endpoint shows in DTLS; the other one compares it with the description. */
export interface DtlsCertificate {
  readonly der: Buffer;
  readonly key: KeyObject;
  /** SHA-256, as an a=fingerprint line has it: "AB:CD:…". */
  readonly fingerprint: string;
}

const days = 30;
const dayMs = 86_400_000;

/** Signed by itself, with a key of P-256 (RFC 8827 §6.5): a new one for each run. */
export async function createDtlsCertificate(): Promise<DtlsCertificate> {
  const { X509CertificateGenerator } = await import("@peculiar/x509");
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: "CN=Backlot",
    notBefore: new Date(Date.now() - dayMs),
    notAfter: new Date(Date.now() + days * dayMs),
    signingAlgorithm: algorithm,
    keys,
  });
  const der = Buffer.from(certificate.rawData);
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey));
  return {
    der,
    key: createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" }),
    fingerprint: (createHash("sha256").update(der).digest("hex").toUpperCase().match(/../g) ?? []).join(":"),
  };
}

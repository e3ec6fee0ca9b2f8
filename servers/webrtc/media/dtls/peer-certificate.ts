import { constants, createHash, type VerifyKeyObjectInput, verify, X509Certificate } from "node:crypto";
import { alerts, HandshakeError } from "./handshake-message.ts";

/** Of an a=fingerprint line. */
export interface Fingerprint {
  /** "sha-256" */
  readonly algorithm: string;
  /** "AB:CD:…" */
  readonly value: string;
}

/** The certificate that the client of the service shows. Throws a HandshakeError where its offer names another one. */
export function peerCertificate(der: Buffer | undefined, fingerprints: readonly Fingerprint[]): X509Certificate {
  if (!der) throw new HandshakeError("the client has no certificate", alerts.badCertificate);
  // An offer may have thousands of fingerprints: the certificate is hashed once for each algorithm.
  const hashes = new Map<string, string>();
  const hashBy = (name: string): string => {
    const hash = hashes.get(name) ?? createHash(name).update(der).digest("hex");
    hashes.set(name, hash);
    return hash;
  };
  const isKnown = fingerprints.some(({ algorithm, value }) => {
    const name = hashNames[algorithm.toLowerCase()];
    return name !== undefined && hashBy(name) === value.replaceAll(":", "").toLowerCase();
  });
  if (!isKnown) throw new HandshakeError("the client's certificate is not the one of its offer", alerts.badCertificate);
  return new X509Certificate(der);
}

export interface Signature {
  readonly algorithm: number;
  readonly signature: Buffer;
}

/** That the client has the key of its certificate. Throws a HandshakeError. */
export function checkSignature(certificate: X509Certificate | undefined, { algorithm, signature }: Signature, signed: Buffer): void {
  const known = signatureAlgorithms.get(algorithm);
  if (!known || !certificate) throw new HandshakeError("the client's signature cannot be verified", alerts.decryptError);
  const key: VerifyKeyObjectInput = { key: certificate.publicKey, ...known.options };
  const isRight = certificate.publicKey.asymmetricKeyType === known.keyType && verify(known.hash, signed, key, signature);
  if (!isRight) throw new HandshakeError("the client's signature is wrong", alerts.decryptError);
}

interface SignatureAlgorithm {
  readonly hash: string;
  readonly keyType: "ec" | "rsa";
  readonly options?: Pick<VerifyKeyObjectInput, "padding" | "saltLength">;
}

export const ecdsaSha256 = 0x0403;
const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };

/** By their numbers (RFC 5246 §7.4.1.4.1, RFC 8446 §4.2.3), in the order in which they are wanted. */
const signatureAlgorithms: ReadonlyMap<number, SignatureAlgorithm> = new Map([
  [ecdsaSha256, { hash: "sha256", keyType: "ec" }],
  [0x0503, { hash: "sha384", keyType: "ec" }],
  [0x0804, { hash: "sha256", keyType: "rsa", options: pss }],
  [0x0401, { hash: "sha256", keyType: "rsa" }],
  [0x0501, { hash: "sha384", keyType: "rsa" }],
]);

/** For a CertificateRequest and the extension signature_algorithms. */
export const knownSignatures: readonly number[] = [...signatureAlgorithms.keys()];

/** RFC 8122 §5 */
const hashNames: Readonly<Record<string, string>> = { "sha-1": "sha1", "sha-256": "sha256", "sha-384": "sha384", "sha-512": "sha512" };

import { createHash, createHmac } from "node:crypto";

export interface SecretInputs {
  readonly premaster: Buffer;
  readonly clientRandom: Buffer;
  readonly serverRandom: Buffer;
  /** Of RFC 7627: the hash of the handshake so far. Undefined where the client does not have that extension. */
  readonly sessionHash: Buffer | undefined;
}

export const masterSecret = ({ premaster, clientRandom, serverRandom, sessionHash }: SecretInputs): Buffer =>
  sessionHash
    ? pseudoRandom(premaster, "extended master secret", sessionHash, 48)
    : pseudoRandom(premaster, "master secret", Buffer.concat([clientRandom, serverRandom]), 48);

/** Keys and salts of AES-128-GCM for records (RFC 5246 §6.3, RFC 5288). */
export function recordKeys(master: Buffer, clientRandom: Buffer, serverRandom: Buffer) {
  const block = pseudoRandom(master, "key expansion", Buffer.concat([serverRandom, clientRandom]), 40);
  return {
    client: { key: block.subarray(0, 16), salt: block.subarray(32, 36) },
    server: { key: block.subarray(16, 32), salt: block.subarray(36, 40) },
  };
}

/** Keys and salts of SRTP (RFC 5764 §4.2, RFC 5705 without a context). */
export function exportSrtpKeys(master: Buffer, clientRandom: Buffer, serverRandom: Buffer, keyBytes: number, saltBytes: number) {
  const random = Buffer.concat([clientRandom, serverRandom]);
  const block = pseudoRandom(master, "EXTRACTOR-dtls_srtp", random, 2 * (keyBytes + saltBytes));
  const salts = 2 * keyBytes;
  return {
    client: { key: block.subarray(0, keyBytes), salt: block.subarray(salts, salts + saltBytes) },
    server: { key: block.subarray(keyBytes, salts), salt: block.subarray(salts + saltBytes) },
  };
}

export const finishedData = (master: Buffer, side: "client" | "server", handshake: Buffer): Buffer =>
  pseudoRandom(master, `${side} finished`, sha256(handshake), 12);

export const sha256 = (bytes: Buffer): Buffer => createHash("sha256").update(bytes).digest();

/** P_SHA256 of RFC 5246 §5. */
function pseudoRandom(secret: Buffer, label: string, seed: Buffer, length: number): Buffer {
  const labelled = Buffer.concat([Buffer.from(label, "latin1"), seed]);
  const hmac = (...parts: readonly Buffer[]) => {
    const mac = createHmac("sha256", secret);
    for (const part of parts) mac.update(part);
    return mac.digest();
  };
  const blocks: Buffer[] = [];
  let a = labelled;
  for (let bytes = 0; bytes < length; bytes += 32) {
    a = hmac(a);
    blocks.push(hmac(a, labelled));
  }
  return Buffer.concat(blocks).subarray(0, length);
}

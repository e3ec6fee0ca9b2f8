import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { writeFileAtomically } from "./atomic-file.ts";
import { ServiceError } from "./service-error.ts";

/** PEM texts. */
export interface TlsMaterial {
  readonly cert: string;
  readonly key: string;
}

const renewBeforeMs = 7 * 24 * 3_600_000;
const validDays = 825;

/** A self-made certificate for this computer, kept in `folder` so that clients need to trust it only once. */
export async function selfMadeTlsMaterial(folder: string): Promise<TlsMaterial> {
  const certFile = path.join(folder, "certificate.pem");
  const keyFile = path.join(folder, "key.pem");
  const kept = await readPair(certFile, keyFile);
  if (kept) return kept;
  // Loads slowly, and only the first start needs it.
  const { generate } = await import("selfsigned");
  const notAfterDate = new Date(Date.now() + validDays * 24 * 3_600_000);
  const made = await generate([{ name: "commonName", value: "localhost" }], {
    keyType: "ec",
    curve: "P-256",
    algorithm: "sha256",
    notAfterDate,
    extensions: [
      // OpenSSL takes a certificate as its own authority only where it says that it is one.
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", digitalSignature: true, keyCertSign: true, critical: true },
      { name: "extKeyUsage", serverAuth: true },
      {
        name: "subjectAltName",
        altNames: [
          { type: 2, value: "localhost" },
          { type: 7, ip: "127.0.0.1" },
          { type: 7, ip: "::1" },
        ],
      },
    ],
  });
  await writeFileAtomically(keyFile, made.private);
  await writeFileAtomically(certFile, made.cert);
  return { cert: made.cert, key: made.private };
}

async function readPair(certFile: string, keyFile: string): Promise<TlsMaterial | undefined> {
  try {
    const [cert, key] = await Promise.all([readFile(certFile, "utf8"), readFile(keyFile, "utf8")]);
    return Date.parse(new X509Certificate(cert).validTo) - Date.now() > renewBeforeMs ? { cert, key } : undefined;
  } catch {
    // Missing or damaged: a new pair takes its place.
    return undefined;
  }
}

/** A certificate and key of the user's own. Throws CONFIG_INVALID. */
export async function readTlsMaterial(certFile: string, keyFile: string): Promise<TlsMaterial> {
  const read = async (file: string, field: string) => {
    try {
      return await readFile(file, "utf8");
    } catch (cause) {
      throw new ServiceError("CONFIG_INVALID", `${file} cannot be read`, "Correct the path, or leave it empty.", {
        cause,
        field: { name: field, problem: "cannot be read" },
      });
    }
  };
  return { cert: await read(certFile, "certificateFile"), key: await read(keyFile, "keyFile") };
}

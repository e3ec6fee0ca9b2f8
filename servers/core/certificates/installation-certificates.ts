import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import os from "node:os";
import path from "node:path";
import { writeFileAtomically } from "../files/atomic-file.ts";
import { readRegularFile } from "../files/regular-file.ts";
import { sqliteFileError } from "../files/sqlite-file.ts";
import type { TlsMaterial, TlsSource } from "../net/tls-listener.ts";
import type { Log } from "../service/log.ts";
import { errorText } from "../service/service-error.ts";
import { type CertificateAuthority, isValid, openAuthority, pairText, parsePair, renewBeforeMs } from "./certificate-authority.ts";
import { makeLeaf } from "./sign-certificate.ts";

/** This computer's certificate, signed by the installation's authority; renewed while it is open. */
export interface InstallationCertificates extends TlsSource {
  readonly options: TlsMaterial;
  readonly authority: CertificateAuthority;
}

export interface CertificatesOptions {
  readonly folder: string;
  readonly log: Pick<Log, "info" | "warning">;
  readonly onStop: (release: () => void) => void;
  readonly now?: () => number;
  readonly names?: () => readonly string[];
  readonly checkEveryMs?: number;
}

/**
 * One certificate serves all services and processes of an installation, and is kept: a new one is signed if the kept one lacks a
 * name of this computer, cannot be used by clients, expires within 30 days, or was signed by another authority.
 */
export async function openCertificates(options: CertificatesOptions): Promise<InstallationCertificates> {
  const { folder, log, onStop, now = Date.now, names = computerNames, checkEveryMs = 30_000 } = options;
  const listeners = new Set<() => void>();
  const warn = (text: string): void => log.warning(text);
  let current = await currentLeaf(folder, names(), now(), warn);

  async function check(): Promise<void> {
    try {
      // Two processes may sign one at the same time: each keeps its own, and both are valid.
      if (isCurrent(current.leaf, await openAuthority(folder, now(), warn), names(), now())) return;
      current = await currentLeaf(folder, names(), now(), warn);
      log.info("The TLS certificate was renewed: this computer's names or addresses changed, or the old one was about to expire.");
      for (const listener of listeners) listener();
    } catch (error) {
      log.warning(`The TLS certificate cannot be renewed: ${errorText(error)}`);
    }
  }
  let checking = false;
  const timer = setInterval(async () => {
    if (checking) return;
    checking = true;
    await check();
    checking = false;
  }, checkEveryMs).unref();
  onStop(() => {
    clearInterval(timer);
    listeners.clear();
  });

  return {
    get options() {
      return current.leaf;
    },
    get authority() {
      return current.authority;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

async function currentLeaf(folder: string, names: readonly string[], now: number, warn: (text: string) => void) {
  const authority = await openAuthority(folder, now, warn);
  const file = path.join(folder, "computer.pem");
  const kept = parsePair(await readRegularFile(file).catch(() => ""));
  if (kept && isCurrent(kept, authority, names, now)) return { authority, leaf: kept };
  const leaf = await makeLeaf(authority, names, now);
  await writeFileAtomically(file, pairText(leaf)).catch((error: unknown) => {
    throw sqliteFileError(error, file);
  });
  return { authority, leaf };
}

/** RFC 5280 §4.2.1.12: the purpose id-kp-clientAuth. */
const clientAuthentication = "1.3.6.1.5.5.7.3.2";

/** Extra names are accepted: a network that comes and goes must not renew the certificate each time. */
function isCurrent(leaf: TlsMaterial, authority: TlsMaterial, names: readonly string[], now: number): boolean {
  const certificate = new X509Certificate(leaf.cert);
  const issuer = new X509Certificate(authority.cert);
  const lasts = isValid(leaf, now, Math.min(renewBeforeMs, Date.parse(issuer.validTo) - now - 1));
  const hasName = (name: string) => (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined;
  const isForClients = certificate.keyUsage?.includes(clientAuthentication) === true;
  return isForClients && lasts && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey) && names.every(hasName);
}

/** An Android emulator reaches its host as 10.0.2.2, a container as host.docker.internal. */
const namesOfTheHost = ["localhost", "host.docker.internal", "127.0.0.1", "::1", "10.0.2.2"];

/** Host names and addresses by which clients may reach this computer. */
export function computerNames(interfaces = os.networkInterfaces(), host = os.hostname()): readonly string[] {
  const addresses = Object.values(interfaces)
    .flatMap((list) => list ?? [])
    // A link-local IPv6 address is written with its interface, which no certificate can name.
    .filter(({ internal, family, address }) => !internal && !(family === "IPv6" && /^fe[89ab]/i.test(address)))
    .map(({ address }) => address);
  const name = host.toLowerCase();
  const hosts =
    /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(name) && isIP(name) === 0 ? [name, ...(name.includes(".") ? [] : [`${name}.local`])] : [];
  return [...new Set([...namesOfTheHost, ...hosts, ...addresses])];
}

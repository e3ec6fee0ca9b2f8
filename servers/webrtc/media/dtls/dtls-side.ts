import type { SrtpKeys, SrtpProfileNumber } from "../transport/srtp-context.ts";
import type { DtlsCertificate } from "./dtls-certificate.ts";
import type { Fingerprint } from "./peer-certificate.ts";

export interface DtlsConnected {
  readonly profile: SrtpProfileNumber;
  /** Of what this side sends, and of what it receives. */
  readonly sending: SrtpKeys;
  readonly receiving: SrtpKeys;
}

export interface DtlsOptions {
  readonly certificate: DtlsCertificate;
  /** The certificate of the other side has to have one of them. */
  readonly fingerprints: readonly Fingerprint[];
  readonly send: (datagram: Buffer) => void;
  readonly onConnected: (connected: DtlsConnected) => void;
  /** It has failed, or the client of the service has closed it. Called once. */
  readonly onEnd: (reason: string, by: "client" | "server") => void;
}

/** The active or the passive side of DTLS 1.2 for SRTP (RFC 5764), and nothing else of DTLS. */
export interface DtlsSide {
  /** The other side may be reached from now on. The active side sends its ClientHello; a second call does nothing. */
  start(): void;
  /** Never throws: what is no DTLS is passed over, a wrong handshake ends it. */
  receive(datagram: Buffer): void;
  /** Tells the other side that it is over. */
  close(): void;
}

/** TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 and P-256, which every WebRTC endpoint has (RFC 8827 §6.5). */
export const ecdsaSuite = 0xc02b;
export const p256 = 23;
export const uncompressed = 0;

/** In the order in which they are wanted: AES-GCM, AES-CM with HMAC-SHA1. */
export const wantedProfiles: readonly SrtpProfileNumber[] = [7, 1];

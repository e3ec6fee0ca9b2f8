import { randomUUID } from "node:crypto";
import type { LeftOutTrack, WebCodec } from "../../../../contract/services/rtsp-media.ts";
import type { WebrtcMediaProtocol, WebrtcMediaState, WebrtcMediaTrack } from "../../../../contract/traffic/webrtc-media.ts";
import type { PeerTransport } from "../transport/peer-transport.ts";
import type { WhepSession } from "./whep-session.ts";
import type { WhipSession } from "./whip-session.ts";

/** Who made the HTTP request. */
export interface MediaClient {
  /** "127.0.0.1:53110" */
  readonly remote: string;
  readonly address: string;
  readonly userAgent: string;
}

export interface MediaSessionOptions {
  readonly path: string;
  readonly client: MediaClient;
  readonly transport: PeerTransport;
  /** Of the m= line that has the candidates. */
  readonly mid: string;
  readonly candidates: readonly string[];
  /** Where media is received: "8443". */
  readonly localPort: number;
}

const mostCandidates = 100;

/** A player or a publisher, from its offer to its end. */
export class MediaSession {
  /** Random: who knows it may end the session. */
  readonly id = randomUUID();
  readonly since = Date.now();
  readonly path: string;
  readonly client: MediaClient;
  readonly transport: PeerTransport;
  readonly mid: string;
  media: { readonly protocol: "whep"; readonly whep: WhepSession } | { readonly protocol: "whip"; readonly whip: WhipSession } | undefined;
  ended: string | undefined;
  readonly #localPort: number;
  #candidates: readonly string[];

  constructor(options: MediaSessionOptions) {
    this.path = options.path;
    this.client = options.client;
    this.transport = options.transport;
    this.mid = options.mid;
    this.#localPort = options.localPort;
    this.#candidates = options.candidates.map(shortCandidate);
  }

  get protocol(): WebrtcMediaProtocol {
    return this.media?.protocol ?? "whep";
  }

  get state(): WebrtcMediaState["state"] {
    return this.ended === undefined ? this.transport.state : "ended";
  }

  /** Of its ICE session (RFC 9725 §4.3.1). */
  get etag(): string {
    return `"${this.transport.credentials.at(-1)?.ufrag}"`;
  }

  addCandidates(lines: readonly string[]): void {
    this.#candidates = [...this.#candidates, ...lines.map(shortCandidate)].slice(0, mostCandidates);
  }

  describe(): WebrtcMediaState {
    const { transport, media } = this;
    const { path: used } = transport;
    const rtts = media?.protocol === "whep" ? media.whep.senders.flatMap(({ rttMs }) => (rttMs === undefined ? [] : [rttMs])) : [];
    return {
      protocol: this.protocol,
      path: this.path,
      state: this.state,
      remote: this.client.remote,
      userAgent: this.client.userAgent.slice(0, 300),
      tracks: this.#tracks(),
      leftOut: this.leftOut,
      ...(used && { pair: { local: localOf(used.address, this.#localPort), remote: addressText(used.address, used.port) } }),
      candidates: this.#candidates,
      checks: transport.checks,
      ...(rtts.length > 0 && { rttMs: Math.round(Math.min(...rtts) * 10) / 10 }),
      keyFrameRequests: (media?.protocol === "whep" ? media.whep : media?.whip)?.keyFrameRequests ?? 0,
      bytesSent: transport.bytesSent,
      bytesReceived: transport.bytesReceived,
      ...(this.ended !== undefined && { ended: this.ended }),
    };
  }

  get leftOut(): readonly LeftOutTrack[] {
    return this.media?.protocol === "whep" ? this.media.whep.leftOut : [];
  }

  #tracks(): WebrtcMediaTrack[] {
    const { media } = this;
    if (media?.protocol === "whep") {
      return media.whep.senders.map(({ track, packets, payloadBytes, lost, lossFraction, jitterMs, retransmitted }) => ({
        kind: track.kind,
        codec: codecTexts[track.codec],
        format: track.format,
        packets,
        bytes: payloadBytes,
        lost,
        ...(lossFraction !== undefined && { lossFraction }),
        ...(jitterMs !== undefined && { jitterMs: Math.round(jitterMs * 10) / 10 }),
        retransmitted,
      }));
    }
    return (media?.whip.tracks ?? []).map(({ track, packets, bytes, losses, statistics }) => ({
      kind: track.codec === "h264" ? "video" : "audio",
      codec: codecTexts[track.codec],
      format: "",
      packets,
      bytes,
      lost: Math.max(0, statistics.lost),
      jitterMs: Math.round(statistics.jitterSeconds * 10_000) / 10,
      retransmitted: losses.recovered,
    }));
  }
}

const codecTexts: Readonly<Record<WebCodec, string>> = { h264: "H.264", opus: "Opus", pcmu: "G.711 µ-law", pcma: "G.711 A-law" };

export const addressText = (address: string, port: number): string =>
  address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;

/** The address of this computer by which the peer's datagrams come is not told with them; on loopback it is known. */
const localOf = (remote: string, port: number): string => {
  if (remote === "::1") return addressText("::1", port);
  return remote.startsWith("127.") ? addressText("127.0.0.1", port) : `UDP port ${port}`;
};

/** "udp 192.0.2.1:5000 host" (RFC 8839 §5.1). */
function shortCandidate(line: string): string {
  const [, transport, address, port, type] = /^\S+ \d+ (\S+) \d+ (\S+) (\d+) typ (\S+)/.exec(line) ?? [];
  return transport === undefined ? line.slice(0, 100) : `${transport.toLowerCase()} ${addressText(address ?? "", Number(port))} ${type}`;
}

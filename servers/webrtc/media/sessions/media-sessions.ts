import {
  type LeftOutTrack,
  type PlayAnswer,
  type PublishedTrack,
  rtspProvided,
  type WebCodec,
  type webrtcProvided,
} from "../../../../contract/services/rtsp-media.ts";
import { AddressPlaces } from "../../../core/limits/address-places.ts";
import { SdpError } from "../../../core/rtp/sdp.ts";
import { everySecondInTurns } from "../../../core/service/every-second.ts";
import { ServiceError } from "../../../core/service/service-error.ts";
import type { PeerServices } from "../../../core/streams/peer-client.ts";
import type { ProvidedHandlers } from "../../../core/streams/peer-provider.ts";
import type { WorkTurns } from "../../../core/turns/work-turns.ts";
import type { DtlsCertificate } from "../dtls/dtls-certificate.ts";
import { type AnsweredMedia, codecForTrack, codecToPublish, hostCandidates, parametersFor, writeAnswer } from "../sdp/answer.ts";
import { type Offer, type OfferedMedia, parseOffer } from "../sdp/offer.ts";
import { parseSdpFragment, type SdpFragment, writeSdpFragment } from "../sdp/sdp-fragment.ts";
import type { MediaPort } from "../transport/media-port.ts";
import { PeerTransport } from "../transport/peer-transport.ts";
import { MediaProblem, nothingToPlay, notOffered, notPublished, refusal, retryAfter, tooMany } from "./media-problem.ts";
import { type MediaClient, MediaSession } from "./media-session.ts";
import { type FeedLimits, PathFeeds } from "./path-feed.ts";
import { WhepSession, type WhepTrack } from "./whep-session.ts";
import { WhipSession } from "./whip-session.ts";

export interface MediaLimits extends FeedLimits {
  readonly viewers: number;
  readonly publishers: number;
  readonly connectMs: number;
  readonly consentMs: number;
  readonly keyFrameMs: number;
  /** Of a publisher, in bits a second. */
  readonly publisherBitRate: number;
}

/** Told of sessions, never of media. */
export interface MediaObserver {
  opened(session: MediaSession): void;
  /** Once a second, and when the state changes. */
  changed(session: MediaSession): void;
  ended(session: MediaSession, reason: string, by: "client" | "server"): void;
}

export interface MediaSessionsOptions {
  readonly port: MediaPort;
  readonly certificate: DtlsCertificate;
  readonly services: PeerServices;
  readonly limits: MediaLimits;
  readonly observer: MediaObserver;
  /** Of all clients. */
  readonly turns: WorkTurns;
}

export interface OpenRequest {
  readonly path: string;
  readonly offer: string;
  readonly authorization: string | undefined;
  readonly client: MediaClient;
  /** Work in the client's turn: to read the offer, and what follows the RTSP service's answer, which may come for hundreds at once. */
  readonly inTurn: <Result>(act: () => Result) => Promise<Result>;
}

export interface Opened {
  readonly session: MediaSession;
  readonly answer: string;
}

type AcceptedPlayer = Extract<PlayAnswer, { readonly kind: "accepted" }>;
type WebrtcHandlers = ProvidedHandlers<(typeof webrtcProvided)["calls"], (typeof webrtcProvided)["streams"]>;

/** The sessions of WHEP and WHIP. */
export class MediaSessions {
  readonly #options: MediaSessionsOptions;
  readonly #feeds: PathFeeds;
  readonly #sessions = new Map<string, MediaSession>();
  readonly #places = { whep: new AddressPlaces<MediaSession>(), whip: new AddressPlaces<MediaSession>() };
  readonly #stopTicking: () => void;
  readonly #endedBytes = { received: 0, sent: 0 };

  constructor(options: MediaSessionsOptions) {
    this.#options = options;
    const { services, turns, limits } = options;
    this.#feeds = new PathFeeds({ ...limits, services, turns });
    this.#stopTicking = everySecondInTurns(
      turns,
      () => this.#sessions.values(),
      (session, nowMs) => this.#tick(session, nowMs),
    );
  }

  /** What the RTSP service asks for. */
  readonly handlers: WebrtcHandlers = {
    calls: {
      keyFrame: ({ session }) => {
        const media = this.#sessions.get(session)?.media;
        if (media?.protocol === "whip") media.whip.requestKeyFrame();
        return null;
      },
      publishEnded: ({ session, reason }) => {
        const known = this.#sessions.get(session);
        if (known) this.#end(known, `the RTSP service has ended it: ${reason}`, "server");
        return null;
      },
    },
    streams: {
      published: async ({ session }, to) => {
        const media = this.#sessions.get(session)?.media;
        if (media?.protocol === "whip") await media.whip.publishTo(to);
      },
    },
  };

  list(): MediaSession[] {
    return [...this.#sessions.values()];
  }

  get(id: string): MediaSession | undefined {
    return this.#sessions.get(id);
  }

  /** Rejects with a MediaProblem. */
  async play(request: OpenRequest): Promise<Opened> {
    const { path, authorization, client, inTurn } = request;
    this.#placeFor(client, "whep");
    const played = await this.#ask(() =>
      this.#options.services.call(rtspProvided, "play", {
        path,
        address: client.address,
        ...(authorization !== undefined && { authorization }),
      }),
    );
    if (played.kind === "refused") throw refusal(played);
    return await inTurn(() => this.#openPlayer(request, played));
  }

  #openPlayer({ path, offer: text, client }: OpenRequest, played: AcceptedPlayer): Opened {
    const offer = readOffer(text);
    const tracks: WhepTrack[] = [];
    const leftOut: LeftOutTrack[] = [...played.leftOut];
    const answered = offer.media.map((offered): AnsweredMedia => {
      const index = played.tracks.findIndex(({ kind }, at) => kind === offered.kind && !tracks.some((one) => one.index === at));
      const track = played.tracks[index];
      const isWanted = isBundled(offer, offered) && (offered.direction === "recvonly" || offered.direction === "sendrecv");
      if (!isWanted) return undefined;
      const codec = track && codecForTrack(offered, track);
      if (track && codec) {
        tracks.push({ index, track, payloadType: codec.payloadType });
        return { codec, direction: "sendonly", parameters: parametersFor(codec, true) };
      }
      if (track) leftOut.push(notOffered(track.kind, track.codec, offered));
      const any = offered.codecs[0];
      return any && { codec: any, direction: "inactive", parameters: "" };
    });
    if (tracks.length === 0) throw new MediaProblem(422, nothingToPlay(path, played.tracks.length, leftOut));
    const transport = this.#transport(offer, client, () => session);
    const session = this.#session(path, client, offer, transport, answered);
    const whep = new WhepSession(transport, {
      path,
      feeds: this.#feeds,
      tracks,
      leftOut,
      work: this.#options.turns.background(client.address),
      mostWaitingBytes: this.#options.limits.keptBytes,
      onEnd: (reason) => this.#end(session, reason, "server"),
    });
    session.media = { protocol: "whep", whep };
    let next = 0;
    const withSources = answered.map((media) => {
      const sender = media?.direction === "sendonly" ? whep.senderOf(tracks[next++]?.index ?? -1) : undefined;
      return media && sender ? { ...media, ssrc: sender.ssrc } : media;
    });
    // Not before it is known that it may play.
    this.#makePlace(client, "whep");
    return this.#open(session, offer, withSources);
  }

  /** Rejects with a MediaProblem. */
  async publish({ path, offer: text, authorization, client, inTurn }: OpenRequest): Promise<Opened> {
    const offer = await inTurn(() => readOffer(text));
    this.#placeFor(client, "whip");
    const tracks: PublishedTrack[] = [];
    const kinds = new Set<string>();
    const answered = offer.media.map((offered): AnsweredMedia => {
      const { kind, direction } = offered;
      const isSent = isBundled(offer, offered) && (direction === "sendonly" || direction === "sendrecv");
      if (!isSent || (kind !== "video" && kind !== "audio")) return undefined;
      // RFC 9725 §4.4.2 and §4.4.3: more tracks than are taken, or one that is not, refuse the whole offer.
      if (kinds.has(kind))
        throw new MediaProblem(422, `The offer sends more than one track of ${kind}. Publish each to a path of its own.`);
      const codec = codecToPublish(offered);
      if (!codec) throw new MediaProblem(422, notPublished(offered));
      kinds.add(kind);
      const { payloadType, clockRate, channels } = codec;
      tracks.push({ codec: codec.name.toLowerCase() as WebCodec, payloadType, clockRate, channels: kind === "video" ? 1 : channels });
      return { codec, direction: "recvonly", parameters: parametersFor(codec, false) };
    });
    if (tracks.length === 0)
      throw new MediaProblem(422, "The offer sends nothing that can be published: H.264 pictures, or Opus or G.711 sound.");
    const transport = this.#transport(offer, client, () => session);
    const session = this.#session(path, client, offer, transport, answered);
    const { keyFrameMs, publisherBitRate } = this.#options.limits;
    const whip = new WhipSession(transport, { path, tracks, keyFrameMs, mostBitRate: publisherBitRate });
    session.media = { protocol: "whip", whip };
    // The RTSP service reads its stream as soon as it has accepted it.
    this.#add(session);
    const { remote, address, userAgent } = client;
    const params = { path, address, session: session.id, remote, userAgent: userAgent.slice(0, 1_000), tracks };
    try {
      const published = await this.#ask(() =>
        this.#options.services.call(rtspProvided, "publish", { ...params, ...(authorization !== undefined && { authorization }) }),
      );
      if (published.kind === "refused") throw refusal(published);
      return await inTurn(() => {
        this.#makePlace(client, "whip", session);
        return this.#open(session, offer, answered);
      });
    } catch (error) {
      this.#remove(session);
      whip.close();
      throw error;
    }
  }

  #add(session: MediaSession): void {
    this.#sessions.set(session.id, session);
    this.#places[session.protocol].add(session.client.address, session);
  }

  #remove(session: MediaSession): void {
    this.#sessions.delete(session.id);
    this.#places[session.protocol].remove(session);
  }

  /** Of one more: the session that gives way to it, where one has to. Throws a MediaProblem where there is none. */
  #placeFor(client: MediaClient, protocol: MediaSession["protocol"], except?: MediaSession): MediaSession | undefined {
    const places = this.#places[protocol];
    const most = this.#options.limits[protocol === "whep" ? "viewers" : "publishers"];
    if (places.size - (except && places.has(except) ? 1 : 0) < most) return undefined;
    return places.givingWay(client.address, except) ?? tooMany(protocol, most);
  }

  #makePlace(client: MediaClient, protocol: MediaSession["protocol"], except?: MediaSession): void {
    // The RTSP service, or a stop, may have ended it meanwhile.
    if (except?.ended !== undefined) return;
    const givingWay = this.#placeFor(client, protocol, except);
    if (givingWay) this.#end(givingWay, "all places are taken, and its address has most of them", "server");
  }

  async #ask<Answer>(call: () => Promise<Answer>): Promise<Answer> {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== "SERVICE_NOT_RUNNING") throw error;
      throw new MediaProblem(503, "The RTSP service, which has the streams, is not running. Start it, then try again.", retryAfter);
    }
  }

  #transport(offer: Offer, { address }: MediaClient, sessionOf: () => MediaSession): PeerTransport {
    const { certificate, limits, turns } = this.#options;
    return new PeerTransport({
      work: turns.connection(address),
      certificate,
      fingerprints: offer.fingerprints,
      isDtlsPassive: offer.isDtlsPassive,
      connectMs: limits.connectMs,
      consentMs: limits.consentMs,
      onConnected: () => {
        const session = sessionOf();
        const { media } = session;
        this.#places[session.protocol].use(session);
        if (media?.protocol === "whep") media.whep.start();
        else media?.whip.start();
        this.#options.observer.changed(session);
      },
      onRtp: (packet) => {
        const { media } = sessionOf();
        if (media?.protocol === "whip") media.whip.receiveRtp(packet);
      },
      onRtcp: (packet) => {
        const { media } = sessionOf();
        if (media?.protocol === "whep") media.whep.receiveRtcp(packet);
        else media?.whip.receiveRtcp(packet);
      },
      onEnd: (reason, by) => this.#end(sessionOf(), reason, by),
    });
  }

  #session(path: string, client: MediaClient, offer: Offer, transport: PeerTransport, answered: readonly AnsweredMedia[]): MediaSession {
    return new MediaSession({
      path,
      client,
      transport,
      mid: offer.media[answered.findIndex((media) => media !== undefined)]?.mid ?? "0",
      candidates: offer.candidates,
      localPort: this.#options.port.port,
    });
  }

  #open(session: MediaSession, offer: Offer, media: readonly AnsweredMedia[]): Opened {
    const { port, certificate, observer } = this.#options;
    const { transport } = session;
    // The RTSP service, or a stop, can end a publisher before its offer is answered.
    if (session.ended !== undefined) throw new MediaProblem(503, `The session has ended: ${session.ended}.`, retryAfter);
    this.#add(session);
    port.add(transport);
    observer.opened(session);
    const answer = writeAnswer({
      offer,
      media,
      credentials: transport.credentials.at(-1) as PeerTransport["credentials"][number],
      fingerprint: certificate.fingerprint,
      candidates: hostCandidates(port.addresses(), port.port),
      streamId: "backlot",
    });
    return { session, answer };
  }

  /** Candidates of the client, or an ICE restart, whose answer is returned. Throws a MediaProblem. */
  patch(session: MediaSession, ifMatch: string | undefined, text: string): string | undefined {
    const { port } = this.#options;
    const fragment = readFragment(text);
    if (ifMatch === undefined)
      throw new MediaProblem(428, 'The request has no If-Match: the ETag of the session, or "*" for an ICE restart.');
    if (ifMatch === "*") {
      if (fragment.ufrag === undefined || fragment.pwd === undefined)
        throw new MediaProblem(400, "An ICE restart needs the new a=ice-ufrag and a=ice-pwd.");
      const credentials = port.restartIce(session.transport);
      session.addCandidates(fragment.candidates);
      return writeSdpFragment(credentials, session.mid, hostCandidates(port.addresses(), port.port));
    }
    if (ifMatch !== session.etag) throw new MediaProblem(412, "The ETag is of an earlier ICE session.");
    session.addCandidates(fragment.candidates);
    return undefined;
  }

  /** The client has no more use for it. */
  delete(session: MediaSession): void {
    this.#end(session, "the client has ended it", "client");
  }

  end(session: MediaSession, reason: string): void {
    this.#end(session, reason, "server");
  }

  /** Of open sessions, and of those that have ended. */
  bytes(): { readonly received: number; readonly sent: number } {
    const total = { ...this.#endedBytes };
    for (const { transport } of this.#sessions.values()) {
      total.received += transport.bytesReceived;
      total.sent += transport.bytesSent;
    }
    return total;
  }

  #end(session: MediaSession, reason: string, by: "client" | "server"): void {
    if (session.ended !== undefined) return;
    session.ended = reason;
    const { port, observer } = this.#options;
    this.#remove(session);
    port.remove(session.transport);
    const { media } = session;
    if (media?.protocol === "whep") media.whep.close();
    else media?.whip.close();
    session.transport.close();
    this.#endedBytes.received += session.transport.bytesReceived;
    this.#endedBytes.sent += session.transport.bytesSent;
    observer.ended(session, reason, by);
  }

  #tick(session: MediaSession, nowMs: number): void {
    session.transport.tick(nowMs);
    if (session.ended !== undefined) return;
    if (session.media?.protocol === "whip" && session.state === "connected") session.media.whip.tick(nowMs);
    this.#options.observer.changed(session);
  }

  close(reason: string): void {
    this.#stopTicking();
    for (const session of this.list()) this.#end(session, reason, "server");
    this.#feeds.close();
  }
}

function read<Sdp>(what: string, parse: () => Sdp): Sdp {
  try {
    return parse();
  } catch (error) {
    if (error instanceof SdpError) throw new MediaProblem(400, `The ${what} is not usable: ${error.message}.`);
    throw error;
  }
}

const readOffer = (text: string): Offer => read("offer", () => parseOffer(text));
const readFragment = (text: string): SdpFragment => read("SDP fragment", () => parseSdpFragment(text));

/** All media uses one transport (RFC 9725 §4.4.1). */
const isBundled = ({ bundled }: Offer, { mid, isRejected }: OfferedMedia): boolean => !isRejected && bundled.includes(mid);

import { randomBytes, randomUUID } from "node:crypto";
import type { RtspRole } from "../../../contract/traffic/rtsp.ts";
import { parseRtcp } from "../../core/rtp/rtcp.ts";
import type { WorkConnection } from "../../core/turns/work-connection.ts";
import type { Faults } from "../faults/faults.ts";
import type { EndedBy } from "../observe/session-entry.ts";
import type { SessionTrack } from "../observe/session-media.ts";
import type { DescribedTrack } from "../protocol/media-description.ts";
import { RtspRefusal } from "../protocol/message.ts";
import type { PathSource, Paths } from "../streams/paths.ts";
import { type ReceivedCounts, RtpSource } from "../streams/rtp-source.ts";
import type { Stream, StreamLimits } from "../streams/stream.ts";
import type { Announcement } from "./announcement.ts";
import { SentSequences } from "./sent-sequences.ts";
import { type ReaderLimits, type ReaderTrackCounts, StreamReader } from "./stream-reader.ts";
import type { TrackTransport } from "./track-transport.ts";

export type SessionState = "ready" | "playing" | "recording";

/** A connection by which requests of a session came. */
export interface SessionUser {
  onSessionEnd(session: RtspSession, by: EndedBy): void;
}

export interface SessionLimits extends ReaderLimits, StreamLimits {
  /** A session that has had no request and no report for this time ends. */
  readonly timeoutMs: number;
  /** A publisher that sends nothing for this time is disconnected. */
  readonly silenceMs: number;
  /** Bytes that faults hold back for one reader. */
  readonly faultBytes: number;
}

export interface SessionOptions {
  readonly path: string;
  readonly user: string | undefined;
  readonly address: string;
  readonly limits: SessionLimits;
  readonly paths: Paths;
  readonly faults: Faults;
  /** Of what is sent to its client. */
  readonly background: WorkConnection;
  /** The streams of thousands of sessions may end together: each has its turn. */
  readonly inTurn: (end: () => void) => void;
  /** Called once; the session is of no use then. */
  readonly onEnd: (session: RtspSession, reason: string, by: EndedBy) => void;
}

/** What a session is about: a stream that is played, or tracks that are published. */
export type SessionMedia =
  | { readonly role: "read"; readonly stream: Stream }
  | {
      readonly role: "publish";
      readonly tracks: readonly DescribedTrack[];
      /** URI of the path. */
      readonly base: string;
      readonly announcement: Announcement;
    };

export const memoryReason = "what it has published was most, and RTSP_ALL_MEDIA_BYTES is exceeded";

interface ReportedLoss {
  /** Absent where it is not known of how many packets. */
  readonly lost?: number;
  readonly expected?: number;
  readonly lossFraction: number;
  readonly jitterMs: number;
}

/** RFC 2326 appendix A.2: ready after SETUP, then playing or recording. */
export class RtspSession {
  /** RFC 2326 §16.5: it must be impossible to guess. */
  readonly id = randomBytes(16).toString("hex");
  /** For lists: it gives no right to the session. */
  readonly publicId = randomUUID();
  readonly createdAt = Date.now();
  readonly path: string;
  readonly user: string | undefined;
  readonly address: string;
  state: SessionState = "ready";
  readonly users = new Set<SessionUser>();
  readonly #options: SessionOptions;
  readonly #media: SessionMedia;
  readonly #transports = new Map<number, TrackTransport>();
  readonly #counts = new Map<number, ReaderTrackCounts>();
  readonly #losses = new Map<number, ReportedLoss>();
  #reader: StreamReader | undefined;
  /** Of the last RECORD: its counts outlive it. */
  #source: RtpSource | undefined;
  /** By track, of what RECORD had before the last one. */
  readonly #receivedBefore = new Map<number, ReceivedCounts>();
  #pathSource: PathSource | undefined;
  #activeAtMs = performance.now();
  /** When the last packet of a publisher came. */
  #packetAtMs = 0;
  #reportAtMs = 0;
  #ended = false;
  #forgetStream = (): void => {};

  constructor(media: SessionMedia, options: SessionOptions) {
    this.#media = media;
    this.#options = options;
    this.path = options.path;
    this.user = options.user;
    this.address = options.address;
    if (media.role === "publish") media.announcement.passTo(() => this.end(memoryReason, "server"));
    // Also while it pauses: it would wait for packets for ever.
    else this.#forgetStream = media.stream.whenEnded((reason) => this.endInTurn(reason));
  }

  get role(): Exclude<RtspRole, "none"> {
    return this.#media.role;
  }

  get media(): SessionMedia {
    return this.#media;
  }

  get isEnded(): boolean {
    return this.#ended;
  }

  get transports(): ReadonlyMap<number, TrackTransport> {
    return this.#transports;
  }

  /** Its packets pass through this connection, so it ends with it. */
  dependsOn(connection: unknown): boolean {
    return [...this.#transports.values()].some((transport) => transport.connection === connection);
  }

  /** It has packets on another connection. */
  isCarriedElsewhere(connection: unknown): boolean {
    return [...this.#transports.values()].some((transport) => transport.connection !== undefined && transport.connection !== connection);
  }

  /** A request or a report came. */
  touch(): void {
    this.#activeAtMs = performance.now();
  }

  setUp(track: number, transport: TrackTransport): void {
    this.#transports.set(track, transport);
    if (!this.#counts.has(track)) this.#counts.set(track, { packets: 0, bytes: 0, dropped: 0, sequences: new SentSequences() });
  }

  /** Ends one of several tracks; false where it was the last one. */
  tearDown(track: number): boolean {
    this.#transports.get(track)?.release();
    this.#transports.delete(track);
    return this.#transports.size > 0;
  }

  play(): void {
    if (this.#media.role !== "read") throw new RtspRefusal(455, "the session publishes");
    if (this.state === "playing") return;
    this.state = "playing";
    this.#reader = new StreamReader({
      stream: this.#media.stream,
      transports: this.#transports,
      counts: this.#counts,
      limits: this.#options.limits,
      faults: { registry: this.#options.faults, session: this, mostHeldBytes: this.#options.limits.faultBytes },
      work: this.#options.background,
      onEnd: (reason) => this.endInTurn(reason),
    });
    for (const transport of this.#transports.values()) transport.start?.();
    this.#reader.start();
  }

  pause(): void {
    for (const transport of this.#transports.values()) transport.stop?.();
    this.#reader?.stop();
    this.#reader = undefined;
    this.#unpublish();
    this.state = "ready";
  }

  /** Throws an RtspRefusal where the path takes no publisher now. */
  record(): void {
    const media = this.#media;
    if (media.role !== "publish") throw new RtspRefusal(455, "the session plays");
    if (this.state === "recording") return;
    const { limits, paths } = this.#options;
    const source = new RtpSource({ ...limits, tracks: media.tracks, isUnordered: !this.#isOverTcp(), owner: this.address });
    const pathSource: PathSource = {
      kind: "publisher",
      title: this.id,
      stream: source.stream,
      open: () => Promise.resolve(source.stream),
      close: (reason) => this.end(reason, "server"),
    };
    paths.publish(this.path, pathSource, this.address);
    for (const index of media.tracks.keys()) {
      const counts = this.#receivedOf(index);
      if (counts) this.#receivedBefore.set(index, counts);
    }
    this.#source = source;
    this.#pathSource = pathSource;
    this.#packetAtMs = performance.now();
    this.state = "recording";
  }

  /** Of the whole session: it may pause, and then record again. */
  #receivedOf(track: number): ReceivedCounts | undefined {
    const counts = this.#source?.counts(track);
    const before = this.#receivedBefore.get(track);
    if (!counts || !before) return counts;
    return {
      packets: before.packets + counts.packets,
      bytes: before.bytes + counts.bytes,
      lost: before.lost + counts.lost,
      wrong: before.wrong + counts.wrong,
      jitterSeconds: (counts.packets > 0 ? counts : before).jitterSeconds,
    };
  }

  #unpublish(): void {
    if (!this.#source || !this.#pathSource) return;
    this.#options.paths.remove(this.path, this.#pathSource);
    this.#source.stream.end("the publisher has left");
    this.#pathSource = undefined;
  }

  /** Of the client, for one of its tracks. */
  receiveRtp(track: number, packet: Buffer): void {
    this.#packetAtMs = performance.now();
    this.#source?.receiveRtp(track, packet);
  }

  receiveRtcp(track: number, packet: Buffer): void {
    this.touch();
    if (this.#media.role === "publish") {
      this.#source?.receiveRtcp(track, packet);
      return;
    }
    const { clockRate } = this.#media.stream.tracks[track] ?? { clockRate: 1 };
    for (const report of parseRtcp(packet) ?? []) {
      if (report.type !== "receiver-report" && report.type !== "sender-report") continue;
      for (const { ssrc, lost, fractionLost, highestSequence, jitter } of report.reports) {
        if (ssrc !== this.#media.stream.packetizers[track]?.ssrc) continue;
        const sequences = this.#counts.get(track)?.sequences;
        const expected = sequences ? sequences.upTo(highestSequence) : 0;
        const ofSession = expected !== undefined && { lost, expected };
        this.#losses.set(track, { ...ofSession, lossFraction: fractionLost / 256, jitterMs: (jitter * 1_000) / clockRate });
      }
    }
  }

  /** Once a second: ends it where it is over, and reports to a publisher. */
  tick(nowMs: number): void {
    const { timeoutMs, silenceMs, stallMs } = this.#options.limits;
    if (this.#reader?.isStalled(nowMs)) this.end(`it took nothing for ${stallMs / 1_000} s`, "server");
    else if (this.state === "recording") this.#tickSource(nowMs, silenceMs);
    // A client that plays over TCP is there as long as its connection.
    else if (!this.#isCarried() && nowMs - this.#activeAtMs > timeoutMs) this.end(`no request for ${timeoutMs / 1_000} s`, "server");
  }

  get isMulticast(): boolean {
    return [...this.#transports.values()].some(({ answer }) => answer.isMulticast);
  }

  #isCarried(): boolean {
    return this.state === "playing" && this.#isOverTcp();
  }

  #isOverTcp(): boolean {
    return [...this.#transports.values()].every(({ connection }) => connection !== undefined);
  }

  #tickSource(nowMs: number, silenceMs: number): void {
    if (nowMs - this.#packetAtMs > silenceMs) {
      this.end(`no packet for ${silenceMs / 1_000} s`, "server");
      return;
    }
    this.#source?.tick(nowMs);
    if (nowMs - this.#reportAtMs < reportIntervalMs) return;
    this.#reportAtMs = nowMs;
    for (const [track, transport] of this.#transports) {
      const report = this.#source?.receiverReport(track, nowMs);
      if (report) transport.sendReport(report);
    }
  }

  /** The source of the played stream has ended, or its client had too much: for thousands of sessions at once. */
  endInTurn(reason: string): void {
    this.#options.inTurn(() => {
      if (this.#ended) return;
      if (this.#media.role === "read") {
        for (const [track, transport] of this.#transports) transport.sendReport(this.#media.stream.goodbye(track, reason));
      }
      this.end(reason, "server");
    });
  }

  end(reason: string, by: EndedBy): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#forgetStream();
    this.#reader?.stop();
    this.#unpublish();
    if (this.#media.role === "publish") this.#media.announcement.release();
    this.#options.faults.stop(this);
    for (const transport of this.#transports.values()) transport.release();
    this.#options.onEnd(this, reason, by);
    for (const user of [...this.users]) user.onSessionEnd(this, by);
    this.users.clear();
  }

  /** For its row and the page. */
  describeTracks(): SessionTrack[] {
    const media = this.#media;
    return [...this.#transports].map(([index, { title }]) => {
      const codec = (media.role === "read" ? media.stream.tracks[index] : media.tracks[index]?.track)?.codec ?? "";
      if (media.role === "publish") {
        const counts = this.#receivedOf(index);
        const loss = counts && { lost: counts.lost, jitterMs: counts.jitterSeconds * 1_000 };
        return {
          index,
          codec,
          transport: title,
          packets: counts?.packets ?? 0,
          bytes: counts?.bytes ?? 0,
          dropped: counts?.wrong ?? 0,
          ...loss,
        };
      }
      const { packets = 0, bytes = 0, dropped = 0 } = this.#counts.get(index) ?? {};
      return { index, codec, transport: title, packets, bytes, dropped, ...this.#losses.get(index) };
    });
  }

  /** What the client has not taken yet. */
  get unsentBytes(): number {
    let most = 0;
    for (const { unsentBytes } of this.#transports.values()) most = Math.max(most, unsentBytes);
    return most;
  }

  get mediaBytes(): { readonly received: number; readonly sent: number } {
    let received = 0;
    let sent = 0;
    for (const { bytes } of this.#counts.values()) sent += bytes;
    for (const index of this.#transports.keys()) received += this.#receivedOf(index)?.bytes ?? 0;
    return { received, sent };
  }
}

const reportIntervalMs = 5_000;

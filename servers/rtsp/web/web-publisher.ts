import { randomUUID } from "node:crypto";
import { mostEndedReason, type PublishedTrack, webrtcProvided } from "../../../contract/services/rtsp-media.ts";
import type { RtspSessionTrack } from "../../../contract/traffic/rtsp.ts";
import { isRtcp } from "../../core/rtp/rtp-packet.ts";
import { errorText } from "../../core/service/service-error.ts";
import type { IncomingStream, PeerServices } from "../../core/streams/peer-client.ts";
import type { Track } from "../media/track.ts";
import type { EndedBy, RecordedSession } from "../observe/session-entry.ts";
import type { DescribedTrack } from "../protocol/media-description.ts";
import { RtspRefusal } from "../protocol/message.ts";
import { interleavedBytes } from "../rtp/packet-writer.ts";
import type { PathSource, Paths } from "../streams/paths.ts";
import { RtpSource } from "../streams/rtp-source.ts";
import type { Stream, StreamLimits } from "../streams/stream.ts";

export interface WebPublisherOptions {
  readonly path: string;
  readonly user: string | undefined;
  /** Of the browser. */
  readonly address: string;
  /** Of the WebRTC service. */
  readonly session: string;
  readonly tracks: readonly PublishedTrack[];
  readonly paths: Paths;
  readonly limits: StreamLimits & { readonly silenceMs: number };
  readonly services: PeerServices;
  /** Called once. */
  readonly onEnd: (publisher: WebPublisher, reason: string, by: EndedBy) => void;
}

const tickMs = 1_000;

/** A browser that publishes by WHIP: the source of its path from its first packet on. The WebRTC service receives its packets. */
export class WebPublisher implements RecordedSession, PathSource {
  readonly kind = "whip-publisher";
  readonly role = "publish";
  readonly id = randomUUID();
  readonly title = this.id;
  readonly path: string;
  readonly user: string | undefined;
  stream: Stream | undefined;
  readonly #options: WebPublisherOptions;
  readonly #source: RtpSource;
  readonly #incoming: IncomingStream;
  readonly #timer: NodeJS.Timeout;
  #received = 0;
  #heardMs = performance.now();
  #isEnded = false;

  constructor(options: WebPublisherOptions) {
    this.#options = options;
    this.path = options.path;
    this.user = options.user;
    const { limits, tracks, address } = options;
    this.#source = new RtpSource({ ...limits, tracks: tracks.map(describedTrack), isUnordered: true, owner: address });
    this.#incoming = options.services.open(webrtcProvided, "published", { session: options.session }, { items: 512, bytes: 4 << 20 });
    this.#timer = setInterval(() => this.#tick(), tickMs);
  }

  /** Reads its packets until it ends. Never rejects. */
  async read(): Promise<void> {
    try {
      for await (const { payload } of this.#incoming) {
        if (payload) this.#receive(Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength));
      }
      this.end("the publisher has left", "client");
    } catch (error) {
      this.end(error instanceof RtspRefusal ? error.message : errorText(error), "server");
    }
  }

  get state(): "ready" | "recording" {
    return this.stream ? "recording" : "ready";
  }

  get mediaBytes(): { readonly received: number; readonly sent: number } {
    return { received: this.#received, sent: 0 };
  }

  #receive(packets: Buffer): void {
    this.#heardMs = performance.now();
    this.#received += packets.length;
    if (!this.stream) {
      this.stream = this.#source.stream;
      this.#options.paths.publish(this.path, this, this.#options.address);
    }
    for (let at = 0; at + interleavedBytes <= packets.length; ) {
      const track = (packets[at + 1] as number) >> 1;
      const end = at + interleavedBytes + packets.readUInt16BE(at + 2);
      const packet = packets.subarray(at + interleavedBytes, end);
      if (isRtcp(packet)) this.#source.receiveRtcp(track, packet);
      else this.#source.receiveRtp(track, packet);
      at = end;
    }
  }

  #tick(): void {
    this.#source.tick();
    const { silenceMs } = this.#options.limits;
    // Before its first packet the WebRTC service waits for it.
    if (this.stream && performance.now() - this.#heardMs > silenceMs) this.end(`no packet for ${silenceMs / 1_000} s`, "server");
  }

  requestKeyFrame(): void {
    const { services, session } = this.#options;
    // A publisher that is gone is ended by its stream.
    services.call(webrtcProvided, "keyFrame", { session }).catch(() => {});
  }

  open(): Promise<Stream> {
    return this.stream ? Promise.resolve(this.stream) : Promise.reject(new RtspRefusal(503, `${this.path} has not begun`));
  }

  close(reason: string): void {
    this.end(reason, "server");
  }

  end(reason: string, by: EndedBy): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearInterval(this.#timer);
    const { services, session, paths, onEnd } = this.#options;
    // A reason may quote the path. One that is too long would be refused, and the browser would go on publishing to nobody.
    const shortReason = reason.slice(0, mostEndedReason);
    if (by !== "client") services.call(webrtcProvided, "publishEnded", { session, reason: shortReason }).catch(() => {});
    this.#incoming.cancel();
    paths.remove(this.path, this);
    this.stream?.end("the publisher has left");
    onEnd(this, reason, by);
  }

  describeTracks(): RtspSessionTrack[] {
    return this.#options.tracks.map(({ codec }, index) => {
      const { packets, bytes, lost, jitterSeconds } = this.#source.counts(index);
      return { index, codec, transport: "WebRTC", packets, bytes, dropped: 0, lost, jitterMs: jitterSeconds * 1_000 };
    });
  }
}

function describedTrack({ codec, payloadType, clockRate, channels }: PublishedTrack): DescribedTrack {
  const track: Track =
    codec === "h264" ? { kind: "video", codec, clockRate, sps: [], pps: [] } : { kind: "audio", codec, clockRate, channels };
  return { track, payloadType, control: "", isLatm: false, parameters: {} };
}

import type { ConnectionOptions } from "node:tls";
import { withoutUserinfo } from "../../core/credentials/masked-secrets.ts";
import { attributeOf, parseSdp } from "../../core/rtp/sdp.ts";
import { everySecond } from "../../core/service/every-second.ts";
import { sessionIdOf, sessionTimeoutOf, withoutEndSlashes } from "../protocol/header-fields.ts";
import { type DescribedTrack, trackOfMedia, UnsupportedMedia } from "../protocol/media-description.ts";
import { headerOf } from "../protocol/message.ts";
import { parseTransport } from "../protocol/transport-header.ts";
import { type ReceivedCounts, RtpSource, type RtpSourceOptions } from "../streams/rtp-source.ts";
import type { Stream } from "../streams/stream.ts";
import { RtspClient, type RtspClientOptions } from "./rtsp-client.ts";
import { openTrackInput, type PullTransport, type TrackInput } from "./track-input.ts";

export interface PullOptions
  extends Omit<RtpSourceOptions, "tracks" | "isUnordered">,
    Pick<RtspClientOptions, "turns">,
    Partial<Pick<RtspClientOptions, "userAgent" | "isTunnel" | "onMessage">> {
  /** rtsp or rtsps, with a user name and password where they are needed. */
  readonly url: string;
  readonly tls: () => Promise<ConnectionOptions>;
  /** TCP where it is left out. */
  readonly transport?: PullTransport;
  /** Asks what the server can do before all else, as players do. */
  readonly asksOptions?: boolean;
  /** Before the first packet can come. */
  readonly onSource?: (source: PulledMedia) => void;
  /** A packet of a track came, with so many bytes. */
  readonly onPacket?: (track: number, bytes: number) => void;
  /** It has ended after it began. */
  readonly onDropped: (reason: string) => void;
}

/** What is received. */
export interface PulledMedia {
  readonly stream: Stream;
  readonly tracks: readonly { readonly title: string }[];
  counts(track: number): ReceivedCounts;
}

export interface Upstream extends PulledMedia {
  /** Resolves when the server has answered TEARDOWN, or is gone. */
  close(): Promise<void>;
}

const mostTracks = 16;
const timeoutMs = 8_000;
const silenceMs = 10_000;
const reportMs = 5_000;

/** Plays a stream of another server. Rejects where it cannot be had. */
export async function pullUpstream(options: PullOptions): Promise<Upstream> {
  const address = new URL(options.url);
  const isSecure = address.protocol === "rtsps:";
  const [username, password] = [decodeURIComponent(address.username), decodeURIComponent(address.password)];
  const uri = withoutUserinfo(options.url);
  const channels = new Map<number, (packet: Buffer) => void>();
  const inputs: TrackInput[] = [];
  let packetAtMs = performance.now();
  let isPlaying = false;
  let stopTicking = () => {};
  let closeReason: string | undefined;
  const release = () => {
    stopTicking();
    for (const input of inputs.splice(0)) input.close();
  };

  const client = await RtspClient.connect({
    host: address.hostname.replace(/^\[|\]$/g, ""),
    port: Number(address.port) || (isSecure ? 322 : 554),
    ...(isSecure && { tls: await options.tls() }),
    ...(username !== "" && { credentials: { username, password } }),
    userAgent: options.userAgent ?? "Backlot",
    turns: options.turns,
    timeoutMs,
    isTunnel: options.isTunnel ?? false,
    uri,
    ...(options.onMessage && { onMessage: options.onMessage }),
    onPacket: (channel, payload) => channels.get(channel)?.(payload),
    onClosed(reason) {
      release();
      if (isPlaying) options.onDropped(closeReason ?? reason);
    },
  });
  try {
    if (options.asksOptions) await client.request("OPTIONS", uri);
    const described = await client.request("DESCRIBE", uri, [["Accept", "application/sdp"]]);
    const base = headerOf(described.headers, "Content-Base") ?? headerOf(described.headers, "Content-Location") ?? uri;
    const description = parseSdp(described.body.toString("utf8"));
    const tracks = description.media.flatMap((media, index) => supportedTrack(() => trackOfMedia(media, index))).slice(0, mostTracks);
    if (tracks.length === 0) throw new UnsupportedMedia("it has no track that can be served");
    checkSame(tracks, options.continues?.stream);
    const transport = options.transport ?? "tcp";
    const source = new RtpSource({ ...options, tracks, isUnordered: transport !== "tcp" });
    const titles: { readonly title: string }[] = [];
    const media: PulledMedia = { stream: source.stream, tracks: titles, counts: (track) => source.counts(track) };
    options.onSource?.(media);
    let session = "";
    let keepAliveMs = 30_000;
    for (const [index, { control }] of tracks.entries()) {
      const input = await openTrackInput(transport, {
        index,
        channels,
        localAddress: client.localAddress,
        remoteAddress: client.remoteAddress,
        sendInterleaved: (channel, packet) => client.sendPacket(channel, packet),
        onRtp(packet) {
          packetAtMs = performance.now();
          options.onPacket?.(index, packet.length);
          source.receiveRtp(index, packet, packetAtMs);
        },
        onRtcp: (packet) => source.receiveRtcp(index, packet),
      });
      inputs.push(input);
      titles.push(input);
      const answer = await client.request("SETUP", absoluteControl(control, base), [
        ["Transport", input.offer],
        ...(session === "" ? [] : [["Session", session] as const]),
      ]);
      const header = headerOf(answer.headers, "Session") ?? "";
      session = sessionIdOf(header) ?? session;
      keepAliveMs = Math.max(1_000, (sessionTimeoutOf(header) * 1_000) / 2);
      await input.accept(parseTransport(headerOf(answer.headers, "Transport") ?? "")[0]);
    }
    const aggregate = absoluteControl(attributeOf(description, "control") ?? "*", base);
    await client.request("PLAY", aggregate, [
      ["Session", session],
      ["Range", "npt=0.000-"],
    ]);
    isPlaying = true;
    packetAtMs = performance.now();
    let [reportedAtMs, keptAliveAtMs] = [packetAtMs, packetAtMs];
    stopTicking = everySecond((now) => {
      source.tick(now);
      if (now - packetAtMs > silenceMs) {
        closeReason = `no packet for ${silenceMs / 1_000} s`;
        client.close();
        return;
      }
      if (now - reportedAtMs >= reportMs) {
        reportedAtMs = now;
        for (const [index, input] of inputs.entries()) {
          const report = source.receiverReport(index, now);
          if (report) input.sendReport(report);
        }
      }
      if (now - keptAliveAtMs < keepAliveMs) return;
      keptAliveAtMs = now;
      // Some servers know no GET_PARAMETER; every request keeps a session alive.
      client.request("OPTIONS", aggregate, [["Session", session]]).catch(() => {});
    });
    return {
      ...media,
      async close() {
        isPlaying = false;
        stopTicking();
        await client.request("TEARDOWN", aggregate, [["Session", session]]).catch(() => {});
        release();
        client.close();
      },
    };
  } catch (error) {
    release();
    client.close();
    throw error;
  }
}

/** Media of other kinds, such as a camera's events, are passed over. */
function supportedTrack(read: () => DescribedTrack): readonly DescribedTrack[] {
  try {
    return [read()];
  } catch (error) {
    if (error instanceof UnsupportedMedia) return [];
    throw error;
  }
}

/** Readers go on with the tracks that they have set up. */
function checkSame(tracks: readonly DescribedTrack[], stream: Stream | undefined): void {
  if (!stream) return;
  const key = (codec: string, clockRate: number) => `${codec}/${clockRate}`;
  const before = stream.tracks.map(({ codec, clockRate }) => key(codec, clockRate)).join();
  const now = tracks.map(({ track }) => key(track.codec, track.clockRate)).join();
  if (before !== now) throw new UnsupportedMedia(`it has other tracks than before: ${now}`);
}

/** RFC 2326 appendix C.1.1. */
function absoluteControl(control: string, base: string): string {
  if (/^rtsps?:\/\//i.test(control)) return control;
  if (control === "*" || control === "") return base;
  return `${withoutEndSlashes(base)}/${control}`;
}

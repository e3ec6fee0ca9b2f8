import type { ConnectionOptions } from "node:tls";
import { sessionIdOf, sessionTimeoutOf } from "../protocol/header-fields.ts";
import { type DescribedTrack, trackOfMedia, UnsupportedMedia } from "../protocol/media-description.ts";
import { headerOf } from "../protocol/message.ts";
import { attributeOf, parseSdp } from "../protocol/sdp.ts";
import { parseTransport } from "../protocol/transport-header.ts";
import { RtpSource, type RtpSourceOptions } from "../streams/rtp-source.ts";
import type { Stream } from "../streams/stream.ts";
import { RtspClient } from "./rtsp-client.ts";

export interface PullOptions extends Omit<RtpSourceOptions, "tracks" | "isUnordered"> {
  /** rtsp or rtsps, with a user name and password where they are needed. */
  readonly url: string;
  readonly tls: () => Promise<ConnectionOptions>;
  /** It has ended after it began. */
  readonly onDropped: (reason: string) => void;
}

export interface Upstream {
  readonly stream: Stream;
  close(): void;
}

const timeoutMs = 8_000;
const silenceMs = 10_000;
const reportMs = 5_000;
const tickMs = 1_000;

/** Plays a stream of another server over TCP. Rejects where it cannot be had. */
export async function pullUpstream(options: PullOptions): Promise<Upstream> {
  const address = new URL(options.url);
  const isSecure = address.protocol === "rtsps:";
  const [username, password] = [decodeURIComponent(address.username), decodeURIComponent(address.password)];
  const uri = options.url.replace(/\/\/[^/@]*@/, "//");
  const receivers = new Map<number, (packet: Buffer, nowMs: number) => void>();
  let packetAtMs = performance.now();
  let isPlaying = false;
  let timer: NodeJS.Timeout | undefined;
  let closeReason: string | undefined;

  const client = await RtspClient.connect({
    host: address.hostname.replace(/^\[|\]$/g, ""),
    port: Number(address.port) || (isSecure ? 322 : 554),
    ...(isSecure && { tls: await options.tls() }),
    ...(username !== "" && { credentials: { username, password } }),
    ...{ userAgent: "Backlot", timeoutMs },
    onPacket(channel, payload) {
      packetAtMs = performance.now();
      receivers.get(channel)?.(payload, packetAtMs);
    },
    onClosed(reason) {
      clearInterval(timer);
      if (isPlaying) options.onDropped(closeReason ?? reason);
    },
  });
  try {
    const described = await client.request("DESCRIBE", uri, [["Accept", "application/sdp"]]);
    const base = headerOf(described.headers, "Content-Base") ?? headerOf(described.headers, "Content-Location") ?? uri;
    const description = parseSdp(described.body.toString("utf8"));
    const tracks = description.media.flatMap((media, index) => supportedTrack(() => trackOfMedia(media, index)));
    if (tracks.length === 0) throw new UnsupportedMedia("it has no track that can be served");
    checkSame(tracks, options.continues?.stream);
    const source = new RtpSource({ ...options, tracks, isUnordered: false });
    const channels: number[] = [];
    let session = "";
    let keepAliveMs = 30_000;
    for (const [index, { control }] of tracks.entries()) {
      const answer = await client.request("SETUP", absoluteControl(control, base), [
        ["Transport", `RTP/AVP/TCP;unicast;interleaved=${2 * index}-${2 * index + 1}`],
        ...(session === "" ? [] : [["Session", session] as const]),
      ]);
      const header = headerOf(answer.headers, "Session") ?? "";
      session = sessionIdOf(header) ?? session;
      keepAliveMs = Math.max(1_000, (sessionTimeoutOf(header) * 1_000) / 2);
      const [rtp, rtcp] = parseTransport(headerOf(answer.headers, "Transport") ?? "")[0]?.channels ?? [2 * index, 2 * index + 1];
      channels.push(rtcp);
      receivers.set(rtp, (packet, nowMs) => source.receiveRtp(index, packet, nowMs));
      receivers.set(rtcp, (packet, nowMs) => source.receiveRtcp(index, packet, nowMs));
    }
    const aggregate = absoluteControl(attributeOf(description, "control") ?? "*", base);
    await client.request("PLAY", aggregate, [
      ["Session", session],
      ["Range", "npt=0.000-"],
    ]);
    isPlaying = true;
    packetAtMs = performance.now();
    let [reportedAtMs, keptAliveAtMs] = [packetAtMs, packetAtMs];
    timer = setInterval(() => {
      const now = performance.now();
      source.tick(now);
      if (now - packetAtMs > silenceMs) {
        closeReason = `no packet for ${silenceMs / 1_000} s`;
        client.close();
        return;
      }
      if (now - reportedAtMs >= reportMs) {
        reportedAtMs = now;
        for (const [index, channel] of channels.entries()) {
          const report = source.receiverReport(index, now);
          if (report) client.sendPacket(channel, report);
        }
      }
      if (now - keptAliveAtMs < keepAliveMs) return;
      keptAliveAtMs = now;
      // Some servers know no GET_PARAMETER; every request keeps a session alive.
      client.request("OPTIONS", aggregate, [["Session", session]]).catch(() => {});
    }, tickMs);
    return {
      stream: source.stream,
      close() {
        isPlaying = false;
        clearInterval(timer);
        client.request("TEARDOWN", aggregate, [["Session", session]]).then(
          () => client.close(),
          () => client.close(),
        );
      },
    };
  } catch (error) {
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
  return `${base.replace(/\/+$/, "")}/${control}`;
}

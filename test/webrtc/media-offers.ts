/** Where light clients of WHEP and WHIP connect. */
export interface MediaServer {
  /** "http://127.0.0.1:8443" */
  readonly url: string;
  /** Sends an offer to /whep/… or /whip/…. */
  offer(path: string, sdp: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** Releases what a client has opened. */
  readonly onEnd: (release: () => unknown) => void;
}

export const mediaServer = (url: string, onEnd: MediaServer["onEnd"]): MediaServer => ({
  url,
  onEnd,
  offer: (path, body, headers = {}) =>
    // A connection that has been idle may be closed just when it is used again, and a POST is not repeated.
    fetch(`${url}${path}`, { method: "POST", headers: { "content-type": "application/sdp", connection: "close", ...headers }, body }),
});

const fingerprint = `sha-256 ${Array.from({ length: 32 }, () => "AB").join(":")}`;

export interface OfferedLine {
  readonly kind: "audio" | "video";
  readonly direction: "recvonly" | "sendonly";
  /** Payload type, then what a=rtpmap and a=fmtp say. */
  readonly codecs: readonly (readonly [type: number, map: string, parameters?: string])[];
}

export const opus = [111, "opus/48000/2", "minptime=10;useinbandfec=1"] as const;
export const h264 = [102, "H264/90000", "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f"] as const;
export const vp8 = [96, "VP8/90000"] as const;

/** An offer as a browser makes it, of a client that never connects. */
export function offerOf(lines: readonly OfferedLine[], change: (sdp: string) => string = (sdp) => sdp): string {
  const media = lines.map(({ kind, direction, codecs }, mid) => [
    `m=${kind} 9 UDP/TLS/RTP/SAVPF ${codecs.map(([type]) => type).join(" ")}`,
    "c=IN IP4 0.0.0.0",
    "a=ice-ufrag:abcd",
    "a=ice-pwd:abcdefghijklmnopqrstuvwx",
    `a=fingerprint:${fingerprint}`,
    "a=setup:actpass",
    `a=mid:${mid}`,
    `a=${direction}`,
    "a=rtcp-mux",
    ...codecs.flatMap(([type, map, parameters]) => [`a=rtpmap:${type} ${map}`, ...(parameters ? [`a=fmtp:${type} ${parameters}`] : [])]),
  ]);
  const group = `a=group:BUNDLE ${lines.map((_, mid) => mid).join(" ")}`;
  return change(["v=0", "o=- 1 2 IN IP4 127.0.0.1", "s=-", "t=0 0", group, ...media.flat(), ""].join("\r\n"));
}

export const playerOffer = (change?: (sdp: string) => string): string =>
  offerOf(
    [
      { kind: "audio", direction: "recvonly", codecs: [opus] },
      { kind: "video", direction: "recvonly", codecs: [vp8, h264] },
    ],
    change,
  );

export const publisherOffer = (change?: (sdp: string) => string): string =>
  offerOf(
    [
      { kind: "audio", direction: "sendonly", codecs: [opus] },
      { kind: "video", direction: "sendonly", codecs: [vp8, h264] },
    ],
    change,
  );

import type { LeftOutTrack, MediaRefusal } from "../../../../contract/services/rtsp-media.ts";
import { StacklessError } from "../../../core/service/stackless-error.ts";
import { codecNames, type OfferedMedia } from "../sdp/offer.ts";

export const retryAfter = { "Retry-After": "5" };

/** Why a request of WHEP or WHIP is refused: an answer of `application/problem+json` (RFC 9457). */
export class MediaProblem extends StacklessError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;

  /** Whole sentences: what is wrong, and what to do. */
  constructor(status: number, detail: string, headers: Readonly<Record<string, string | readonly string[]>> = {}) {
    super(detail);
    this.status = status;
    this.headers = headers;
  }
}

export function refusal({ status, reason, challenges }: MediaRefusal): MediaProblem {
  const text = `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;
  return new MediaProblem(status, text, {
    ...(challenges.length > 0 && { "WWW-Authenticate": challenges.filter((challenge) => /^basic /i.test(challenge)) }),
    ...(status === 503 && retryAfter),
  });
}

export const notOffered = (kind: LeftOutTrack["kind"], codec: string, offered: OfferedMedia): LeftOutTrack => ({
  kind,
  codec,
  reason:
    codec === "h264"
      ? `The pictures are H.264, and the client offers ${codecNames(offered) || "nothing"} without H.264 in packetization mode 1.`
      : `The sound is ${codec}, and the client offers ${codecNames(offered) || "nothing"}.`,
});

export function nothingToPlay(path: string, playable: number, leftOut: readonly LeftOutTrack[]): string {
  if (leftOut.length > 0) return leftOut.map(({ reason }) => reason).join(" ");
  return playable === 0 ? `${path} has no tracks.` : "The offer receives nothing of what the path has: pictures or sound, bundled.";
}

export const notPublished = (offered: OfferedMedia): string =>
  offered.kind === "video"
    ? `The offer sends ${codecNames(offered) || "no pictures"}. Only H.264 can be published: RTSP players get the pictures as they are. Choose H.264 in the publisher.`
    : `The offer sends ${codecNames(offered) || "no sound"}. Only Opus and G.711 can be published. Choose Opus in the publisher.`;

/** All places are taken, and nobody gives way. */
export function tooMany(protocol: "whep" | "whip", most: number): never {
  const [what, setting] = protocol === "whep" ? ["players", "WEBRTC_VIEWERS"] : ["publishers", "WEBRTC_PUBLISHERS"];
  const text = `The limit of ${what} is reached, which is ${most}, and no other address has more of them. Raise it in Config (${setting}).`;
  throw new MediaProblem(503, text, retryAfter);
}

import { attributeOf, parseSdp, SdpError } from "../../../core/rtp/sdp.ts";
import type { IceCredentials } from "../transport/peer-transport.ts";
import { candidatesOf } from "./offer.ts";

/** A body of application/trickle-ice-sdpfrag (RFC 8840 §9). */
export interface SdpFragment {
  readonly ufrag: string | undefined;
  readonly pwd: string | undefined;
  readonly candidates: readonly string[];
}

/** Throws an SdpError. */
export function parseSdpFragment(text: string): SdpFragment {
  const description = parseSdp(`v=0\r\n${text}`);
  const parts = [description, ...description.media];
  const first = (name: string) => parts.map((part) => attributeOf(part, name)).find((value) => value !== undefined);
  const candidates = parts.flatMap(candidatesOf);
  const [ufrag, pwd] = [first("ice-ufrag"), first("ice-pwd")];
  if (ufrag === undefined && candidates.length === 0 && first("end-of-candidates") === undefined)
    throw new SdpError("it has neither candidates nor a=ice-ufrag");
  return { ufrag, pwd, candidates };
}

/** The answer to an ICE restart. */
export const writeSdpFragment = ({ ufrag, pwd }: IceCredentials, mid: string, candidates: readonly string[]): string =>
  [
    "a=ice-lite",
    `a=ice-ufrag:${ufrag}`,
    `a=ice-pwd:${pwd}`,
    "m=audio 9 UDP/TLS/RTP/SAVPF 0",
    `a=mid:${mid}`,
    ...candidates.map((line) => `a=candidate:${line}`),
    "a=end-of-candidates",
    "",
  ].join("\r\n");

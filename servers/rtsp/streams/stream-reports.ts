import { writeRtcp } from "../../core/rtp/rtcp.ts";
import type { Packetizer } from "../media/track.ts";

/** Canonical name of this server as a sender (RFC 3550 §6.5.1). */
export const cname = "backlot";

interface SentCounts {
  readonly packets: number;
  /** Of the packets' payloads. */
  readonly payloadBytes: number;
}

/** RFC 3550 §6.4.1: a compound packet with a sender report and the source description. `pts` is that of `atMs`, a time of `performance.now()`. */
export function writeSenderReport(
  { ssrc, timestamp }: Packetizer,
  { packets, payloadBytes }: SentCounts,
  pts: number,
  atMs: number,
): Buffer {
  return writeRtcp([
    {
      type: "sender-report",
      ssrc,
      // From the same clock as the timestamps: the system's may be set meanwhile.
      ntpMs: performance.timeOrigin + atMs,
      timestamp: timestamp(pts),
      packets,
      payloadBytes,
      reports: [],
    },
    { type: "source-description", chunks: [{ ssrc, cname }] },
  ]);
}

/** RFC 3550 §6.6: the last packet of a track. */
export function writeGoodbye({ ssrc }: Packetizer, reason: string): Buffer {
  return writeRtcp([
    { type: "receiver-report", ssrc, reports: [] },
    { type: "source-description", chunks: [{ ssrc, cname }] },
    { type: "goodbye", ssrcs: [ssrc], reason },
  ]);
}

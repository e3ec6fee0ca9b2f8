import type { FramePackets } from "../media/track.ts";
import { interleavedBytes } from "../rtp/packet-writer.ts";

/** Sent in one step: a fraction of a millisecond. */
const packetsAtOnce = 16;

/** The packets of a frame without what they have in front of them on an interleaved connection. */
export const datagramsOf = ({ bytes, offsets }: FramePackets): readonly Buffer[] =>
  offsets.map((offset, index) => bytes.subarray(offset + interleavedBytes, offsets[index + 1] ?? bytes.length));

/** Each datagram is a system call. */
export function* sendInSteps(datagrams: readonly Buffer[], send: (datagram: Buffer) => void): Generator<void, void> {
  for (const [index, datagram] of datagrams.entries()) {
    if (index > 0 && index % packetsAtOnce === 0) yield;
    send(datagram);
  }
}

import type { Frame, FramePackets, Track } from "../media/track.ts";

/** Takes frames: HLS, MPEG-TS, the page's picture. */
export interface FrameReader {
  onFrame(frame: Frame): void;
  /** A source sent other parameter sets for a track. */
  onTrack?(index: number, track: Track): void;
  /** As for those who take packets. */
  onGap?(): void;
  onEnd(reason: string): void;
}

/** Takes the packets of frames, and sender reports. */
export interface PacketReader {
  onPackets(packets: FramePackets): void;
  onReport(track: number, report: Buffer): void;
  /** It was so slow to take what is kept that some of it is kept no longer: the next picture is a key frame. */
  onGap(): void;
  onEnd(reason: string): void;
}

/** The place of a reader that begins with what is kept. */
export interface ReaderPlace<Item> {
  /** The next since the last key frame. When none is left it is undefined, and the reader is told of those that follow. */
  next(): Item | undefined;
  remove(): void;
}

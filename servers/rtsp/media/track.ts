/** The media of one stream. Parameter sets and configurations are as the codec defines them, without start codes and lengths. */
export type Track = VideoTrack | AudioTrack;
export type VideoTrack = H264Track | H265Track;
export type AudioTrack = AacTrack | OpusTrack | G711Track;

/** Video whose frames are NAL units. */
interface NalTrack {
  readonly kind: "video";
  /** Of pts and dts, and of RTP timestamps. */
  readonly clockRate: number;
  /** Empty where a publisher has not sent them yet. */
  readonly sps: readonly Buffer[];
  readonly pps: readonly Buffer[];
}

export interface H264Track extends NalTrack {
  readonly codec: "h264";
}

export interface H265Track extends NalTrack {
  readonly codec: "h265";
  readonly vps: readonly Buffer[];
}

export interface AacTrack {
  readonly kind: "audio";
  readonly codec: "aac";
  /** The sampling rate. */
  readonly clockRate: number;
  /** From the AudioSpecificConfig: the sample entry of an MP4 file may say something else. */
  readonly channels: number;
  /** AudioSpecificConfig (ISO 14496-3 §1.6.2.1). */
  readonly config: Buffer;
}

export interface OpusTrack {
  readonly kind: "audio";
  readonly codec: "opus";
  /** Always 48000 (RFC 7587 §4.1). */
  readonly clockRate: number;
  readonly channels: number;
}

export interface G711Track {
  readonly kind: "audio";
  readonly codec: "pcmu" | "pcma";
  readonly clockRate: number;
  readonly channels: number;
}

/** An access unit of video, or one frame of audio. */
export interface Frame {
  /** Index of its track in the stream. */
  readonly track: number;
  /**
   * The NAL units of the access unit, without start codes, parameter sets (they are the track's) and access unit delimiters; or the one
   * frame of audio. Never changed after it was passed on.
   */
  readonly units: readonly Buffer[];
  /** In units of the track's clock rate. Continuous over the end of a loop: they exceed 32 bits, and RTP takes the lower ones. */
  readonly pts: number;
  /** When it is decoded; `pts` where the source does not tell. */
  readonly dts: number;
  /** A decoder can start here; true for every frame of audio. */
  readonly isKey: boolean;
}

/** A file that is played as a loop. */
export interface Clip {
  readonly tracks: readonly Track[];
  /** Of one pass: the next one begins so much later, on all tracks. */
  readonly durationSeconds: number;
  readonly frameCount: number;
  /** Of the first pass, ordered by the second in which they are decoded, over all tracks. */
  frame(index: number): Frame;
  close(): void;
}

/**
 * The RTP packets of one frame, made once for all readers: in one buffer, each behind the four bytes that it has on an interleaved
 * connection (RFC 2326 §10.12), with channel 2 × track.
 */
export interface FramePackets {
  readonly frame: Frame;
  readonly bytes: Buffer;
  /** Those of which they are a part. */
  readonly of?: FramePackets | undefined;
  /** The same with other channels, for all clients that have chosen them and have yet to take it. */
  onChannels?: Map<number, WeakRef<Buffer>> | undefined;
  /** Of copies with other channels that are not among those. */
  copiedBytes?: number;
  /** Where each packet begins in `bytes`, with its four bytes. */
  readonly offsets: readonly number[];
  /** Of the payloads, as a sender report counts them. */
  readonly payloadBytes: number;
  /** Of the first packet. */
  readonly sequence: number;
  /** Packets that its packetizer has made before. */
  readonly position: number;
  readonly timestamp: number;
}

/** `createPacketizer(track, options)`: one for each track of a stream; it counts the sequence numbers. */
export interface Packetizer {
  readonly ssrc: number;
  readonly payloadType: number;
  /** Of the next packet. */
  readonly sequence: number;
  packetize(frame: Frame): FramePackets;
  /** From the next frame on: the same format with other parameter sets, which go before each key frame. */
  setTrack(track: Track): void;
  /** pts plus a random offset, as 32 bits. */
  timestamp(pts: number): number;
}

export interface PacketizerOptions {
  /** Index of the track. */
  readonly track: number;
  readonly payloadType: number;
  /** Largest RTP packet. */
  readonly packetBytes: number;
  /** Random; given by tests. */
  readonly ssrc?: number;
  readonly sequence?: number;
  readonly timestampOffset?: number;
}

/** What a depacketizer made of one or several packets. */
export interface DepacketizedFrame {
  /** RTP timestamp. */
  readonly timestamp: number;
  /** As in `Frame`, with the parameter sets that came in band. */
  readonly units: readonly Buffer[];
  readonly isKey: boolean;
}

/**
 * `createDepacketizer(track, parameters)`: one for each published track. Packets are given in the order of their sequence numbers; `isAfterLoss`
 * says that some are missing before it, and what they belonged to is dropped. Never throws: a wrong payload is dropped and counted.
 */
export interface Depacketizer {
  push(payload: Buffer, timestamp: number, isMarked: boolean, isAfterLoss: boolean): readonly DepacketizedFrame[];
  /** Of what has come of frames that are not complete. */
  readonly heldBytes: number;
  /** The frame that has begun is dropped, and counted. */
  giveUp(): void;
  /** Payloads that the format does not allow, and parts of frames that were lost. */
  readonly dropped: number;
}

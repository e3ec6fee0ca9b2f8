import { rtpHeaderBytes } from "../../core/rtp/rtp-packet.ts";
import type { Frame, FramePackets } from "../media/track.ts";

/** RFC 2326 §10.12: dollar sign, channel, length. */
export const interleavedBytes = 4;
/** Before the payload of every packet. */
const headBytes = interleavedBytes + rtpHeaderBytes;

export interface PacketHead {
  readonly channel: number;
  readonly payloadType: number;
  readonly ssrc: number;
  readonly sequence: number;
  readonly position: number;
  readonly timestamp: number;
}

/** Writes the packets of one frame behind each other, each with its interleaved prefix. The buffer is allocated once. */
export class PacketWriter {
  readonly #head: PacketHead;
  readonly #bytes: Buffer;
  readonly #offsets: number[] = [];
  #position = 0;
  #payloadBytes = 0;

  /** Room for so many packets with so many bytes of payload in all. */
  constructor(head: PacketHead, packets: number, payloadBytes: number) {
    this.#head = head;
    this.#bytes = Buffer.allocUnsafe(packets * headBytes + payloadBytes);
  }

  /** Begins a packet, whose payload has that many bytes; `later` in timestamp than the frame. */
  packet(payloadBytes: number, isMarked: boolean, later = 0): void {
    const { channel, payloadType, ssrc, sequence, timestamp } = this.#head;
    const bytes = this.#bytes;
    let at = this.#position;
    const length = rtpHeaderBytes + payloadBytes;
    const number = (sequence + this.#offsets.length) & 0xffff;
    this.#offsets.push(at);
    bytes[at++] = 0x24;
    bytes[at++] = channel;
    bytes[at++] = length >> 8;
    bytes[at++] = length & 0xff;
    bytes[at++] = 0x80;
    bytes[at++] = isMarked ? 0x80 | payloadType : payloadType;
    bytes[at++] = number >> 8;
    bytes[at++] = number & 0xff;
    at = bytes.writeUInt32BE((timestamp + later) >>> 0, at);
    this.#position = bytes.writeUInt32BE(ssrc, at);
    this.#payloadBytes += payloadBytes;
  }

  byte(value: number): void {
    this.#bytes[this.#position++] = value;
  }

  twoBytes(value: number): void {
    this.byte(value >> 8);
    this.byte(value & 0xff);
  }

  copy(source: Buffer, from = 0, to = source.length): void {
    this.#position += source.copy(this.#bytes, this.#position, from, to);
  }

  finish(frame: Frame): FramePackets {
    return {
      frame,
      bytes: this.#bytes.subarray(0, this.#position),
      offsets: this.#offsets,
      payloadBytes: this.#payloadBytes,
      sequence: this.#head.sequence,
      position: this.#head.position,
      timestamp: this.#head.timestamp,
    };
  }
}

import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import type { FramePackets } from "../media/track.ts";
import type { PortPair } from "../protocol/transport-header.ts";
import type { PacketReader, Stream } from "../streams/stream.ts";

export interface MulticastOptions {
  /** The first group; each stream has one of its own after it. */
  readonly address: string;
  /** Even; the first pair of ports. Groups have different ones, since a computer receives all groups on a port. */
  readonly port: number;
  readonly ttl: number;
  /** Address of the interface to send by; undefined for the system's choice. */
  readonly interfaceAddress: string | undefined;
}

const prefixBytes = 4;

/** One group for each stream that is played by multicast: its packets are sent once for all sessions. */
export class MulticastGroups {
  readonly #options: MulticastOptions;
  readonly #groups = new Map<Stream, MulticastGroup>();
  readonly #socket: Socket;
  #next = 0;

  private constructor(options: MulticastOptions, socket: Socket) {
    this.#options = options;
    this.#socket = socket;
  }

  static async open(options: MulticastOptions): Promise<MulticastGroups> {
    const socket = createSocket("udp4");
    socket.on("error", () => {});
    socket.bind(0);
    await once(socket, "listening");
    socket.setMulticastTTL(options.ttl);
    socket.setMulticastLoopback(true);
    if (options.interfaceAddress !== undefined) socket.setMulticastInterface(options.interfaceAddress);
    return new MulticastGroups(options, socket);
  }

  of(stream: Stream): MulticastGroup {
    const known = this.#groups.get(stream);
    if (known) return known;
    for (const [ended] of this.#groups) if (ended.ended !== undefined) this.#groups.delete(ended);
    const { address, port, ttl } = this.#options;
    const number = this.#next++ % groupCount;
    const group = new MulticastGroup(stream, nthAddress(address, number), port + 2 * number * pairsPerGroup, ttl, this.#socket);
    this.#groups.set(stream, group);
    return group;
  }

  close(): Promise<void> {
    for (const group of this.#groups.values()) group.stop();
    return new Promise((resolve) => this.#socket.close(() => resolve()));
  }
}

/** A new stream gets the ports of the stream that came this many streams before it. */
const groupCount = 200;
const pairsPerGroup = 8;
/** The ports to which groups send, from `MulticastOptions.port` on. */
export const multicastPortCount = groupCount * 2 * pairsPerGroup;

function nthAddress(first: string, number: number): string {
  const bytes = first.split(".").map(Number);
  const value = bytes.reduce((sum, byte) => sum * 256 + byte, 0) + number;
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");
}

export class MulticastGroup implements PacketReader {
  readonly address: string;
  readonly ttl: number;
  readonly #stream: Stream;
  readonly #port: number;
  readonly #socket: Socket;
  #users = 0;
  #remove: (() => void) | undefined;

  constructor(stream: Stream, address: string, port: number, ttl: number, socket: Socket) {
    this.address = address;
    this.ttl = ttl;
    this.#stream = stream;
    this.#port = port;
    this.#socket = socket;
  }

  portsOf(track: number): PortPair {
    const rtp = this.#port + 2 * track;
    return [rtp, rtp + 1];
  }

  /** A session plays. Returns the function that says that it does no more. */
  use(): () => void {
    this.#users++;
    if (!this.#remove) {
      this.#remove = this.#stream.addPacketReader(this);
      for (const track of this.#stream.tracks.keys()) this.onReport(track, this.#stream.senderReport(track));
    }
    let isUsed = true;
    return () => {
      if (!isUsed) return;
      isUsed = false;
      if (--this.#users === 0) this.stop();
    };
  }

  stop(): void {
    this.#remove?.();
    this.#remove = undefined;
  }

  onPackets({ bytes, offsets, frame }: FramePackets): void {
    const [port] = this.portsOf(frame.track);
    for (const [index, offset] of offsets.entries()) {
      const start = offset + prefixBytes;
      this.#socket.send(bytes, start, (offsets[index + 1] ?? bytes.length) - start, port, this.address);
    }
  }

  onReport(track: number, report: Buffer): void {
    this.#socket.send(report, this.portsOf(track)[1], this.address);
  }

  onEnd(reason: string): void {
    this.#remove = undefined;
    for (const track of this.#stream.tracks.keys()) this.onReport(track, this.#stream.goodbye(track, reason));
  }
}

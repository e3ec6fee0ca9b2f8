import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { AddressPlaces } from "../../core/limits/address-places.ts";
import { rateLimitKey } from "../../core/limits/rate-limit-client.ts";
import { createDatagramSender, type DatagramSender } from "../../core/net/datagram-sender.ts";
import { oneStep, type WorkConnection, type WorkShare } from "../../core/turns/work-connection.ts";
import { WorkQueue } from "../../core/turns/work-queue.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import { PacketFaults, type ReaderFaults } from "../faults/packet-faults.ts";
import type { FramePackets } from "../media/track.ts";
import type { PortPair } from "../protocol/transport-header.ts";
import type { Stream } from "../streams/stream.ts";
import type { PacketReader, ReaderPlace } from "../streams/stream-readers.ts";
import { datagramsOf, sendInSteps } from "./packet-datagrams.ts";

export interface MulticastOptions {
  /** The first group; each stream has one of its own after it. */
  readonly address: string;
  /** Even; the first pair of ports. Groups have different ones, since a computer receives all groups on a port. */
  readonly port: number;
  readonly ttl: number;
  /** Address of the interface to send by; undefined for the system's choice. */
  readonly interfaceAddress: string | undefined;
  /** Of paths: a group has those of its path. */
  readonly faults: Omit<ReaderFaults, "session">;
  /** Of all clients: a group is as one of them. */
  readonly turns: WorkTurns;
  /** Of a group, while they wait for its turn; frames beyond it are lost, as they would be on the way. */
  readonly unsentBytes: number;
}

/**
 * One group for each stream that is played by multicast: its packets are sent once for all sessions. A group keeps its number, from which its address and ports
 * follow, as long as a session has it set up, and longer while no other stream needs it.
 */
export class MulticastGroups {
  readonly #options: MulticastOptions;
  readonly #groups = new Map<Stream, MulticastGroup>();
  /** Those that sessions have set up, by the client that has it for the longest time. */
  readonly #places = new AddressPlaces<MulticastGroup>();
  readonly #socket: Socket;
  readonly #sender: DatagramSender;
  #next = 0;
  bytesSent = 0;

  private constructor(options: MulticastOptions, socket: Socket) {
    this.#options = options;
    this.#socket = socket;
    this.#sender = createDatagramSender(socket);
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

  /** The stream's group; `path` is that of the session that asks for it, from this address. Undefined where other streams have all numbers. */
  of(stream: Stream, path: string, client: string): MulticastGroup | undefined {
    const known = this.#groups.get(stream);
    if (known) return known;
    for (const [other, { isHeld }] of this.#groups) if (other.ended !== undefined && !isHeld) this.#groups.delete(other);
    const number = this.#freeNumber(client);
    if (number === undefined) return undefined;
    const { address, port, ttl, turns, unsentBytes } = this.#options;
    const group = new MulticastGroup({
      ...{ stream, number, ttl, turns, unsentBytes, places: this.#places },
      address: nthAddress(address, number),
      port: port + 2 * number * pairsPerGroup,
      faults: { ...this.#options.faults, session: { path } },
      send: (datagram, to) => this.#send(datagram, to, group.address),
    });
    this.#groups.set(stream, group);
    return group;
  }

  /** The next one that no stream has, else that of a stream without sessions, else that of the client who has most. */
  #freeNumber(client: string): number | undefined {
    const groups = [...this.#groups.values()];
    const taken = new Set(groups.map(({ number }) => number));
    for (let tried = 0; tried < groupCount && taken.size < groupCount; tried++) {
      const number = this.#next++ % groupCount;
      if (!taken.has(number)) return number;
    }
    const former = groups.find(({ isHeld }) => !isHeld) ?? this.#places.givingWay(client);
    if (!former) return undefined;
    this.#groups.delete(former.stream);
    former.giveWay("all multicast groups are taken, and its address has most of them");
    return former.number;
  }

  #send(datagram: Buffer, port: number, address: string): void {
    if (this.#sender.send(datagram, port, address) === undefined) this.bytesSent += datagram.length;
  }

  close(): Promise<void> {
    for (const group of this.#groups.values()) group.stop();
    return new Promise((resolve) => this.#socket.close(() => resolve()));
  }
}

export const groupCount = 200;
const pairsPerGroup = 8;
/** The ports to which groups send, from `MulticastOptions.port` on. */
export const multicastPortCount = groupCount * 2 * pairsPerGroup;

function nthAddress(first: string, number: number): string {
  const bytes = first.split(".").map(Number);
  const value = bytes.reduce((sum, byte) => sum * 256 + byte, 0) + number;
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");
}

const queueWaitMs = 5;

/** A track of a session that has set up the group. */
export interface GroupHolder {
  /** Of the client. */
  readonly address: string;
  /** Another client gets the group. */
  end(reason: string): void;
}

interface MulticastGroupOptions {
  readonly stream: Stream;
  readonly number: number;
  readonly places: AddressPlaces<MulticastGroup>;
  readonly address: string;
  /** Of the first track. */
  readonly port: number;
  readonly ttl: number;
  readonly faults: ReaderFaults;
  readonly turns: WorkTurns;
  readonly unsentBytes: number;
  /** Sends a datagram to a port of the group. */
  readonly send: (datagram: Buffer, port: number) => void;
}

export class MulticastGroup implements PacketReader {
  readonly address: string;
  readonly ttl: number;
  readonly #options: MulticastGroupOptions;
  /** By client. */
  readonly #holders = new Map<string, Set<GroupHolder>>();
  #hasGivenWay = false;
  #users = 0;
  #place: ReaderPlace<FramePackets> | undefined;
  #endWait = (): void => {};
  #faults: PacketFaults;
  readonly #work: WorkConnection;
  readonly #share: WorkShare;
  readonly #queue: WorkQueue;

  constructor(options: MulticastGroupOptions) {
    this.address = options.address;
    this.ttl = options.ttl;
    this.#options = options;
    this.#work = options.turns.background(options.address);
    this.#faults = this.#newFaults();
    this.#share = this.#work.join(() => this.#takeKept());
    this.#queue = new WorkQueue(this.#work, () => {});
  }

  #newFaults(): PacketFaults {
    const { stream, faults } = this.#options;
    return new PacketFaults({
      ...faults,
      tracks: stream.tracks,
      keyTrack: stream.keyTrack,
      keyFrame: () => stream.keyPackets,
      delayed: stream.delayed,
      work: this.#work,
      deliver: (packets) => this.#send(packets),
      deliverReport: (track, report) => this.#sendReport(track, report),
    });
  }

  get stream(): Stream {
    return this.#options.stream;
  }

  get number(): number {
    return this.#options.number;
  }

  get isHeld(): boolean {
    return this.#holders.size > 0;
  }

  /** No other stream gets its number until the function that is returned is called, unless `end` is. */
  hold(holder: GroupHolder): () => void {
    const client = rateLimitKey(holder.address);
    const known = this.#holders.get(client);
    if (known) known.add(holder);
    else this.#holders.set(client, new Set([holder]));
    this.#takePlace();
    return () => {
      const own = this.#holders.get(client);
      if (own?.delete(holder) && own.size === 0) this.#holders.delete(client);
      this.#takePlace();
    };
  }

  /** One that several clients have gives way last. */
  #takePlace(): void {
    const { places } = this.#options;
    places.remove(this);
    const [client] = this.#holders.keys();
    if (client === undefined || this.#hasGivenWay) return;
    places.add(client, this);
    if (this.#holders.size > 1) places.use(this);
  }

  /** Sends nothing any more. Its sessions end in their turns. */
  giveWay(reason: string): void {
    this.#hasGivenWay = true;
    this.#takePlace();
    this.stop();
    this.#queue.clear();
    for (const holders of this.#holders.values()) for (const holder of holders) holder.end(reason);
  }

  portsOf(track: number): PortPair {
    const rtp = this.#options.port + 2 * track;
    return [rtp, rtp + 1];
  }

  /** A session plays. Returns the function that says that it does no more. */
  use(): () => void {
    this.#users++;
    if (!this.#place && !this.#hasGivenWay) {
      const { stream } = this.#options;
      this.#faults = this.#newFaults();
      this.#place = stream.addPacketReader(this);
      // Its sessions are counted.
      stream.moreReaders--;
      this.#takeKept();
      for (const track of stream.tracks.keys()) this.onReport(track, stream.senderReport(track));
    }
    let isUsed = true;
    return () => {
      if (!isUsed) return;
      isUsed = false;
      if (--this.#users === 0) this.stop();
    };
  }

  stop(): void {
    // The goodbyes of a stream that has ended are sent.
    if (this.#place) this.#queue.clear();
    this.#endWait();
    this.#faults.stop();
    if (!this.#place) return;
    this.#options.stream.moreReaders++;
    this.#place.remove();
    this.#place = undefined;
  }

  /** As fast as it is sent. */
  #takeKept(): void {
    while (this.#place) {
      if (this.#share.isOver) {
        this.#share.later();
        return;
      }
      if (this.#queue.bytes > this.#options.unsentBytes / 2) {
        this.#endWait = this.#work.wait(queueWaitMs, () => this.#takeKept());
        return;
      }
      const packets = this.#place.next();
      if (!packets) return;
      this.onPackets(packets);
    }
  }

  onPackets(packets: FramePackets): void {
    if (this.#faults.isActive) this.#faults.push(packets);
    else this.#send(packets);
  }

  #send(packets: FramePackets): void {
    const { send, unsentBytes } = this.#options;
    const [port] = this.portsOf(packets.frame.track);
    if (this.#queue.bytes > unsentBytes) return;
    this.#queue.add(
      packets.bytes.length,
      sendInSteps(datagramsOf(packets), (datagram) => send(datagram, port)),
    );
  }

  /** Its players go on with the key frame that comes next. */
  onGap(): void {}

  onReport(track: number, report: Buffer): void {
    if (this.#faults.isActive) this.#faults.report(track, report);
    else this.#sendReport(track, report);
  }

  #sendReport(track: number, report: Buffer): void {
    const [, port] = this.portsOf(track);
    this.#queue.add(
      report.length,
      oneStep(() => this.#options.send(report, port)),
    );
  }

  onEnd(reason: string): void {
    this.#endWait();
    this.#place = undefined;
    this.#faults.stop();
    const { stream } = this.#options;
    stream.moreReaders++;
    for (const track of stream.tracks.keys()) this.#sendReport(track, stream.goodbye(track, reason));
  }
}

import type { RemoteInfo } from "node:dgram";
import { plainAddress } from "../../core/net/client-socket.ts";
import { listenUdp, type UdpListener } from "../../core/net/udp-listener.ts";
import type { Log } from "../../core/service/log.ts";
import { errorText } from "../../core/service/service-error.ts";
import { oneStep, type WorkConnection } from "../../core/turns/work-connection.ts";
import { WorkQueue } from "../../core/turns/work-queue.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import type { FramePackets } from "../media/track.ts";
import type { PortPair } from "../protocol/transport-header.ts";
import { datagramsOf, sendInSteps } from "./packet-datagrams.ts";

export type UdpPart = "rtp" | "rtcp";

/** Takes the datagrams of one source address and port. */
export type DatagramReceiver = (datagram: Buffer) => void;

export interface UdpPortsOptions {
  /** Even; RTCP has the next one. 0 picks a pair. */
  readonly port: number;
  readonly openToLan: boolean;
  readonly onStop: (release: () => void | Promise<void>) => void;
  readonly log: Log;
}

/** Whom a session has at the other end, and the address of this computer by which its connection came: it expects packets from there (RFC 2326 §12.39). */
export interface UdpPeer {
  readonly address: string;
  readonly localAddress: string;
}

const attempts = 50;
/** Of a source, while they wait for its turn; more are lost, as they would be on the way. */
const mostWaitingBytes = 1 << 20;

interface Source {
  readonly receive: DatagramReceiver;
  /** What a source sends may be for thousands of players. */
  readonly waiting: WorkQueue;
}

/** The pair of UDP ports that all sessions share. A datagram goes to the receiver that is registered for its source address and port. */
export class UdpPorts {
  ports: PortPair = [0, 0];
  /** Datagrams from sources without a receiver, and those that came faster than they were worked off. */
  foreign = 0;
  dropped = 0;
  bytesReceived = 0;
  bytesSent = 0;
  /** Packets of RTP that were left out since too much waits for the network. */
  packetsUnsent = 0;
  readonly #listeners: Partial<Record<UdpPart, UdpListener>> = {};
  readonly #turns: WorkTurns;
  #cut: { packets: FramePackets | undefined; datagrams: readonly Buffer[] } = { packets: undefined, datagrams: [] };
  readonly #sources: Readonly<Record<UdpPart, Map<string, Source>>> = { rtp: new Map(), rtcp: new Map() };
  #onFault: (error: unknown) => void = () => {};

  /** Packets are sent in `turns`. */
  constructor(turns: WorkTurns) {
    this.#turns = turns;
  }

  /** Of one receiver. */
  connection(address: string): WorkConnection {
    return this.#turns.background(address);
  }

  /** Resolves when both ports listen. */
  async listen({ port, openToLan, onStop, log }: UdpPortsOptions): Promise<void> {
    this.#onFault = (error) => log.error(`A datagram: ${errorText(error)}`);
    for (let attempt = 1; ; attempt++) {
      const releases: (() => Promise<void>)[] = [];
      const closeAll = async () => void (await Promise.all(releases.map((release) => release())));
      const listen = async (part: UdpPart, wanted: number): Promise<number> => {
        const listener = await listenUdp({
          ...{ port: wanted, openToLan, log, onStop: (release) => void releases.push(release) },
          onMessage: (datagram, from) => this.#receive(part, datagram, from),
          isUsedUp: () => this.#turns.isUsedUp(),
        });
        this.#listeners[part] = listener;
        return listener.port;
      };
      try {
        const rtp = await listen("rtp", port);
        // RFC 3550 §11: RTP has an even port and RTCP the next one.
        if (rtp % 2 !== 0) throw new Error(`RTP needs an even port; ${rtp} is odd`);
        this.ports = [rtp, await listen("rtcp", rtp + 1)];
        onStop(closeAll);
        return;
      } catch (error) {
        await closeAll();
        if (port !== 0 || attempt >= attempts) throw error;
      }
    }
  }

  #receive(part: UdpPart, datagram: Buffer, { address, port }: RemoteInfo): void {
    this.bytesReceived += datagram.length;
    const source = this.#sources[part].get(sourceKey(address, port));
    if (!source) this.foreign++;
    else if (source.waiting.bytes > mostWaitingBytes) this.dropped++;
    else
      source.waiting.add(
        datagram.length,
        oneStep(() => source.receive(datagram)),
      );
  }

  /** What is sent there comes back. */
  listensAt(address: string, port: number): boolean {
    const isOwn = (listener: UdpListener | undefined) =>
      listener?.port === port && listener.places.some((place) => place.address === address);
    return isOwn(this.#listeners.rtp) || isOwn(this.#listeners.rtcp);
  }

  isClaimed(part: UdpPart, address: string, port: number): boolean {
    return this.#sources[part].has(sourceKey(address, port));
  }

  /** Datagrams of the source go to the receiver from now on. */
  claim(part: UdpPart, address: string, port: number, receiver: DatagramReceiver): void {
    const waiting = new WorkQueue(this.#turns.connection(address), this.#onFault);
    this.#sources[part].set(sourceKey(address, port), { receive: receiver, waiting });
  }

  release(part: UdpPart, address: string, port: number): void {
    const key = sourceKey(address, port);
    this.#sources[part].get(key)?.waiting.clear();
    this.#sources[part].delete(key);
  }

  /** An error is of no use here: the receiver's port may be closed already. */
  sendReport(report: Buffer, { address, localAddress }: UdpPeer, port: number): void {
    const place = this.#listeners.rtcp?.placeFor(address, localAddress);
    if (place && place.sender.send(report, port, address) === undefined) this.bytesSent += report.length;
  }

  /** The packets of a frame, in steps, without what they have in front of them on an interleaved connection. */
  *sendPackets(packets: FramePackets, { address, localAddress }: UdpPeer, port: number): Generator<void, void> {
    const sender = this.#listeners.rtp?.placeFor(address, localAddress)?.sender;
    yield* sendInSteps(this.#datagramsOf(packets), (datagram) => {
      if (sender && sender.send(datagram, port, address) === undefined) this.bytesSent += datagram.length;
      else this.packetsUnsent++;
    });
  }

  /** Those of the last frame are known: it is sent to all its readers at once. */
  #datagramsOf(packets: FramePackets): readonly Buffer[] {
    if (this.#cut.packets !== packets) this.#cut = { packets, datagrams: datagramsOf(packets) };
    return this.#cut.datagrams;
  }
}

const sourceKey = (address: string, port: number): string => `${plainAddress(address)} ${port}`;

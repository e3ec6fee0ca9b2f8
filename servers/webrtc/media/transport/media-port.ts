import { createSecretKey, type KeyObject } from "node:crypto";
import type { RemoteInfo } from "node:dgram";
import { DatagramShares } from "../../../core/net/datagram-shares.ts";
import { isLinkLocal } from "../../../core/net/local-addresses.ts";
import { listenUdp, type UdpListener } from "../../../core/net/udp-listener.ts";
import type { UdpPlace } from "../../../core/net/udp-place.ts";
import type { Log } from "../../../core/service/log.ts";
import { errorText } from "../../../core/service/service-error.ts";
import type { WorkTurns } from "../../../core/turns/work-turns.ts";
import { hasIntegrity } from "../../stun/message-integrity.ts";
import { stunAttributes, stunMethods } from "../../stun/stun-attributes.ts";
import { attributeOf, isStun, parseStun, type StunMessage } from "../../stun/stun-message.ts";
import { encodeXorAddress } from "../../stun/transport-address.ts";
import { errorCodeValue, type WrittenAttribute, writeStun } from "../../stun/write-stun.ts";
import type { IceCredentials, PeerPath, PeerTransport } from "./peer-transport.ts";

/** RFC 8445 §16.1 */
const iceAttributes = { priority: 0x0024, useCandidate: 0x0025, controlled: 0x8029 } as const;
const roleConflict = 487;

export interface MediaPortOptions {
  readonly port: number;
  readonly openToLan: boolean;
  /** By which clients reach this computer through a NAT; empty without one. */
  readonly publicAddress: string;
  /** Datagrams of ICE and DTLS of one socket that are worked on. */
  readonly requestsPerSecond: number;
  /** What waits for its turn is worked on before more is read. */
  readonly turns: Pick<WorkTurns, "isUsedUp">;
  readonly onStop: (release: () => void | Promise<void>) => void;
  readonly log: Log;
}

interface Registered {
  readonly transport: PeerTransport;
  readonly key: KeyObject;
}

const udpQueues = 8;
/** Of each queue, as those of TURN. */
const receiveBufferBytes = 4 << 20;
/** Addresses of one peer that are kept; it has one for each of its networks. */
const mostPathsOfPeer = 16;

/** The one UDP port of all media. A check of ICE finds its peer by user name, and everything else by the address of a check. */
export class MediaPort {
  /** Datagrams of nobody. */
  foreign = 0;
  readonly #publicAddress: string;
  readonly #shares: DatagramShares;
  readonly #openToLan: boolean;
  #listener: UdpListener | undefined;
  readonly #byUfrag = new Map<string, Registered>();
  readonly #byAddress = new Map<string, PeerTransport>();
  readonly #addresses = new Map<PeerTransport, Set<string>>();
  /** Datagrams of one peer often come in a row. */
  #last: { readonly address: string; readonly port: number; readonly transport: PeerTransport } | undefined;

  private constructor({ publicAddress, openToLan, requestsPerSecond, log }: MediaPortOptions) {
    this.#openToLan = openToLan;
    this.#publicAddress = publicAddress;
    this.#shares = new DatagramShares({ perSecond: requestsPerSecond, what: "Checks and handshakes of media", log });
  }

  /** Resolves when it listens; rejects as `listenUdp`. */
  static async listen(options: MediaPortOptions): Promise<MediaPort> {
    const { port, openToLan, turns, onStop, log } = options;
    const media = new MediaPort(options);
    media.#listener = await listenUdp({
      ...{ port, openToLan, onStop, log, queues: udpQueues, receiveBufferBytes },
      isUsedUp: () => turns.isUsedUp(),
      onMessage: (datagram, from, place) => {
        try {
          media.#receive(datagram, from, place);
        } catch (error) {
          log.error(`Media of ${from.address}:${from.port}: ${errorText(error)}`);
        }
      },
    });
    return media;
  }

  /** The one that listens. */
  get port(): number {
    return this.#listener?.port ?? 0;
  }

  /** Those by which peers may reach it, the preferred one first. */
  addresses(): string[] {
    const places = this.#listener?.places ?? [];
    if (!this.#openToLan) return places.map(({ address }) => address);
    const reachable = places.filter(({ isInternal, address }) => !isInternal && !isLinkLocal(address));
    const known = [...(this.#publicAddress === "" ? [] : [this.#publicAddress]), ...reachable.map(({ address }) => address)];
    return [...new Set([...known, "127.0.0.1"])];
  }

  add(transport: PeerTransport): void {
    this.#addresses.set(transport, new Set());
    for (const credentials of transport.credentials) this.#register(transport, credentials);
  }

  /** Returns the new credentials. */
  restartIce(transport: PeerTransport): IceCredentials {
    const { credentials, unused } = transport.restartIce();
    for (const { ufrag } of unused) this.#byUfrag.delete(ufrag);
    this.#register(transport, credentials);
    return credentials;
  }

  /** Credentials that a check may have. */
  get users(): number {
    return this.#byUfrag.size;
  }

  #register(transport: PeerTransport, { ufrag, pwd }: IceCredentials): void {
    this.#byUfrag.set(ufrag, { transport, key: createSecretKey(Buffer.from(pwd)) });
  }

  remove(transport: PeerTransport): void {
    for (const { ufrag } of transport.credentials) this.#byUfrag.delete(ufrag);
    for (const address of this.#addresses.get(transport) ?? [])
      if (this.#byAddress.get(address) === transport) this.#byAddress.delete(address);
    this.#addresses.delete(transport);
    this.#last = undefined;
  }

  #receive(datagram: Buffer, from: RemoteInfo, place: UdpPlace): void {
    const first = datagram[0];
    if (first === undefined) return;
    // RFC 7983: below that of ChannelData, TURN and media are STUN and DTLS.
    if (first < 64 && !this.#shares.take(from, this.#byAddress.has(addressKey(from)))) return;
    if (isStun(first) && first < 4) {
      this.#check(datagram, from, place);
      return;
    }
    const last = this.#last;
    const isSame = last?.port === from.port && last.address === from.address;
    const transport = isSame ? last.transport : this.#byAddress.get(addressKey(from));
    if (!transport) {
      this.foreign++;
      return;
    }
    if (!isSame) this.#last = { address: from.address, port: from.port, transport };
    transport.receive(datagram);
  }

  /** RFC 8445 §7.3. What is not genuine gets no answer. */
  #check(datagram: Buffer, from: RemoteInfo, { sender }: UdpPlace): void {
    const message = parseStun(datagram);
    const isRequest = message?.messageClass === "request" && message.method === stunMethods.binding && !message.isClassic;
    const ufrag = isRequest ? attributeOf(message, stunAttributes.username)?.toString("utf8").split(":", 1)[0] : undefined;
    const registered = ufrag === undefined ? undefined : this.#byUfrag.get(ufrag);
    if (!message || ufrag === undefined || !registered || !hasIntegrity("sha1", registered.key, message)) {
      this.foreign++;
      return;
    }
    const { transport, key } = registered;
    const path: PeerPath = { sender, address: from.address, port: from.port };
    // A lite agent is always controlled (§6.1.1): the peer has to take the other role.
    if (attributeOf(message, iceAttributes.controlled)) {
      answer(path, message, key, "error", [[stunAttributes.errorCode, errorCodeValue(roleConflict)]]);
      return;
    }
    this.#claim(transport, from);
    const isNominated = attributeOf(message, iceAttributes.useCandidate) !== undefined;
    const unused = transport.checked(path, { ufrag, isNominated });
    for (const old of unused) this.#byUfrag.delete(old.ufrag);
    const address = encodeXorAddress(from.address, from.port, message.transaction);
    answer(path, message, key, "success", [[stunAttributes.xorMappedAddress, address]]);
    transport.start();
  }

  /** Datagrams from there belong to the peer from now on. */
  #claim(transport: PeerTransport, from: RemoteInfo): void {
    const key = addressKey(from);
    if (this.#byAddress.get(key) === transport) return;
    const addresses = this.#addresses.get(transport);
    if (!addresses) return;
    if (addresses.size === mostPathsOfPeer) {
      const [oldest] = addresses;
      addresses.delete(oldest as string);
      if (this.#byAddress.get(oldest as string) === transport) this.#byAddress.delete(oldest as string);
    }
    addresses.add(key);
    this.#byAddress.set(key, transport);
    this.#last = undefined;
  }
}

const addressKey = ({ address, port }: RemoteInfo): string => `${address} ${port}`;

function answer(
  { sender, address, port }: PeerPath,
  { transaction }: StunMessage,
  key: KeyObject,
  messageClass: "success" | "error",
  attributes: readonly WrittenAttribute[],
): void {
  const method = stunMethods.binding;
  sender.send(
    writeStun({ messageClass, method, transaction, attributes, integrity: { hash: "sha1", key }, fingerprint: true }),
    port,
    address,
  );
}

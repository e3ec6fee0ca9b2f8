import { createHash, randomBytes } from "node:crypto";
import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { once } from "node:events";
import { connect, Socket } from "node:net";
import os from "node:os";
import { connect as connectTls } from "node:tls";
import { openCertificates } from "../../servers/core/certificates/installation-certificates.ts";
import { loadDigestUsers } from "../../servers/core/credentials/digest-users.ts";
import { createLog } from "../../servers/core/service/log.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { hasIntegrity } from "../../servers/webrtc/stun/message-integrity.ts";
import { stunAttributes, stunMethods } from "../../servers/webrtc/stun/stun-attributes.ts";
import { attributeOf, magicCookie, parseStun, type StunMessage } from "../../servers/webrtc/stun/stun-message.ts";
import { decodeXorAddress, encodeXorAddress, type TransportAddress } from "../../servers/webrtc/stun/transport-address.ts";
import { type IntegrityKey, uint32, type WrittenAttribute, writeStun } from "../../servers/webrtc/stun/write-stun.ts";
import { StreamFraming } from "../../servers/webrtc/turn/stream-framing.ts";
import type { AllocationState, TurnRequestEvent } from "../../servers/webrtc/turn/turn-observer.ts";
import { listenTurn, type TurnServer, type TurnServerOptions } from "../../servers/webrtc/turn/turn-server.ts";
import { onEnd } from "../support/start-service.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { until } from "../support/until.ts";

export const realm = "backlot";
export const user = { username: "ada", password: "lovelace" };
export const secret = "shared between both";
export const hasIpv6 = Object.values(os.networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === "::1"));

/** Of an authority that nobody trusts. */
export async function testCertificates() {
  const log = createLog({ level: () => "error", write: () => {} });
  return await openCertificates({ folder: temporaryDir(), log, onStop: (release) => void onEnd(release) });
}

/** Each part can be changed alone. */
export interface TurnChanges extends Partial<Omit<TurnServerOptions, "limits" | "lifetimes" | "relays" | "streams" | "onStop">> {
  readonly limits?: Partial<TurnServerOptions["limits"]>;
  readonly lifetimes?: Partial<TurnServerOptions["lifetimes"]>;
  readonly relays?: Partial<TurnServerOptions["relays"]>;
  readonly streams?: Partial<TurnServerOptions["streams"]>;
}

export interface TurnUnderTest extends TurnServer {
  readonly requests: TurnRequestEvent[];
  readonly opened: AllocationState[];
  readonly closed: { readonly allocation: AllocationState; readonly reason: string }[];
  readonly logs: string[];
  /** Moves both clocks on, and lets the engine end what has expired. */
  advance(ms: number): Promise<void>;
  stop(): Promise<void>;
}

/** STUN and TURN on free ports, stopped after the test. */
export async function startTurn(changes: TurnChanges = {}): Promise<TurnUnderTest> {
  const releases: (() => void | Promise<void>)[] = [];
  const stop = async () => {
    for (const release of releases.splice(0).reverse()) await release();
  };
  onEnd(stop);
  let shift = 0;
  const requests: TurnRequestEvent[] = [];
  const opened: AllocationState[] = [];
  const closed: { allocation: AllocationState; reason: string }[] = [];
  const logs: string[] = [];
  const both = { host: "127.0.0.1", advertised: "127.0.0.1" };
  const server = await listenTurn({
    ...{ port: 0, openToLan: false, realm, software: "Backlot test", secrets: [secret], receiveBufferBytes: 1 << 20 },
    requestsPerSecond: 10_000,
    turns: new WorkTurns(),
    users: loadDigestUsers([`${user.username}:${user.password}`, "bob:builder"], realm),
    passwordAlgorithms: ["SHA-256", "MD5"],
    allowedPeers: ["loopback"],
    observer: {
      onRequest: (event) => void requests.push(event),
      onOpened: (allocation) => void opened.push(allocation),
      onClosed: (allocation, reason) => void closed.push({ allocation, reason }),
    },
    log: createLog({ level: () => "debug", write: ({ level, text }) => void logs.push(`${level} ${text}`) }),
    now: () => performance.now() + shift,
    wallNow: () => Date.now() + shift,
    ...changes,
    relays: {
      addresses: { IPv4: both, ...(hasIpv6 && { IPv6: { host: "::1", advertised: "::1" } }) },
      ports: { first: 49_152, last: 65_535 },
      receiveBufferBytes: 1 << 18,
      ...changes.relays,
    },
    lifetimes: {
      ...{ allocation: 600_000, longestAllocation: 3_600_000, permission: 300_000, channel: 600_000 },
      ...{ nonce: 3_600_000, reservation: 30_000, ...changes.lifetimes },
    },
    limits: {
      ...{ allocations: 1_000, allocationsPerUser: 100, permissions: 10, channels: 10, delayedBytes: 1 << 20 },
      ...{ transactions: 1_000, failures: 100, failureWindowMs: 60_000, challengesPerSecond: 1_000, ...changes.limits },
    },
    streams: {
      connections: 1_000,
      connectionsPerAddress: 1_000,
      unsentBytes: 1 << 20,
      allUnsentBytes: 256 << 20,
      idleMs: 60_000,
      ...changes.streams,
    },
    onStop: (release) => void releases.push(release),
  });
  return {
    ...{ port: server.port, tlsPort: server.tlsPort, engine: server.engine, requests, opened, closed, logs, stop },
    async advance(ms) {
      // One that has begun may have passed what expires now.
      await server.engine.tick();
      shift += ms;
      await server.engine.tick();
    },
  };
}

export type Transport = "udp" | "tcp" | "tls";

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

const newTransaction = (): Buffer => Buffer.concat([uint32(magicCookie), randomBytes(12)]);

export interface RequestOptions {
  readonly credentials?: Credentials | undefined;
  readonly integrity?: IntegrityKey;
  readonly transaction?: Buffer;
}

/** A client of STUN and TURN that can also do wrong. */
export class TurnClientUnderTest {
  readonly messages: StunMessage[] = [];
  /** ChannelData with its header, without padding. */
  readonly channelData: Buffer[] = [];
  isClosed = false;
  /** The last one that the server gave. */
  nonce = Buffer.alloc(0);
  send: (bytes: Buffer) => void;
  readonly localPort: () => number;
  readonly socket: UdpSocket | Socket;

  readonly close: () => Promise<void>;

  private constructor(socket: UdpSocket | Socket, send: (bytes: Buffer) => void, localPort: () => number, close: () => Promise<void>) {
    this.close = close;
    this.socket = socket;
    this.send = send;
    this.localPort = localPort;
  }

  static async connect(
    server: Pick<TurnServer, "port" | "tlsPort">,
    transport: Transport = "udp",
    host = "127.0.0.1",
    /** Over UDP: the address that it sends from. */
    localAddress?: string,
  ): Promise<TurnClientUnderTest> {
    if (transport === "udp") {
      const socket = createSocket(host.includes(":") ? "udp6" : "udp4");
      let closing: Promise<void> | undefined;
      const close = () => (closing ??= new Promise<void>((resolve) => socket.close(() => resolve())));
      onEnd(close);
      if (localAddress !== undefined) socket.bind(0, localAddress);
      socket.connect(server.port, host);
      await once(socket, "connect");
      const connected = new TurnClientUnderTest(
        socket,
        (bytes) => socket.send(bytes),
        () => socket.address().port,
        close,
      );
      socket.on("message", (datagram) => connected.#receive(datagram));
      return connected;
    }
    const socket =
      transport === "tcp"
        ? connect({ port: server.port, host })
        : connectTls({ port: server.tlsPort, host, rejectUnauthorized: false, servername: "localhost" });
    onEnd(() => socket.destroy());
    socket.on("error", () => {});
    await once(socket, transport === "tcp" ? "connect" : "secureConnect");
    const client = new TurnClientUnderTest(
      socket,
      (bytes) => void socket.write(bytes),
      () => socket.localPort ?? 0,
      async () => void socket.destroy(),
    );
    const framing = new StreamFraming();
    socket.on("data", (chunk) => framing.push(chunk, (bytes, start, end) => client.#receive(bytes.subarray(start, end))));
    socket.on("close", () => {
      client.isClosed = true;
    });
    return client;
  }

  #receive(bytes: Buffer): void {
    const message = parseStun(bytes);
    if (message) this.messages.push(message);
    else this.channelData.push(bytes.subarray(0, 4 + bytes.readUInt16BE(2)));
  }

  async answerTo(transaction: Buffer): Promise<StunMessage> {
    return await until(() => this.messages.find((message) => message.transaction.equals(transaction)));
  }

  /** One request, as it is. */
  async raw(method: number, attributes: readonly WrittenAttribute[], options: RequestOptions = {}): Promise<StunMessage> {
    const transaction = options.transaction ?? newTransaction();
    this.send(writeStun({ messageClass: "request", method, transaction, attributes, integrity: options.integrity, fingerprint: true }));
    return await this.answerTo(transaction);
  }

  /** A request with credentials; asks for a nonce first. Checks the integrity of the response. */
  async request(method: number, attributes: readonly WrittenAttribute[] = [], options: RequestOptions = {}): Promise<StunMessage> {
    const { username, password } = options.credentials ?? user;
    if (this.nonce.length === 0) this.nonce = Buffer.from(requiredValue(await this.raw(method, attributes), stunAttributes.nonce));
    const key = longTermKey("md5", username, password);
    const all = [...attributes, ...credentialAttributes(username, this.nonce)];
    const answer = await this.raw(method, all, { ...options, integrity: { hash: "sha1", key } });
    const nonce = attributeOf(answer, stunAttributes.nonce);
    if (nonce) this.nonce = Buffer.from(nonce);
    else if (!hasIntegrity("sha1", key, answer)) throw new Error("the response has no right MESSAGE-INTEGRITY");
    return answer;
  }

  allocate(attributes: readonly WrittenAttribute[] = [], options: RequestOptions = {}): Promise<StunMessage> {
    return this.request(stunMethods.allocate, [udpTransport, ...attributes], options);
  }

  /** An allocation that must succeed; resolves with its relayed addresses. */
  async relayed(attributes: readonly WrittenAttribute[] = [], options: RequestOptions = {}): Promise<readonly TransportAddress[]> {
    const answer = await this.allocate(attributes, options);
    if (answer.messageClass !== "success") throw new Error(`Allocate: ${errorOf(answer)}`);
    return addressesOf(answer, stunAttributes.xorRelayedAddress);
  }

  async relayedPort(): Promise<number> {
    return (await this.relayed())[0]?.port ?? 0;
  }

  refresh(seconds: number, attributes: readonly WrittenAttribute[] = []): Promise<StunMessage> {
    return this.request(stunMethods.refresh, [[stunAttributes.lifetime, uint32(seconds)], ...attributes]);
  }

  permit(...addresses: readonly string[]): Promise<StunMessage> {
    return this.peerRequest(
      stunMethods.createPermission,
      addresses.map((address) => [address, 0]),
    );
  }

  bindChannel(number: number, port: number, address = "127.0.0.1"): Promise<StunMessage> {
    return this.peerRequest(stunMethods.channelBind, [[address, port]], [[stunAttributes.channelNumber, channelValue(number)]]);
  }

  /** XOR-PEER-ADDRESS of IPv6 depends on the transaction. */
  peerRequest(
    method: number,
    peers: readonly (readonly [address: string, port: number])[],
    attributes: readonly WrittenAttribute[] = [],
  ): Promise<StunMessage> {
    const transaction = newTransaction();
    const written = peers.map(
      ([address, port]): WrittenAttribute => [stunAttributes.xorPeerAddress, encodeXorAddress(address, port, transaction)],
    );
    return this.request(method, [...attributes, ...written], { transaction });
  }

  indicate(address: string, port: number, data: Buffer, attributes: readonly WrittenAttribute[] = []): void {
    const transaction = newTransaction();
    this.send(
      writeStun({
        ...{ messageClass: "indication", method: stunMethods.send, transaction, fingerprint: false },
        attributes: [
          [stunAttributes.xorPeerAddress, encodeXorAddress(address, port, transaction)],
          [stunAttributes.data, data],
          ...attributes,
        ],
      }),
    );
  }

  /** The data of Data indications with their peers. */
  received(): { readonly port: number; readonly data: string }[] {
    return this.messages.flatMap((message) => {
      const data = attributeOf(message, stunAttributes.data);
      return data ? [{ port: addressesOf(message, stunAttributes.xorPeerAddress)[0]?.port ?? 0, data: data.toString() }] : [];
    });
  }

  /** Of a stream, as the next. */
  stopReading(): void {
    if (this.socket instanceof Socket) this.socket.removeAllListeners("data").pause();
  }

  disconnect(): void {
    if (this.socket instanceof Socket) this.socket.destroy();
  }

  async closed(): Promise<void> {
    await until(() => this.isClosed);
  }
}

/** A peer without TURN: a socket that keeps what it receives. */
export class Peer {
  readonly received: { readonly data: string; readonly port: number }[] = [];
  readonly socket: UdpSocket;

  private constructor(socket: UdpSocket) {
    this.socket = socket;
    socket.on("message", (data, { port }) => void this.received.push({ data: data.toString(), port }));
  }

  static async open(host = "127.0.0.1"): Promise<Peer> {
    const socket = createSocket(host.includes(":") ? "udp6" : "udp4");
    onEnd(() => new Promise<void>((resolve) => socket.close(() => resolve())));
    socket.bind(0, host);
    await once(socket, "listening");
    return new Peer(socket);
  }

  get port(): number {
    return this.socket.address().port;
  }

  async next(count = 1): Promise<readonly string[]> {
    await until(() => this.received.length >= count);
    return this.received.map(({ data }) => data);
  }
}

export const udpTransport: WrittenAttribute = [stunAttributes.requestedTransport, Buffer.from([17, 0, 0, 0])];
export const evenPort = (reserve: boolean): WrittenAttribute => [stunAttributes.evenPort, Buffer.from([reserve ? 0x80 : 0])];
export const requestedFamily = (number: number): WrittenAttribute => [
  stunAttributes.requestedAddressFamily,
  Buffer.from([number, 0, 0, 0]),
];
export const channelValue = (number: number): Buffer => Buffer.from([number >> 8, number & 0xff, 0, 0]);

export function channelMessage(number: number, data: string, padding = 0): Buffer {
  const bytes = Buffer.from(data);
  return Buffer.concat([Buffer.from([number >> 8, number & 0xff, bytes.length >> 8, bytes.length & 0xff]), bytes, Buffer.alloc(padding)]);
}

export const longTermKey = (hash: "md5" | "sha256", username: string, password: string): Buffer =>
  createHash(hash).update(`${username}:${realm}:${password}`).digest();

export const credentialAttributes = (username: string, nonce: Buffer): readonly WrittenAttribute[] => [
  [stunAttributes.username, Buffer.from(username)],
  [stunAttributes.realm, Buffer.from(realm)],
  [stunAttributes.nonce, nonce],
];

export function requiredValue(message: StunMessage, type: number): Buffer {
  const value = attributeOf(message, type);
  if (!value) throw new Error(`the ${message.messageClass} has no attribute ${type.toString(16)}: ${errorOf(message)}`);
  return value;
}

export const addressesOf = (message: StunMessage, type: number): readonly TransportAddress[] =>
  message.attributes.flatMap((attribute) => {
    const address = attribute.type === type ? decodeXorAddress(attribute.value, message.transaction) : undefined;
    return address ? [address] : [];
  });

/** 0 for a success. */
export function errorOf(message: StunMessage): number {
  const value = attributeOf(message, stunAttributes.errorCode);
  return value ? (value[2] as number) * 100 + (value[3] as number) : 0;
}

export const lifetimeOf = (message: StunMessage): number => requiredValue(message, stunAttributes.lifetime).readUInt32BE();

/** Of UDP over IPv4. */
export async function isFreePort(port: number): Promise<boolean> {
  const socket = createSocket("udp4");
  socket.bind({ port, address: "127.0.0.1", exclusive: true });
  const free = await once(socket, "listening").then(
    () => true,
    () => false,
  );
  await new Promise<void>((resolve) => socket.close(() => resolve()));
  return free;
}

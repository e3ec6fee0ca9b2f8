import { createHash, createSecretKey, randomBytes } from "node:crypto";
import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { once } from "node:events";
import type { IceServer } from "../../contract/services/webrtc.ts";
import { stunAttributes, stunMethods } from "../../servers/webrtc/stun/stun-attributes.ts";
import { attributeOf, magicCookie, parseStun, type StunMessage } from "../../servers/webrtc/stun/stun-message.ts";
import { encodeXorAddress } from "../../servers/webrtc/stun/transport-address.ts";
import { uint32, type WrittenAttribute, writeStun } from "../../servers/webrtc/stun/write-stun.ts";

export interface TurnCredentials {
  /** Of UDP and TCP. */
  readonly port: number;
  readonly tlsPort: number;
  readonly username: string;
  readonly password: string;
}

const realm = "backlot";
/** Over UDP, what is not answered is sent again. */
const repeatMs = 250;
/** Permissions last for five minutes. */
const refreshMs = 120_000;
const channel = 0x4000;

export function credentialsOf(servers: readonly IceServer[]): TurnCredentials {
  const { urls, username = "", credential: password = "" } = servers.find((server) => server.username !== undefined) ?? { urls: [] };
  const portOf = (scheme: string) => Number(urls.map((url) => new RegExp(`^${scheme}:.*:(\\d+)\\?`).exec(url)?.[1]).find(Boolean) ?? 0);
  return { port: portOf("turn"), tlsPort: portOf("turns"), username, password };
}

const transactionAt = 4;
const newTransaction = (): Buffer => Buffer.concat([uint32(magicCookie), randomBytes(12)]);

/** Signed where there are credentials. */
export function stunRequest(method: number, attributes: readonly WrittenAttribute[], credentials?: TurnCredentials, nonce = ""): Buffer {
  const request = { messageClass: "request", method, transaction: newTransaction(), fingerprint: true } as const;
  if (!credentials) return writeStun({ ...request, attributes });
  const { username, password } = credentials;
  const key = createSecretKey(createHash("md5").update(`${username}:${realm}:${password}`).digest());
  const named: readonly WrittenAttribute[] = [
    [stunAttributes.username, Buffer.from(username)],
    [stunAttributes.realm, Buffer.from(realm)],
    [stunAttributes.nonce, Buffer.from(nonce)],
  ];
  return writeStun({ ...request, attributes: [...attributes, ...named], integrity: { hash: "sha1", key } });
}

export interface TurnRelay {
  /** The data go over a channel and the relay to a peer that sends them back. */
  echo(data: Buffer): Promise<void>;
  close(): Promise<void>;
}

/** A client of TURN over UDP with an allocation, and a peer that it has bound a channel to. */
export async function openTurnRelay(credentials: TurnCredentials): Promise<TurnRelay> {
  const [socket, peer] = await Promise.all([openSocket(), openSocket()]);
  peer.on("message", (data, from) => peer.send(data, from.port, from.address));
  const close = () => Promise.all([socket, peer].map((one) => new Promise<void>((resolve) => one.close(() => resolve())))).then(() => {});
  const waiting = new Map<string, (bytes: Buffer) => void>();
  socket.on("message", (bytes) => waiting.get(keyOf(bytes))?.(bytes));
  const send = (bytes: Buffer) => socket.send(bytes, credentials.port, "127.0.0.1");

  /** Sends until it is answered. */
  async function ask(bytes: Buffer): Promise<Buffer> {
    const key = keyOf(bytes);
    const answered = new Promise<Buffer>((resolve) => waiting.set(key, resolve));
    send(bytes);
    const timer = setInterval(() => send(bytes), repeatMs);
    try {
      return await answered;
    } finally {
      clearInterval(timer);
      waiting.delete(key);
    }
  }

  let nonce = "";
  async function request(method: number, attributes: readonly WrittenAttribute[]): Promise<void> {
    for (let attempt = 0; attempt < 3; attempt++) {
      const answer = parseStun(await ask(stunRequest(method, attributes, nonce === "" ? undefined : credentials, nonce))) as StunMessage;
      if (answer.messageClass === "success") return;
      const code = attributeOf(answer, stunAttributes.errorCode);
      nonce = attributeOf(answer, stunAttributes.nonce)?.toString() ?? nonce;
      if (code?.[2] !== 4 || (code[3] !== 1 && code[3] !== 38)) throw new Error(`TURN refused a request: ${code?.toString("latin1", 4)}`);
    }
    throw new Error("TURN takes no credentials");
  }

  const bind = () =>
    request(stunMethods.channelBind, [
      [stunAttributes.channelNumber, Buffer.from([channel >> 8, channel & 255, 0, 0])],
      [stunAttributes.xorPeerAddress, encodeXorAddress("127.0.0.1", peer.address().port, newTransaction())],
    ]);
  let refreshedAt = performance.now();
  try {
    await request(stunMethods.allocate, [[stunAttributes.requestedTransport, Buffer.from([17, 0, 0, 0])]]);
    await bind();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    async echo(data) {
      if (performance.now() - refreshedAt > refreshMs) {
        refreshedAt = performance.now();
        await request(stunMethods.refresh, []);
        await bind();
      }
      const head = Buffer.alloc(4);
      head.writeUInt16BE(channel);
      head.writeUInt16BE(data.length, 2);
      await ask(Buffer.concat([head, data]));
    },
    async close() {
      await request(stunMethods.refresh, [[stunAttributes.lifetime, uint32(0)]]).catch(() => {});
      await close();
    },
  };
}

/** An answer of STUN repeats the transaction, an echo the data. */
const keyOf = (bytes: Buffer): string =>
  ((bytes[0] ?? 0) & 0xc0) === 0 ? bytes.toString("latin1", transactionAt, 20) : bytes.toString("latin1", 0, 4 + bytes.readUInt16BE(2));

async function openSocket(): Promise<UdpSocket> {
  const socket = createSocket("udp4");
  socket.on("error", () => {});
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return socket;
}

import { once } from "node:events";
import { connect as connectTcp, type Socket } from "node:net";
import WebSocket from "ws";
import { seededRandom } from "../../support/seeded-random.ts";
import { connectPacket, publishPacket, type Version, WireClient } from "../harness.ts";
import { type FuzzStream, fuzzStream } from "./fuzz-streams.ts";

export interface FuzzTarget {
  readonly port: number;
  readonly webSocketPort: number;
}

export interface FuzzOptions extends FuzzTarget {
  readonly seed: number;
  /** Numbers of the streams, the first and the one behind the last. */
  readonly from: number;
  readonly to: number;
  readonly atOnce: number;
  readonly until?: () => boolean;
}

/** How long a stream that waits for the broker's close is waited for. */
const patienceMs = 300;

/** Sends the streams; resolves with how many it were, and of how many bytes. */
export async function fuzz({
  seed,
  from,
  to,
  atOnce,
  until = () => false,
  ...target
}: FuzzOptions): Promise<{ streams: number; bytes: number }> {
  let next = from;
  let bytes = 0;
  const work = async () => {
    while (next < to && !until()) {
      const stream = streamOf(seed, next++);
      for (const chunk of stream.chunks) bytes += chunk.length;
      await send(target, stream);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return { streams: next - from, bytes };
}

const streamOf = (seed: number, number: number): FuzzStream => fuzzStream(seededRandom(seed * 1_000_003 + number));

async function send({ port, webSocketPort }: FuzzTarget, stream: FuzzStream): Promise<void> {
  if (stream.transport === "websocket") await sendFrames(webSocketPort, stream);
  else await sendBytes(stream.transport === "tcp" ? port : webSocketPort, stream);
}

async function sendBytes(port: number, { chunks, ending }: FuzzStream): Promise<void> {
  const socket = connectTcp(port, "127.0.0.1");
  socket.setNoDelay(true);
  socket.on("error", () => {});
  socket.resume();
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  for (const chunk of chunks) {
    if (socket.destroyed) break;
    socket.write(chunk);
    // Two chunks that are written at once would arrive as one.
    await new Promise(setImmediate);
  }
  if (ending === "resets") reset(socket);
  else if (ending === "closes") socket.end();
  await patiently(closed);
  socket.destroy();
  await closed;
}

async function sendFrames(port: number, { chunks, ending }: FuzzStream): Promise<void> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, "mqtt");
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  await Promise.race([once(socket, "open").catch(() => {}), closed]);
  for (const [index, chunk] of chunks.entries()) {
    if (socket.readyState !== socket.OPEN) break;
    // One message in parts, one frame each, and now and then a text.
    const isLast = index === chunks.length - 1;
    if (chunk.length % 31 === 5) socket.send(chunk.toString("latin1"));
    else socket.send(chunk, { fin: isLast || chunk.length % 3 !== 0 });
    await new Promise(setImmediate);
  }
  if (ending === "resets") socket.terminate();
  else if (ending === "closes") socket.close();
  await patiently(closed);
  socket.terminate();
  await closed;
}

function reset(socket: Socket): void {
  if (socket.destroyed || socket.connecting) socket.destroy();
  else socket.resetAndDestroy();
}

async function patiently(closed: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([
    closed,
    new Promise<void>((resolve) => {
      timer = setTimeout(resolve, patienceMs);
    }),
  ]);
  clearTimeout(timer);
}

/** A client in good order beside the fuzz: what it publishes it gets back, once and in order. */
export class Witness {
  private readonly client: WireClient;
  private sent = 0;
  private readonly topic: string;

  private constructor(client: WireClient, topic: string) {
    this.client = client;
    this.topic = topic;
  }

  static async join({ port }: FuzzTarget, version: Version): Promise<Witness> {
    const socket = connectTcp(port, "127.0.0.1");
    await once(socket, "connect");
    const client = new WireClient(socket, version);
    client.send(connectPacket(version, `witness of ${version}`));
    await client.expect("connack");
    const topic = `witness/${version}`;
    await client.subscribe(topic, { qos: 1 });
    return new Witness(client, topic);
  }

  /** Throws where the broker does anything else than hand one message on. */
  async look(): Promise<void> {
    const payload = String(++this.sent);
    const packetId = 1 + (this.sent % 0xffff);
    this.client.send({ ...publishPacket(this.topic, payload), qos: 1, packetId });
    const answers = [await this.client.next(), await this.client.next()];
    const message = answers.find((packet) => packet?.type === "publish");
    const isAcknowledged = answers.some((packet) => packet?.type === "puback" && packet.packetId === packetId);
    if (message?.type !== "publish" || message.payload.toString() !== payload || !isAcknowledged) {
      throw new Error(`The witness published ${payload} and got ${JSON.stringify(answers)}.`);
    }
    this.client.send({ type: "puback", packetId: message.packetId, reason: 0 });
  }
}

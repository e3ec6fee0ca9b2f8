import { once } from "node:events";
import type { Socket } from "node:net";
import { type AddressInfo, connect, createServer } from "node:net";
import { Duplex } from "node:stream";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { SharedBudget } from "../../servers/core/limits/shared-budget.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { separateParameterSets } from "../../servers/rtsp/media/parameter-sets.ts";
import type { H264Track } from "../../servers/rtsp/media/track.ts";
import { writeAmf } from "../../servers/rtsp/rtmp/amf0.ts";
import { messageType, writeMessage } from "../../servers/rtsp/rtmp/chunk-stream.ts";
import { FlvError, FlvMedia } from "../../servers/rtsp/rtmp/flv-media.ts";
import { RtmpConnection } from "../../servers/rtsp/rtmp/rtmp-connection.ts";
import { costOfMedia } from "../../servers/rtsp/rtmp/worker-messages.ts";
import { until } from "../support/until.ts";
import { onEnd, startRtsp } from "./harness.ts";
import { RawPublisher } from "./raw-publisher.ts";

/** Takes nothing of what is written until `takeAll`. */
class UnreadSocket extends Duplex {
  readonly remoteAddress = "192.0.2.1";
  readonly remotePort = 5_000;
  readonly bytesRead = 0;
  taken = 0;
  isTaking = false;
  #taken: (() => void) | undefined;

  setNoDelay(): this {
    return this;
  }

  override _read(): void {}

  override _write(bytes: Buffer, _encoding: BufferEncoding, taken: () => void): void {
    this.taken += bytes.length;
    if (this.isTaking) setImmediate(taken);
    else this.#taken = taken;
  }

  takeAll(): void {
    this.isTaking = true;
    this.#taken?.();
  }
}

it("[RTSP-206] of a client that leaves answers unread nothing more is carried out until it reads", async () => {
  const socket = new UnreadSocket();
  const turns = new WorkTurns();
  const connection = new RtmpConnection(socket as unknown as Socket, {
    limits: { messageBytes: 1 << 20, silenceMs: 60_000 },
    turns,
    held: new SharedBudget(1 << 30),
    onPublish() {},
    onMedia() {},
    onClosed() {},
  });
  onEnd(() => void socket.destroy());
  // Each byte of the handshake alone.
  for (const byte of Buffer.concat([Buffer.from([3]), Buffer.alloc(2 * 1_536)])) socket.push(Buffer.from([byte]));
  const ping = writeMessage({ type: messageType.userControl, chunkStream: 2, stream: 0, payload: Buffer.from([0, 6, 1, 2, 3, 4]) });
  const count = 5_000;
  socket.push(Buffer.concat(Array.from({ length: count }, () => ping)));
  for (let turn = 0; turn < 50; turn++) await nextTurn();
  expect(socket.writableLength).toBeGreaterThan(4_096);
  expect(socket.writableLength).toBeLessThan(4_096 + 2 * ping.length);
  socket.takeAll();
  await until(() => socket.taken >= 1 + 2 * 1_536 + count * ping.length);
  connection.close("the test has ended");
  turns.close();
});

it("[RTSP-226] an error of ours in a message of a client ends that client, with the reason", async () => {
  const socket = new UnreadSocket();
  socket.takeAll();
  const turns = new WorkTurns();
  const reasons: string[] = [];
  new RtmpConnection(socket as unknown as Socket, {
    limits: { messageBytes: 1 << 20, silenceMs: 60_000 },
    turns,
    held: new SharedBudget(1 << 30),
    onPublish() {
      throw new TypeError("it cannot be published");
    },
    onMedia() {},
    onClosed: (reason) => void reasons.push(reason),
  });
  onEnd(() => void socket.destroy());
  socket.push(Buffer.concat([Buffer.from([3]), Buffer.alloc(2 * 1_536)]));
  const command = (...values: Parameters<typeof writeAmf>[0]) =>
    socket.push(writeMessage({ type: messageType.command, chunkStream: 3, stream: 0, payload: writeAmf(values) }));
  command("connect", 1, { app: "live" });
  command("publish", 2, null, "a", "live");
  await until(() => socket.writableEnded);
  socket.destroy();
  await until(() => reasons.length > 0);
  expect(reasons).toEqual([expect.stringContaining("it cannot be published")]);
  turns.close();
});

/** A publisher of a connection that says that it is silent after 200 ms, and whose turn is over while `share` says so. */
async function openSilent(onPublish: (connection: RtmpConnection) => void) {
  const share = { isOver: false, later() {} };
  let work = () => {};
  const join = (_address: string, goOn: () => void) => {
    work = goOn;
    return share;
  };
  const reasons: string[] = [];
  const taken = { media: 0, published: 0 };
  const server = createServer((socket) => {
    const connection: RtmpConnection = new RtmpConnection(socket, {
      limits: { messageBytes: 1 << 20, silenceMs: 200 },
      turns: { join } as unknown as WorkTurns,
      held: new SharedBudget(1 << 30),
      onPublish() {
        taken.published++;
        onPublish(connection);
      },
      onMedia: () => taken.media++,
      onClosed: (reason) => void reasons.push(reason),
    });
  });
  onEnd(() => new Promise((resolve) => server.close(resolve)));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1").on("error", () => {});
  onEnd(() => client.destroy());
  const answers: Buffer[] = [];
  client.on("data", (bytes: Buffer) => answers.push(bytes));
  client.write(Buffer.concat([Buffer.from([3]), Buffer.alloc(2 * 1_536)]));
  const command = (...values: Parameters<typeof writeAmf>[0]) =>
    client.write(writeMessage({ type: messageType.command, chunkStream: 3, stream: 0, payload: writeAmf(values) }));
  command("connect", 1, { app: "live" });
  command("publish", 2, null, "a", "live");
  const begun = () => until(() => Buffer.concat(answers).includes("NetStream.Publish.Start"));
  return { begun, client, reasons, share, taken, work: () => work() };
}

it("[RTSP-262] a publisher whose messages wait for their turn is not silent, and is once they were taken", async () => {
  const { begun, client, reasons, share, taken, work } = await openSilent((connection) => connection.accept());
  await begun();
  share.isOver = true;
  client.write(writeMessage({ type: messageType.audio, chunkStream: 3, stream: 1, payload: Buffer.from([0xaf, 1, 0]) }));
  await delay(700);
  expect([taken.media, reasons]).toEqual([0, []]);
  share.isOver = false;
  work();
  expect(taken.media).toBe(1);
  await until(() => reasons.length > 0);
  expect(reasons).toEqual(["it sent nothing for too long"]);
});

it("[RTSP-262] a publisher that waits for the answer of the service has published in time", async () => {
  let asked: RtmpConnection | undefined;
  const { begun, reasons, taken } = await openSilent((connection) => {
    asked = connection;
  });
  await until(() => taken.published > 0);
  await delay(700);
  expect(reasons).toEqual([]);
  asked?.accept();
  await begun();
  await until(() => reasons.length > 0);
  expect(reasons).toEqual(["it sent nothing for too long"]);
});

it("[RTSP-262] a publisher that is read no further, since the service is behind, is not silent, and is once the service has taken what it sent", async () => {
  let connection: RtmpConnection | undefined;
  const { begun, client, reasons, taken } = await openSilent((opened) => {
    connection = opened;
    opened.accept();
  });
  await begun();
  const chunkSize = Buffer.from([0, 0, 0x10, 0]);
  client.write(writeMessage({ type: messageType.setChunkSize, chunkStream: 2, stream: 0, payload: chunkSize }));
  const payload = Buffer.alloc(1 << 19, 0xaf);
  const message = writeMessage({ type: messageType.audio, chunkStream: 3, stream: 1, payload });
  const sent = 40;
  for (let count = 0; count < sent; count++) client.write(message);
  await until(() => taken.media >= 16);
  await delay(700);
  expect([taken.media < sent, reasons]).toEqual([true, []]);
  let given = 0;
  await until(() => {
    const more = taken.media - given;
    given += more;
    connection?.taken(more * costOfMedia(payload));
    return given === sent;
  });
  expect(reasons).toEqual([]);
  await until(() => reasons.length > 0);
  expect(reasons).toEqual(["it sent nothing for too long"]);
});

it("[RTSP-207] a parameter set of a picture of megabytes is kept alone, and a long one not at all", () => {
  const picture = Buffer.alloc(4 << 20, 1);
  const unit = (at: number, length: number) => {
    const set = picture.subarray(at, at + length);
    set[0] = 0x68;
    set[1] = 0x80;
    return set;
  };
  const track: H264Track = { kind: "video", codec: "h264", clockRate: 90_000, sps: [], pps: [] };
  const { track: changed } = separateParameterSets(track, [unit(0, 10), unit(100, 5_000)]);
  expect((changed as H264Track).pps.map((set) => [set.length, set.buffer.byteLength])).toEqual([[10, 10]]);
  const media = new FlvMedia({ onTracks() {}, onTrack() {}, onFrame() {}, onWaiting() {} });
  const description = (head: readonly number[], bytes: number) => Buffer.concat([Buffer.from(head), Buffer.alloc(bytes)]);
  expect(() => media.push(messageType.video, 0, description([0x17, 0, 0, 0, 0], 20_000))).toThrow(FlvError);
  expect(() => media.push(messageType.audio, 0, description([0xaf, 0], 1_000))).toThrow(FlvError);
});

it("[RTSP-208] frames that wait for a track that never comes count for all streams: who has most ends", async () => {
  const server = await startRtsp({ rtmp: true, rtmpPort: 0, allMediaBytes: 1 << 20 });
  const client = await RawPublisher.publish(server, "a");
  const send = (type: number, payload: Buffer) => client.socket.write(writeMessage({ type, chunkStream: 3, stream: 1, payload }));
  const chunkSize = Buffer.from([0, 0, 0x10, 0]);
  client.socket.write(writeMessage({ type: messageType.setChunkSize, chunkStream: 2, stream: 0, payload: chunkSize }));
  send(messageType.data, writeAmf(["onMetaData", { videocodecid: 7, audiocodecid: 10 }]));
  // Its sound is described, and its pictures never are.
  send(messageType.audio, Buffer.from([0xaf, 0, 0x12, 0x10]));
  for (let frame = 0; frame < 400; frame++) send(messageType.audio, Buffer.concat([Buffer.from([0xaf, 1]), Buffer.alloc(4_000)]));
  await until(() => client.closed);
  expect(await server.ended(({ target }) => target === "/live/a")).toMatchObject({
    outcome: expect.stringContaining("RTSP_ALL_MEDIA_BYTES"),
  });
});

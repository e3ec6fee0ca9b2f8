import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import net from "node:net";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  connections,
  createBatchOrder,
  createFrameDecoder,
  openBatchSender,
  receiveBatches,
} from "../../servers/core/service/batch-stream.ts";
import type { ServiceBatch } from "../../servers/core/service/link.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { temporaryDir } from "../support/temporary-dir.ts";

const batchOf = (seq: number, bytes: number): ServiceBatch => ({
  seq,
  records: Buffer.alloc(bytes, seq),
  logs: Buffer.alloc(bytes % 7, seq + 1),
  droppedRows: seq * 2,
  droppedLogs: seq * 3,
});
const copyOf = (batch: ServiceBatch): ServiceBatch => ({ ...batch, records: Buffer.from(batch.records), logs: Buffer.from(batch.logs) });

/** The bytes of frames as a sender writes them, of batches that go over the same connection. */
async function framesOf(batches: readonly ServiceBatch[]): Promise<Buffer> {
  const sender = await openBatchSender();
  const chunks: Buffer[] = [];
  for (let count = 0; count < connections; count++) net.connect(sender.address).on("data", (chunk) => chunks.push(chunk));
  for (const batch of batches) sender.send(batch, () => {});
  await sender.end();
  return Buffer.concat(chunks);
}

describe("batches from a service's process", () => {
  it("[BL-128] arrive unchanged, also those sent before the connection, and their bytes are released", async () => {
    const sender = await openBatchSender();
    const sent = [batchOf(1, 0), batchOf(2, 10), batchOf(3, 3 << 20), batchOf(4, 300_000)];
    let released = 0;
    for (const batch of sent.slice(0, 2)) sender.send(batch, () => released++);
    const received: ServiceBatch[] = [];
    const receiver = receiveBatches({
      address: sender.address,
      onBatch: (batch) => received.push(copyOf(batch)),
      onError: (error) => expect.unreachable(error.message),
    });
    for (const batch of sent.slice(2)) sender.send(batch, () => released++);
    await sender.end();
    await receiver.ended;
    expect(received).toEqual(sent);
    expect(released).toBe(4);
    expect(process.platform === "win32" || existsSync(path.dirname(sender.address))).toBe(process.platform === "win32");
  });

  it("[BL-462] a folder for temporary files that is missing, or whose path is too long for a socket, is named", async () => {
    const long = path.join(temporaryDir(), "x".repeat(110));
    mkdirSync(long);
    const { TMPDIR } = process.env;
    onTestFinished(() => {
      if (TMPDIR === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = TMPDIR;
    });
    for (const folder of [path.join(long, "missing"), long]) {
      process.env.TMPDIR = folder;
      await expect(openBatchSender()).rejects.toMatchObject({
        code: "CONFIG_INVALID",
        message: expect.stringContaining(`The folder for temporary files, ${folder}, cannot be used`),
        hint: expect.stringContaining("TMPDIR"),
      });
      expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([]);
    }
  });

  it("[BL-128] only the first connections are accepted, and what is sent after the supervisor left is released", async () => {
    const sender = await openBatchSender();
    const receiver = receiveBatches({ address: sender.address, onBatch: () => {}, onError: () => {} });
    await new Promise<void>((resolve) => sender.send(batchOf(1, 10), resolve));
    const second = net.connect(sender.address);
    await once(second, "error");
    receiver.close();
    await receiver.ended;
    await new Promise<void>((resolve) => sender.send(batchOf(2, 10 << 20), resolve));
    await sender.end();
  });

  it("[BL-128] frames are found wherever the stream is split (seeds 1 to 50)", async () => {
    const sent = [0, 1, 700, 0, 40_000].map((bytes, place) => batchOf((place + 1) * connections, bytes));
    const bytes = await framesOf(sent);
    for (let seed = 1; seed <= 50; seed++) {
      const random = seededRandom(seed);
      const received: ServiceBatch[] = [];
      const decoder = createFrameDecoder((batch) => received.push(copyOf(batch)));
      for (let at = 0; at < bytes.length; ) {
        const length = 1 + random.below(seed % 2 === 0 ? 40 : 20_000);
        decoder.push(bytes.subarray(at, at + length));
        at += length;
      }
      expect(received).toEqual(sent);
    }
  });

  it("[BL-128] are in order, large and small ones in turn over several connections", async () => {
    const sender = await openBatchSender();
    const received: ServiceBatch[] = [];
    const receiver = receiveBatches({
      address: sender.address,
      onBatch: (batch) => received.push(copyOf(batch)),
      onError: (error) => expect.unreachable(error.message),
    });
    const sent = Array.from({ length: 24 }, (_, place) => batchOf(place + 1, place % 3 === 0 ? 300_000 : place));
    for (const batch of sent) sender.send(batch, () => {});
    await sender.end();
    await receiver.ended;
    expect(received.map(({ seq }) => seq)).toEqual(sent.map(({ seq }) => seq));
    expect(received).toEqual(sent);
  });

  it("[BL-128] those after one that a crashed process did not write are passed on at the end; numbers that repeat are refused", () => {
    const received: number[] = [];
    const order = createBatchOrder(({ seq }) => received.push(seq));
    for (const seq of [2, 1, 6, 4, 5]) order.add(batchOf(seq, 1));
    expect(received).toEqual([1, 2]);
    for (const seq of [2, 5]) expect(() => order.add(batchOf(seq, 1))).toThrow(RangeError);
    order.end();
    expect(received).toEqual([1, 2, 4, 5, 6]);
  });

  it.skipIf(process.platform === "win32")("[BL-285] several full batches leave a process in one turn of its event loop", async () => {
    const sender = await openBatchSender();
    // Reads only after the turn: what arrives was in the system's buffers.
    const sockets = Array.from({ length: connections }, () => net.connect(sender.address).pause());
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    await new Promise<void>((resolve) => sender.send(batchOf(1, 0), resolve));
    let handedOver = 0;
    for (let seq = 2; seq < 2 + connections; seq++) sender.send(batchOf(seq, 150_000), () => handedOver++);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(handedOver).toBe(connections);
    for (const socket of sockets) socket.resume();
    await sender.end();
  });

  it("[BL-128] invalid frames are refused (seeds 1 to 2,000)", () => {
    const refused = [0, 23, (256 << 20) + 1].map((length) => {
      const bytes = Buffer.alloc(64);
      bytes.writeUInt32LE(length, 0);
      return bytes;
    });
    for (const bytes of refused) expect(() => createFrameDecoder(() => {}).push(bytes)).toThrow(RangeError);
    for (let seed = 1; seed <= 2_000; seed++) {
      const random = seededRandom(seed);
      const bytes = Buffer.from(Array.from({ length: 200 }, () => random.below(256)));
      // A plausible length, so that the rest is read.
      bytes.writeUInt32LE(24 + random.below(100), 0);
      try {
        createFrameDecoder(() => {}).push(bytes);
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
      }
    }
  });
});

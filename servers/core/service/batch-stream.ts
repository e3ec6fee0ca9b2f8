/**
 * Batches go from a service's process to the supervisor over local sockets of their own: Unix sockets in a folder that only the
 * user may open, named pipes on Windows. Messages between processes are serialized objects, which allocate each batch several times
 * on both sides; here it is written from the buffer that it was made in, and read into one buffer that is reused.
 *
 * A frame, numbers little-endian: u32 bytes of the rest, u32 sequence number, f64 dropped rows, f64 dropped log lines,
 * u32 bytes of the records, the records (`RecordWriter`), the log lines (`LogWriter`).
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import type { ServiceBatch } from "./link.ts";
import { errorText, ServiceError } from "./service-error.ts";

const frameHead = 28;
/**
 * Connections between the two, used in turn. The system buffers about 200 KiB of each, and a service fills the buffers once in a turn of
 * its event loop: over one connection a full batch in a turn, while several become full in a long one.
 */
export const connections = 4;
/** Of the supervisor's buffer of a connection; it grows for a longer frame and is released after it. */
const readBytes = 64 << 10;
/** Batches that may arrive before an earlier one: more than a service can hold. */
const mostEarly = 1_024;
/** A service that announces more is faulty: a frame is a batch of some hundred kilobytes and at most one record beyond that. */
const mostFrameBytes = 256 << 20;

/** The service's end. */
export interface BatchSender {
  /** To be sent to the supervisor, which opens all connections to it. */
  readonly address: string;
  /** Calls `release` when the bytes of the batch may be used again. */
  send(batch: ServiceBatch, release: () => void): void;
  /** Resolves when everything was written to the sockets, or the supervisor has disconnected. */
  end(): Promise<void>;
}

/** Throws CONFIG_INVALID where the folder for temporary files cannot be used. */
export async function openBatchSender(): Promise<BatchSender> {
  const place = socketPlace();
  const server = net.createServer();
  const sockets: net.Socket[] = [];
  let ended = false;
  /** Batches from before the supervisor was connected. */
  let waiting: (() => void)[] = [];
  const connected = new Promise<void>((resolve) => {
    server.on("connection", (socket) => {
      // When the supervisor exits, the link ends this process.
      socket.on("error", () => {});
      sockets.push(socket);
      if (sockets.length < connections) return;
      server.close();
      place.remove();
      for (const write of waiting) write();
      waiting = [];
      resolve();
    });
  });
  server.listen(place.address);
  await once(server, "listening").catch((cause: unknown) => {
    place.remove();
    throw unusableFolder(cause);
  });
  server.unref();

  function write(batch: ServiceBatch, release: () => void) {
    const socket = sockets[batch.seq % connections];
    if (!socket || socket.destroyed) {
      release();
      return;
    }
    const head = Buffer.allocUnsafe(frameHead);
    head.writeUInt32LE(frameHead - 4 + batch.records.length + batch.logs.length, 0);
    head.writeUInt32LE(batch.seq, 4);
    head.writeDoubleLE(batch.droppedRows, 8);
    head.writeDoubleLE(batch.droppedLogs, 16);
    head.writeUInt32LE(batch.records.length, 24);
    socket.cork();
    socket.write(head);
    socket.write(batch.records);
    socket.write(batch.logs, release);
    socket.uncork();
  }

  return {
    address: place.address,
    send(batch, release) {
      if (ended) release();
      else if (sockets.length === connections) write(batch, release);
      else waiting.push(() => write(batch, release));
    },
    async end() {
      if (ended) return;
      ended = true;
      if (waiting.length > 0) await connected;
      server.close();
      place.remove();
      await Promise.all(
        sockets.map(async (socket) => {
          if (socket.destroyed) return;
          const closed = once(socket, "close").catch(() => {});
          socket.end();
          await closed;
        }),
      );
    },
  };
}

/** A name that nobody else can guess or open. */
function socketPlace(): { address: string; remove(): void } {
  if (process.platform === "win32") return { address: `\\\\.\\pipe\\backlot-${randomBytes(16).toString("hex")}`, remove() {} };
  const folder = temporaryFolder();
  return { address: path.join(folder, "batches"), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function temporaryFolder(): string {
  try {
    return mkdtempSync(path.join(os.tmpdir(), "backlot-"));
  } catch (cause) {
    throw unusableFolder(cause);
  }
}

const unusableFolder = (cause: unknown) =>
  new ServiceError(
    "CONFIG_INVALID",
    `The folder for temporary files, ${os.tmpdir()}, cannot be used: ${errorText(cause)}`,
    // The name of a Unix socket has 103 bytes at most on some systems.
    "Set TMPDIR to a folder that exists and that you may write to, with a path of at most 80 characters.",
    { cause },
  );

/** The supervisor's end. */
export interface BatchReceiver {
  /** Resolves when the service has sent its last byte. */
  readonly ended: Promise<void>;
  close(): void;
}

/** `onBatch` gets views that are valid until it returns. A damaged frame ends the connections and is reported to `onError`. */
export function receiveBatches(options: {
  readonly address: string;
  readonly onBatch: (batch: ServiceBatch) => void;
  readonly onError: (error: Error) => void;
}): BatchReceiver {
  const order = createBatchOrder(options.onBatch);
  let failed = false;
  const sockets = Array.from({ length: connections }, () => {
    const decoder = createFrameDecoder(order.add);
    const socket = net.connect({
      path: options.address,
      onread: {
        buffer: Buffer.allocUnsafeSlow(readBytes),
        callback(length, buffer) {
          try {
            decoder.push((buffer as Buffer).subarray(0, length));
          } catch (error) {
            socket.destroy(error as Error);
          }
          return true;
        },
      },
    });
    socket.on("error", (error) => {
      // What the others bring has no predecessor any more.
      for (const other of sockets) other.destroy();
      if (!failed) options.onError(error);
      failed = true;
    });
    return socket;
  });
  const ended = Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once("close", resolve)))).then(order.end);
  return {
    ended,
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

export interface BatchOrder {
  /** Throws a RangeError where numbers repeat. */
  add(batch: ServiceBatch): void;
  /** Nothing more will come: passes on what is left. The process may have died before it had written an earlier one. */
  end(): void;
}

/** Passes batches on by their sequence numbers; one that arrives before its predecessor is copied. */
export function createBatchOrder(onBatch: (batch: ServiceBatch) => void): BatchOrder {
  let next = 1;
  const early = new Map<number, ServiceBatch>();
  return {
    add(batch) {
      if (batch.seq !== next) {
        if (batch.seq < next || early.has(batch.seq) || early.size >= mostEarly)
          throw new RangeError(`batch ${batch.seq} instead of ${next}`);
        early.set(batch.seq, { ...batch, records: Buffer.from(batch.records), logs: Buffer.from(batch.logs) });
        return;
      }
      for (let due: ServiceBatch | undefined = batch; due; due = early.get(next)) {
        early.delete(next++);
        onBatch(due);
      }
    },
    end() {
      for (const [, batch] of [...early].sort(([one], [other]) => one - other)) onBatch(batch);
      early.clear();
    },
  };
}

/** Cuts a stream of bytes into frames. Throws a RangeError where the bytes are not frames. */
export function createFrameDecoder(onBatch: (batch: ServiceBatch) => void): { push(chunk: Buffer): void } {
  /** The beginning of a frame whose end has not arrived. */
  let kept = Buffer.alloc(0);
  let length = 0;

  function keep(bytes: Buffer, needed: number) {
    if (kept.length < needed) {
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, readBytes));
      kept.copy(grown, 0, 0, length);
      kept = grown;
    }
    bytes.copy(kept, length);
    length += bytes.length;
  }

  return {
    push(chunk) {
      let at = 0;
      while (at < chunk.length) {
        if (length === 0) {
          const end = at + 4 <= chunk.length ? at + 4 + frameLength(chunk, at) : Number.POSITIVE_INFINITY;
          if (end > chunk.length) {
            keep(chunk.subarray(at), end === Number.POSITIVE_INFINITY ? readBytes : end - at);
            return;
          }
          onBatch(decodeFrame(chunk.subarray(at + 4, end)));
          at = end;
          continue;
        }
        const needed = length < 4 ? 4 : 4 + frameLength(kept, 0);
        const taken = Math.min(needed - length, chunk.length - at);
        keep(chunk.subarray(at, at + taken), needed);
        at += taken;
        if (length < 4 || length < 4 + frameLength(kept, 0)) continue;
        const frame = kept.subarray(4, length);
        length = 0;
        onBatch(decodeFrame(frame));
        if (kept.length > 4 * readBytes) kept = Buffer.alloc(0);
      }
    },
  };
}

function frameLength(bytes: Buffer, at: number): number {
  const length = bytes.readUInt32LE(at);
  if (length < frameHead - 4 || length > mostFrameBytes) throw new RangeError(`a frame of ${length} bytes`);
  return length;
}

function decodeFrame(frame: Buffer): ServiceBatch {
  const records = frame.readUInt32LE(20);
  const logsAt = frameHead - 4 + records;
  if (logsAt > frame.length) throw new RangeError("records beyond the end of their frame");
  return {
    seq: frame.readUInt32LE(0),
    droppedRows: frame.readDoubleLE(4),
    droppedLogs: frame.readDoubleLE(12),
    records: frame.subarray(frameHead - 4, logsAt),
    logs: frame.subarray(logsAt),
  };
}

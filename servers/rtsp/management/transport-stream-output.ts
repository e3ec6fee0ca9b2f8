import type { ServerResponse } from "node:http";
import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";
import { errorText } from "../../core/service/service-error.ts";
import { oneStep, type WorkConnection } from "../../core/turns/work-connection.ts";
import { WorkQueue } from "../../core/turns/work-queue.ts";
import { FrameFaults, type FrameFaultsOptions } from "../faults/frame-faults.ts";
import { memoryOf } from "../media/frame-memory.ts";
import type { Frame } from "../media/track.ts";
import { MpegTsMuxer } from "../mpegts/mpegts-muxer.ts";
import type { Stream } from "../streams/stream.ts";
import type { FrameReader } from "../streams/stream-readers.ts";

export interface TransportStreamLimits {
  /** A client that has more unsent bytes, also those that wait for its turn, is skipped to the next key frame. */
  readonly unsentBytes: number;
  readonly stallMs: number;
}

/** What is known of a reader from outside. */
export interface TransportStreamReader {
  sends(bytes: number): void;
  end(reason: string, by: "client" | "server"): void;
}

/**
 * Sends a stream as MPEG-TS until the client leaves or the stream ends, in the turns of `work`. `open` is called once it is certain that there is a stream to send.
 * Throws an HttpRefusal of 503 where it cannot be one.
 */
export function sendTransportStream(
  stream: Stream,
  response: ServerResponse,
  limits: TransportStreamLimits,
  faults: Omit<FrameFaultsOptions, "keyTrack" | "delayed" | "work" | "deliver">,
  work: WorkConnection,
  open: () => TransportStreamReader,
): void {
  let muxer = muxerOf(stream);
  const counts = open();
  let waitsForKey = stream.keyTrack >= 0;
  let slowSince: number | undefined;
  const queue = new WorkQueue(work, (error) => {
    counts.end(errorText(error), "server");
    response.destroy();
  });
  /** It is the turn of this reader already. */
  let isInTurn = false;
  let isJoining = true;
  const inTurn = (act: () => void, bytes = 0) => (isInTurn ? act() : queue.add(bytes, oneStep(act)));

  function mayTake(frame: Frame): boolean {
    const unsent = response.writableLength + queue.bytes;
    if (unsent > limits.unsentBytes) {
      if (slowSince === undefined) stream.skips++;
      slowSince ??= performance.now();
      waitsForKey = stream.keyTrack >= 0;
      if (performance.now() - slowSince > limits.stallMs) {
        counts.end(`it took nothing for ${limits.stallMs / 1_000} s`, "server");
        response.destroy();
      }
      return false;
    }
    if (slowSince !== undefined && unsent > limits.unsentBytes / 2) return false;
    slowSince = undefined;
    if (waitsForKey && !(frame.track === stream.keyTrack && frame.isKey)) return false;
    waitsForKey = false;
    return true;
  }

  function onGap(): void {
    waitsForKey = stream.keyTrack >= 0;
  }

  function write(frame: Frame): void {
    const bytes = muxer.push(frame);
    stream.bytesSent += bytes.length;
    counts.sends(bytes.length);
    if (bytes.length > 0) response.write(bytes);
  }

  const deliver = (frame: Frame) => mayTake(frame) && inTurn(() => write(frame), memoryOf(frame));
  const frameFaults = new FrameFaults({ ...faults, keyTrack: stream.keyTrack, delayed: stream.delayed, work, deliver });
  const reader: FrameReader = {
    onFrame: (frame) => frameFaults.push(frame),
    // The tables and sets of a new muxer come with the next key frame.
    onTrack() {
      frameFaults.restart();
      onGap();
      if (isJoining) muxer = muxerOf(stream);
      else
        inTurn(() => {
          muxer = muxerOf(stream);
        });
    },
    onGap,
    onEnd(reason) {
      frameFaults.stop();
      inTurn(() => {
        counts.end(reason, "server");
        response.end();
      });
    },
  };
  response.writeHead(200, { "Content-Type": "video/mp2t", "Cache-Control": "no-store" });
  const { next, remove } = stream.joinFrames(reader);
  queue.add(0, takeKept());

  function* takeKept(): Generator<void, void> {
    for (let frame = next(); frame; frame = next()) {
      isInTurn = true;
      try {
        frameFaults.push(frame);
      } finally {
        isInTurn = false;
      }
      yield;
    }
    isJoining = false;
  }

  response.once("close", () => {
    frameFaults.stop();
    queue.clear();
    remove();
    counts.end("the client has disconnected", "client");
  });
}

function muxerOf(stream: Stream): MpegTsMuxer {
  try {
    return new MpegTsMuxer(stream.tracks);
  } catch (error) {
    if (error instanceof RangeError) throw new HttpRefusal(503, error.message);
    throw error;
  }
}

import type { Socket } from "node:net";
import { tlsTransportOf } from "../../net/tls-transport.ts";
import type { Pipeline } from "./pipeline.ts";

export interface UnreadLimits {
  /** What waits for all clients of a service; beyond it those for whom most waits are disconnected. */
  readonly allUnsentBytes: number;
  /** How long a client may take nothing while an answer waits for it. */
  readonly unreadTimeoutMs: number;
}

interface Reader {
  /** Bytes that the operating system took for it. */
  taken: number;
  /** Looks in a row that found no more. Not a time: while the process is held up, it takes nothing from anybody. */
  idleLooks: number;
  readonly forget: () => void;
}

const recountMs = 100;

/**
 * The connections for which answers wait, of all servers of a service. An answer that is sent at once costs no more than the look at its
 * length: a connection is watched from the time that its bytes wait.
 */
export class UnreadAnswers {
  readonly #limits: UnreadLimits;
  readonly #lookMs: number;
  readonly #readers = new Map<Pipeline, Reader>();
  /** An upper bound, counted anew where it is too much: what waits shrinks without a word. */
  #all = 0;
  #recountedAt = Number.NEGATIVE_INFINITY;
  #recounting = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: UnreadLimits) {
    this.#limits = limits;
    this.#lookMs = Math.min(1_000, limits.unreadTimeoutMs / 4);
  }

  /** To be called when bytes of an answer were written and wait. */
  add(pipeline: Pipeline, bytes: number): void {
    this.#all += bytes;
    if (!this.#readers.has(pipeline)) this.#watch(pipeline);
    if (this.#all <= this.#limits.allUnsentBytes || this.#recounting) return;
    if (performance.now() - this.#recountedAt < recountMs && this.#all < 1.25 * this.#limits.allUnsentBytes) return;
    this.#recounting = true;
    // Not at once: a handler is still at work on the answer.
    setImmediate(() => this.#recount());
  }

  #watch(pipeline: Pipeline): void {
    const { socket } = pipeline;
    if (socket.destroyed) return;
    const forget = () => this.#forget(pipeline);
    this.#readers.set(pipeline, { taken: takenBytes(socket), idleLooks: 0, forget });
    socket.once("close", forget);
    this.#timer ??= setInterval(() => this.#look(), this.#lookMs).unref();
  }

  #forget(pipeline: Pipeline): void {
    const reader = this.#readers.get(pipeline);
    if (!reader) return;
    pipeline.socket.off("close", reader.forget);
    this.#readers.delete(pipeline);
    if (this.#readers.size > 0) return;
    this.#all = 0;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Disconnects those that took nothing for too long. */
  #look(): void {
    const { unreadTimeoutMs } = this.#limits;
    for (const [pipeline, reader] of this.#readers) {
      const { socket } = pipeline;
      const taken = takenBytes(socket);
      if (pipeline.unsentBytes === 0) this.#forget(pipeline);
      // Without any, what waits is behind an answer that is still being made.
      else if (taken !== reader.taken || socket.writableLength === 0) {
        reader.taken = taken;
        reader.idleLooks = 0;
      } else {
        reader.idleLooks += 1;
        if (reader.idleLooks * this.#lookMs >= unreadTimeoutMs) pipeline.disconnect(`client read nothing for ${unreadTimeoutMs / 1_000} s`);
      }
    }
    this.#recount();
  }

  /** Disconnects those for whom most waits, until the rest is within the limit. */
  #recount(): void {
    this.#recounting = false;
    this.#recountedAt = performance.now();
    const { allUnsentBytes } = this.#limits;
    const waiting = Array.from(this.#readers.keys(), (pipeline) => ({ pipeline, bytes: pipeline.unsentBytes }));
    this.#all = waiting.reduce((sum, { bytes }) => sum + bytes, 0);
    if (this.#all <= allUnsentBytes) return;
    waiting.sort((one, other) => other.bytes - one.bytes);
    for (const { pipeline, bytes } of waiting) {
      this.#all -= bytes;
      pipeline.disconnect("too many unread bytes");
      if (this.#all <= allUnsentBytes) break;
    }
  }
}

/** Node's stream over a socket. */
interface StreamHandle {
  /** Also those that wait. */
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

/** `writableLength` shrinks only when a whole write is over, which may be one of many megabytes. */
function takenBytes(socket: Socket): number {
  const below = tlsTransportOf(socket)?.socket ?? socket;
  const { _handle: tcp } = below as Socket & { readonly _handle?: StreamHandle | null };
  return tcp ? tcp.bytesWritten - tcp.writeQueueSize : 0;
}

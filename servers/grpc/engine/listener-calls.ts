import { setTimeout as delay } from "node:timers/promises";
import { connectionHead } from "../../core/net/client-socket.ts";
import { FaultLog } from "../../core/net/fault-log.ts";
import type { Log } from "../../core/service/log.ts";
import type { WorkTurns } from "../../core/turns/work-turns.ts";
import type { CallRecorder } from "../observe/call-recorder.ts";
import type { CallList } from "./call-list.ts";
import type { CallEvents, CallTransport, SentEnd } from "./call-transport.ts";
import type { GrpcConnections } from "./connections.ts";
import { GrpcCall, type GrpcCallOptions } from "./grpc-call.ts";
import type { GrpcMethods } from "./handlers.ts";
import type { OpenCalls } from "./open-calls.ts";
import { statusCode } from "./status.ts";

export interface ListenerCallsOptions extends Pick<GrpcCallOptions, "limits" | "jsonThread" | "coding" | "behaviour"> {
  readonly methods: GrpcMethods;
  readonly recorder: CallRecorder;
  readonly openCalls: OpenCalls;
  /** Interval of the check for calls whose last bytes are unread: a call is abandoned after one to two intervals. */
  readonly unreadMs: number;
  readonly turns: WorkTurns;
  readonly log: Log;
}

/** A port of the service that takes calls. */
export interface GrpcListener {
  readonly port: number;
  readonly connections: GrpcConnections;
  /** Ends what is open: new calls are refused, calls in flight have the grace time, and then end with UNAVAILABLE. */
  drain(): Promise<void>;
}

/** Log lines about faulty connections; a TLS handshake that failed has a row, too. */
export function faultsWithRows({ log, recorder }: Pick<ListenerCallsOptions, "log" | "recorder">): FaultLog {
  return new FaultLog(log, ({ socket, why, isShown }) => {
    if (isShown) recorder.refused(connectionHead(0, socket), "TLS handshake", `TLS handshake failed: ${why}`);
  });
}

/** For the last bytes of a listener to leave when it is drained. */
export const flushMs = 250;

/** A transport that waits for its call. */
export interface StartableTransport extends CallTransport {
  /** To be called once; the events come later. */
  start(events: CallEvents): void;
}

/** The calls of one listener, from their begin to their end. */
export class ListenerCalls {
  readonly #options: ListenerCallsOptions;
  readonly #shared: GrpcCallOptions;
  readonly #calls: CallList<GrpcCall>;
  #onIdle: (() => void) | undefined;
  #looksForUnread: NodeJS.Timeout | undefined;
  /**
   * Code that V8 has optimized for objects of a kind is discarded when a collection finds none of them. This one keeps that of calls while
   * there are none.
   */
  lastEnded: GrpcCall | undefined;

  constructor(options: ListenerCallsOptions) {
    this.#options = options;
    this.#calls = options.openCalls.ofListener();
    this.#shared = {
      ...options,
      onOver: (call, end) => this.#over(call, end),
      onFault: (call, error) => this.#fault(call, error),
    };
  }

  begin(transport: StartableTransport): void {
    const { recorder, methods } = this.#options;
    const method = methods.find(transport.head.path);
    const entry = recorder.begin(transport.head, method);
    const call = new GrpcCall({ transport, method, handler: method?.begin, entry }, this.#shared);
    const { openCalls, shares } = transport.head.connection;
    this.#calls.add(call);
    openCalls.add(call);
    // A timer of each call would cost more.
    this.#looksForUnread ??= setInterval(() => this.#abandonUnread(), this.#options.unreadMs).unref();
    transport.start(call);
    shares.open.add(1);
    call.begin();
  }

  /** Calls in flight have the grace time, and then end with UNAVAILABLE. */
  async drain(graceMs: number): Promise<void> {
    if (this.#calls.size > 0) {
      const idle = new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
      await Promise.race([idle, delay(graceMs, undefined, { ref: false })]);
    }
    const { size } = this.#calls;
    if (size > 0) this.#options.log.info(`${size} calls were open when the service stopped, and end with UNAVAILABLE.`);
    await this.#options.turns.each(this.#calls.all(), (call) => call.finish(statusCode("UNAVAILABLE"), "the service is stopping"));
    clearInterval(this.#looksForUnread);
  }

  #over(call: GrpcCall, end: SentEnd): void {
    this.#calls.delete(call);
    call.head.connection.openCalls.delete(call);
    this.lastEnded = call;
    this.#options.recorder.end(call.entry, end);
    if (this.#calls.size === 0) this.#onIdle?.();
  }

  #abandonUnread(): void {
    void this.#options.turns.each(this.#calls.all(), (call) => call.abandonUnread());
  }

  #fault({ head, entry }: GrpcCall, error: unknown): void {
    this.#options.log.error(`${head.path} (row ${entry.id}) failed: ${error instanceof Error ? error.stack : String(error)}`);
  }
}

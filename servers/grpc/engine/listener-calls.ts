import type { Log } from "../../core/service/log.ts";
import type { CallRecorder } from "../observe/call-recorder.ts";
import type { CallEvents, CallTransport, SentEnd } from "./call-transport.ts";
import { GrpcCall, type GrpcCallOptions } from "./grpc-call.ts";
import type { GrpcMethods } from "./grpc-method.ts";
import type { OpenCalls } from "./open-calls.ts";
import { statusCode } from "./status.ts";

export interface ListenerCallsOptions extends Pick<GrpcCallOptions, "limits" | "coding" | "behaviour"> {
  readonly methods: GrpcMethods;
  readonly recorder: CallRecorder;
  readonly openCalls: OpenCalls;
  readonly log: Log;
}

/** A transport that waits for its call. */
export interface StartableTransport extends CallTransport {
  /** To be called once; the events come later. */
  start(events: CallEvents): void;
}

/** The calls of one listener, from their begin to their end. */
export class ListenerCalls {
  readonly #options: ListenerCallsOptions;
  readonly #calls = new Set<GrpcCall>();
  readonly #onOver = (call: GrpcCall, end: SentEnd) => this.#over(call, end);
  readonly #onFault = (call: GrpcCall, error: unknown) => this.#fault(call, error);
  #onIdle: (() => void) | undefined;

  constructor(options: ListenerCallsOptions) {
    this.#options = options;
  }

  begin(transport: StartableTransport): void {
    const { recorder, methods } = this.#options;
    const entry = recorder.begin(transport.head, methods.find(transport.head.path));
    const call = new GrpcCall({ ...this.#options, transport, entry, onFault: this.#onFault, onOver: this.#onOver });
    this.#calls.add(call);
    this.#options.openCalls.add(call);
    transport.start(call);
    call.begin();
  }

  /** Calls in flight have the grace time, and then end with UNAVAILABLE. */
  async drain(graceMs: number): Promise<void> {
    await this.#idle(graceMs);
    const { size } = this.#calls;
    if (size > 0) this.#options.log.info(`${size} calls were open when the service stopped, and end with UNAVAILABLE.`);
    for (const call of this.#calls) call.finish(statusCode("UNAVAILABLE"), "the service is stopping");
  }

  #over(call: GrpcCall, end: SentEnd): void {
    this.#calls.delete(call);
    this.#options.openCalls.delete(call);
    this.#options.recorder.end(call.entry, end);
    if (this.#calls.size === 0) this.#onIdle?.();
  }

  #fault({ head, entry }: GrpcCall, error: unknown): void {
    this.#options.log.error(`${head.path} (row ${entry.id}) failed: ${error instanceof Error ? error.stack : String(error)}`);
  }

  #idle(withinMs: number): Promise<void> {
    if (this.#calls.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, withinMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

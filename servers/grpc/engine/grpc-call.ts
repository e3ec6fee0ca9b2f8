import { Metadata } from "@grpc/grpc-js";
import { ownBytes } from "../../core/streams/own-copy.ts";
import { oneStep, type WorkConnection } from "../../core/turns/work-connection.ts";
import type { CallEntry } from "../observe/call-entry.ts";
import { callBytes } from "./call-budgets.ts";
import { CallInput } from "./call-input.ts";
import { CallOutput } from "./call-output.ts";
import type { CallEvents, CallHead, CallTransport, ReceivedMessage, SentEnd } from "./call-transport.ts";
import { startDeadline } from "./deadline.ts";
import { endAfterRequest } from "./end-after-request.ts";
import type { GrpcMethod } from "./grpc-method.ts";
import { HeldBytes } from "./held-bytes.ts";
import type { JsonThread } from "./json-thread.ts";
import { acceptedCoding, type MessageCoding } from "./message-coding.ts";
import type { MessageFilter, MessageSink } from "./message-sink.ts";
import { type BehaviourOptions, endsAtOnce, type RequestedBehaviour, requestedBehaviour } from "./requested-behaviour.ts";
import { StatusError, statusCode, UnreadableRequest } from "./status.ts";

export interface CallLimits {
  /** Handlers that can wait send no more while a client leaves this much unread. */
  readonly highWaterBytes: number;
  /** A call ends when its client leaves this much unread. */
  readonly unreadBytes: number;
  /** Most values in a message of the client: see `requireValues`. */
  readonly messageValues: number;
}

/** The same for all calls of a listener. */
export interface GrpcCallOptions {
  readonly limits: CallLimits;
  /** For long messages. */
  readonly jsonThread: JsonThread;
  /** Of answers, to a client that accepts it. */
  readonly coding: MessageCoding;
  readonly behaviour: BehaviourOptions;
  /** Called with an error that is not a status, which is a fault of the handler. */
  readonly onFault: (call: GrpcCall, error: unknown) => void;
  readonly onOver: (call: GrpcCall, end: SentEnd) => void;
}

/** Answers a call. An error that it throws or rejects with ends the call. */
export type CallHandler = (call: GrpcCall) => void | Promise<void>;

interface GrpcCallParts {
  readonly transport: CallTransport;
  /** Both undefined if the method is not served. */
  readonly method: GrpcMethod | undefined;
  readonly handler: CallHandler | undefined;
  readonly entry: CallEntry;
}

/** What is asked for by metadata, and metadata that are echoed, are there as texts, pairs and fields of the answer. */
const memoryOfAsked = 8;

const unreadTooMuch = new StatusError("RESOURCE_EXHAUSTED", "the client reads too slowly: it has left too much unread");

/**
 * One call of any protocol: handlers read from it and write to it. A step that throws ends this call with a status, and nothing else.
 */
export class GrpcCall implements CallEvents {
  /** Undefined if it is not served. */
  readonly method: GrpcMethod | undefined;
  readonly entry: CallEntry;
  readonly head: CallHead;
  /** Its indexes in the lists of its listener and of its connection. */
  readonly places = { listener: 0, connection: 0 };
  #responseHeaders: Metadata | undefined;
  #trailers: Metadata | undefined;
  readonly #options: GrpcCallOptions;
  readonly transport: CallTransport;
  readonly #handler: CallHandler | undefined;
  readonly #input: CallInput;
  readonly #output: CallOutput;
  /** Messages of the client beside those that the transport has. */
  readonly held: HeldBytes;
  /** Steps that wait until the client has read enough. */
  #writable: (() => void)[] | undefined;
  #behaviour: RequestedBehaviour | undefined;
  /** Memory of that. */
  #askedBytes = 0;
  readonly #endDeadline: (() => void) | undefined;
  #endDelay: (() => void) | undefined;
  #sentHeaders = false;
  #sent = 0;
  #finishing = false;
  #over = false;
  /** Among the open calls of its connection. */
  isCounted = true;
  #overListeners: (() => void)[] | undefined;

  constructor({ transport, method, handler, entry }: GrpcCallParts, options: GrpcCallOptions) {
    this.#options = options;
    this.transport = transport;
    this.method = method;
    this.#handler = handler;
    this.entry = entry;
    this.head = transport.head;
    this.held = new HeldBytes(this.head.connection.shares.memory);
    const json = transport.head.codec === "json" ? method?.json : undefined;
    const { jsonThread, limits } = options;
    this.#input = new CallInput({ call: this, json, jsonThread, messageValues: limits.messageValues });
    this.#output = new CallOutput({
      transport,
      entry,
      method,
      json,
      jsonThread,
      shares: this.head.connection.shares,
      onWritten: () => this.#writable && this.isWritable && !this.isEnding && this.#runWritable(this.#writable),
      onFault: (error) => this.fail(error),
    });
    const { timeoutMs } = transport.head;
    if (timeoutMs !== undefined) {
      const passed = () => this.finish(statusCode("DEADLINE_EXCEEDED"), "Deadline exceeded");
      this.#endDeadline = startDeadline(entry.at + timeoutMs, this.work, passed);
    }
  }

  /** Its part in the turns of all clients. */
  get work(): WorkConnection {
    return this.head.connection.work;
  }

  /** Sent before the first message; to be changed before that. */
  get responseHeaders(): Metadata {
    this.#responseHeaders ??= new Metadata();
    return this.#responseHeaders;
  }

  get trailers(): Metadata {
    this.#trailers ??= new Metadata();
    return this.#trailers;
  }

  /** Nothing more can be sent. */
  get isEnding(): boolean {
    return this.#finishing || this.#over;
  }

  /** Whether a handler that can wait may send. */
  get isWritable(): boolean {
    return this.#output.unreadBytes < this.#options.limits.highWaterBytes || this.transport.answersAtEnd;
  }

  get heldBytes(): number {
    return callBytes + this.entry.headBytes + this.#askedBytes + this.#receivedBytes + this.#output.unreadBytes;
  }

  /** Memory of the client's messages. */
  get #receivedBytes(): number {
    return this.transport.receivedBytes + this.held.bytes;
  }

  /** Does what the client asked for by metadata, then calls the method's handler. */
  begin(): void {
    if (this.isEnding) return;
    this.run(() => {
      const { behaviour, coding } = this.#options;
      // Before its metadata are read, of which there may be too much.
      if (this.head.fault) throw this.head.fault;
      const asked = requestedBehaviour(this.head, behaviour);
      this.#behaviour = asked;
      if (asked) this.#holdAsked();
      this.#output.coding = acceptedCoding(asked?.coding ?? coding, this.head.acceptEncoding);
      if (asked) for (const [name, value] of asked.headers) this.responseHeaders.add(name, value);
      const { method } = this;
      if (!method) {
        const unknown = new StatusError("UNIMPLEMENTED", `There is no method ${this.head.path}`);
        return endAfterRequest(this, undefined, () => this.fail(unknown));
      }
      if (!asked || asked.delayMs === 0) return this.#beginMethod(method);
      this.#endDelay = this.work.wait(asked.delayMs, () => this.isEnding || this.run(() => this.#beginMethod(method)));
    });
  }

  #holdAsked(): void {
    this.#askedBytes = memoryOfAsked * this.entry.headBytes;
    this.head.connection.shares.memory.add(this.#askedBytes);
  }

  #beginMethod({ pattern }: GrpcMethod): void | Promise<void> {
    const asked = this.#behaviour;
    if (!asked || !endsAtOnce(asked, pattern)) return this.#handler?.(this);
    endAfterRequest(this, pattern, () => this.#cut());
  }

  /** Runs a step of the call, also one of a timer or an event from elsewhere; what it throws ends this call. */
  run(step: () => void | Promise<void>): void {
    try {
      this.#settle(step());
    } catch (error) {
      this.fail(error);
    }
  }

  /** The same in the turns of all clients, for a step that may take longer than an event should, or may be due for thousands of calls at once. */
  runInTurn(step: () => void | Promise<void>): void {
    const goOn = (): void => {
      if (this.isEnding) return;
      if (share.isOver) share.later();
      else this.run(step);
    };
    const share = this.work.join(goOn);
    goOn();
  }

  #settle(result: void | Promise<void>): void {
    if (result instanceof Promise) result.catch((error: unknown) => this.fail(error));
  }

  /** Ends the call with the status of a `StatusError`; any other error is INTERNAL. */
  fail(error: unknown): void {
    if (error instanceof StatusError) {
      const isOfConnect = error instanceof UnreadableRequest && this.head.protocol === "connect";
      this.finish(isOfConnect ? statusCode("INVALID_ARGUMENT") : error.code, error.message);
      return;
    }
    this.#options.onFault(this, error);
    this.finish(statusCode("INTERNAL"), "the handler of this method failed; the log says more");
  }

  /** Takes the client's messages; each is asked for with `read`. */
  receive(sink: MessageSink): void {
    this.#input.receive(sink);
  }

  read(): void {
    this.#input.read();
  }

  /** For a reader that leaves the call to another one, which gets what was read before it gets the rest. */
  giveBack(messages: readonly Uint8Array[], halfClosed: boolean): void {
    this.#input.giveBack(messages, halfClosed);
  }

  /** To be set before the handler begins. */
  filterMessages(filter: MessageFilter): void {
    this.#input.filterMessages(filter);
  }

  /** Asks for the next message once there is room for an answer. */
  readWhenWritable(): void {
    if (this.isWritable) this.read();
    else this.whenWritable(() => this.read());
  }

  /** Runs the step once when the client has read enough for more to be sent; never if the call ends before. */
  whenWritable(step: () => void): void {
    this.#writable ??= [];
    this.#writable.push(step);
  }

  onMessage(message: ReceivedMessage): void {
    if (this.isEnding) return;
    // The handler may keep it, and the recorder does.
    const bytes = ownBytes(message.bytes);
    this.entry.addReceived({ ...message, bytes });
    try {
      this.#settle(this.#input.take(bytes));
    } catch (error) {
      this.fail(error);
    }
  }

  onHalfClose(): void {
    if (this.isEnding) return;
    this.entry.halfClosed();
    this.#input.halfClose();
  }

  /** Sends the headers now and not with the first message. */
  sendHeaders(): void {
    if (this.#sentHeaders || this.isEnding) return;
    this.#sentHeaders = true;
    const { coding } = this.#output;
    this.entry.answered(coding, this.transport);
    this.transport.sendHeaders(this.#responseHeaders, coding);
  }

  /** Sends a message, as a frame of a `MessageType`. False once the client should read before more is sent; see `whenWritable`. */
  send(message: Buffer): boolean {
    if (this.isEnding) return false;
    const frame = this.#output.frameAtOnce(message);
    this.sendHeaders();
    this.#sent++;
    const before = this.#output.unreadBytes;
    if (frame) this.#output.send(frame);
    else this.#output.sendLong(message);
    if (this.#sent === this.#behaviour?.cutAfter) this.#cut();
    // Without this message, which the client had no time to read.
    else if (before > this.#options.limits.unreadBytes) this.breakOff(unreadTooMuch);
    return this.isWritable;
  }

  #runWritable(steps: readonly (() => void)[]): void {
    this.#writable = undefined;
    for (const step of steps) this.run(step);
  }

  /** Ends the call. Does nothing if it has ended. */
  finish(code = 0, message = ""): void {
    if (this.isEnding) return;
    const asked = this.#behaviour;
    if (asked && asked.headers.length > 0) this.sendHeaders();
    this.#finishing = true;
    this.held.close();
    this.#input.close();
    this.#endDelay?.();
    if (asked) for (const [name, value] of asked.trailers) this.trailers.add(name, value);
    // Only an error has details.
    if (code !== 0 && asked?.details) this.trailers.set("grpc-status-details-bin", asked.details(code, message));
    const end = { code, message: message.toWellFormed(), trailers: this.#trailers };
    this.#output.whenWritten(() => this.transport.end(end));
  }

  #cut(): void {
    const status = this.#behaviour?.status;
    if (status) this.finish(status.code, status.message);
    else this.reset();
  }

  abandonUnread(): void {
    if (this.isEnding) void this.work.run(oneStep(() => this.#over || this.transport.abandonUnread()));
  }

  /** Gives back what it has of the memory of all calls: where that are messages of the client it ends with a status, else at once. */
  lose(why: StatusError): void {
    if (!this.isEnding && this.#output.unreadBytes === 0 && this.#receivedBytes > callBytes) this.fail(why);
    else this.breakOff(why);
  }

  /** Ends the call at once and drops what waits: a status could only be sent after it. Also for one that is ending. */
  breakOff({ code, message }: StatusError): void {
    this.#finishing = true;
    this.#output.close();
    this.transport.reset({ code, message });
    this.#countNoMore();
  }

  #countNoMore(): void {
    if (!this.isCounted) return;
    this.isCounted = false;
    const { open, memory } = this.head.connection.shares;
    open.add(-1);
    memory.add(-this.#askedBytes);
  }

  /** Ends the call without a status. */
  reset(): void {
    if (this.#over) return;
    this.#finishing = true;
    this.transport.reset();
  }

  /** Calls back once when the call is over, however it ended. */
  whenOver(listener: () => void): void {
    if (this.#over) listener();
    else {
      this.#overListeners ??= [];
      this.#overListeners.push(listener);
    }
  }

  onOver(end: SentEnd): void {
    if (this.#over) return;
    this.#over = true;
    this.#endDeadline?.();
    this.#endDelay?.();
    this.held.close();
    this.#input.close();
    this.#output.close();
    this.#countNoMore();
    this.#writable = undefined;
    this.#options.onOver(this, end);
    const listeners = this.#overListeners;
    if (!listeners) return;
    this.#overListeners = undefined;
    for (const listener of listeners) this.run(listener);
  }
}

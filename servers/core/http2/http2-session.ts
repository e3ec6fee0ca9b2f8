import { readSettings } from "./client-settings.ts";
import type { FloodLimits } from "./flood-limits.ts";
import {
  errorCodes,
  type Frame,
  frameFlags,
  frameTypes,
  Http2Error,
  initialWindow,
  largestWindow,
  makeFrame,
  makeGoaway,
  makeNumberFrame,
  makeSettings,
  protocolError,
  requireLength,
  settingIds,
  withoutPadding,
} from "./frames.ts";
import { HeaderBlock } from "./header-block.ts";
import type { HeaderField } from "./header-field.ts";
import { type DecodedFields, HpackDecoder } from "./hpack-decoder.ts";
import type { Http2Output } from "./http2-output.ts";
import { Http2Stream, type StreamOwner } from "./http2-stream.ts";
import { type RequestHead, requestHead, trailersFault } from "./request-head.ts";
import { StreamNumbers } from "./stream-numbers.ts";

export interface SessionLimits {
  /** Open at the same time. */
  readonly concurrentStreams: number;
  /** Of the header fields of a request, as HTTP/2 counts them. A stream with more is reset. */
  readonly headerListBytes: number;
}

export interface SessionEvents {
  /** A request; its reader is to be set before this returns. */
  onStream(stream: Http2Stream, head: RequestHead): void;
  /** What open streams keep: bytes more, or less where it is negative. */
  onHeld(bytes: number): void;
  /** A stream was reset because its header fields are malformed, or too many. */
  onRefused(why: string): void;
  /** The first SETTINGS came. */
  onSettings(): void;
  /** False if no ping with this content was sent. */
  onPong(content: Buffer): boolean;
  /** A stream was closed. */
  onClosed(): void;
}

/** Of the connection. That of each stream is the standard one, and bounds what is kept. */
const connectionWindow = 1 << 20;
/** The client is told of it when so much was taken. */
const connectionCredit = connectionWindow / 2;
/** Streams that were reset here, of which late frames may come, at least. */
const mostRemembered = 1_024;
/** What an open stream takes beside its header fields and bodies, with what serves it. */
export const streamBytes = 4 << 10;

/** What the frames of one client mean (RFC 9113 §5 and §6): its streams, windows and settings. */
export class Http2Session implements StreamOwner {
  readonly #limits: SessionLimits;
  readonly #events: SessionEvents;
  readonly #output: Http2Output;
  readonly #decoder = new HpackDecoder();
  readonly #streams = new Map<number, Http2Stream>();
  readonly #numbers: StreamNumbers;
  readonly #floods: FloodLimits;
  #block: HeaderBlock | undefined;
  /** The last fragment of it, which is long. */
  #reading: Iterator<void, void> | undefined;
  /** The client has ended it, unless it resets it in the same breath, as for a cancel. */
  #ending: Http2Stream | undefined;
  #receiveWindow = initialWindow;
  #credit = connectionWindow - initialWindow;
  /** The window of new streams. */
  #streamWindow = initialWindow;
  #hasSettings = false;
  /** GOAWAY was sent: no stream begins. */
  isLeaving = false;

  constructor(limits: SessionLimits, floods: FloodLimits, output: Http2Output, events: SessionEvents) {
    this.#limits = limits;
    this.#floods = floods;
    this.#numbers = new StreamNumbers(Math.max(mostRemembered, limits.concurrentStreams));
    this.#output = output;
    this.#events = events;
    output.sendControl(
      makeSettings([
        [settingIds.concurrentStreams, limits.concurrentStreams],
        [settingIds.headerListSize, limits.headerListBytes],
      ]),
    );
    this.#giveWindow();
  }

  /** That are open. */
  get streams(): number {
    return this.#streams.size;
  }

  get isReading(): boolean {
    return this.#reading !== undefined;
  }

  /** Bytes of a header block that is incomplete. */
  get heldBytes(): number {
    return this.#block?.heldBytes ?? 0;
  }

  /** RFC 9113 §6.8: open streams go on, and new ones are refused. */
  leave(): void {
    if (this.isLeaving) return;
    this.isLeaving = true;
    this.#output.sendControl(this.goaway(errorCodes.none));
  }

  goaway(code: number): Buffer {
    return makeGoaway(this.#numbers.last, code);
  }

  /** Steps that close what is open, because the connection is over: `fault` is why the service has ended it. */
  *lose(fault: string | undefined): Generator<void, void> {
    this.#block = undefined;
    this.#reading = undefined;
    for (const stream of this.#streams.values()) {
      stream.lose(fault);
      yield;
    }
  }

  /** Goes on with a header block, before which no other frame may be taken. Throws as `take`. */
  readOn(): void {
    if (this.#reading?.next().done) this.#reading = undefined;
  }

  /** Throws an `Http2Error` for what ends the connection. */
  take(frame: Frame): void {
    const { type, streamId } = frame;
    if (this.#ending && (type !== frameTypes.rstStream || streamId !== this.#ending.id)) this.settle();
    if (!this.#hasSettings && type !== frameTypes.settings) throw protocolError("its first frame is not SETTINGS");
    // RFC 9113 §6.10
    if (this.#block && (type !== frameTypes.continuation || streamId !== this.#block.streamId)) {
      throw protocolError("a header block is interrupted");
    }
    switch (type) {
      case frameTypes.data:
        this.#takeData(frame);
        break;
      case frameTypes.headers:
        this.#takeHeaders(frame);
        break;
      case frameTypes.continuation:
        this.#takeContinuation(frame);
        break;
      case frameTypes.rstStream:
        this.#takeReset(frame);
        break;
      case frameTypes.settings:
        this.#takeSettings(frame);
        break;
      case frameTypes.ping:
        this.#takePing(frame);
        break;
      case frameTypes.goaway:
        this.#takeGoaway(frame);
        break;
      case frameTypes.windowUpdate:
        this.#takeWindow(frame);
        break;
      case frameTypes.priority:
        this.#takePriority(frame);
        break;
      case frameTypes.pushPromise:
        throw protocolError("it has sent PUSH_PROMISE");
      default:
        // RFC 9113 §5.5
        this.#floods.withoutEffect();
    }
  }

  /** To be called when no frame is taken for now. */
  settle(): void {
    const stream = this.#ending;
    this.#ending = undefined;
    const fault = stream?.isClosed === false ? stream.receiveEnd() : undefined;
    if (stream && fault !== undefined) this.#refuse(stream, fault);
  }

  #takeData(frame: Frame): void {
    const { flags, streamId, payload } = frame;
    const stream = this.#streamOf(streamId);
    const bytes = withoutPadding(payload, flags, 0);
    this.#receiveWindow -= payload.length;
    if (this.#receiveWindow < 0) throw new Http2Error(errorCodes.flowControl, "it has sent more than its window allows");
    this.#credit += payload.length;
    if (this.#credit >= connectionCredit) this.#giveWindow();
    const isEnd = (flags & frameFlags.endStream) !== 0;
    if (bytes.length === 0 && !isEnd) this.#floods.withoutEffect();
    if (!stream) {
      this.#late(streamId);
      return;
    }
    const fault = stream.hasEnded ? errorCodes.streamClosed : stream.receive(bytes, payload.length);
    if (fault !== undefined) this.#refuse(stream, fault);
    else if (isEnd) this.#ending = stream;
  }

  #giveWindow(): void {
    this.#receiveWindow += this.#credit;
    this.#output.sendControl(makeNumberFrame(frameTypes.windowUpdate, 0, this.#credit));
    this.#credit = 0;
  }

  /** Undefined if it is closed. RFC 9113 §5.1: throws for one that was never open. */
  #streamOf(streamId: number): Http2Stream | undefined {
    if (streamId === 0 || streamId > this.#numbers.last || streamId % 2 === 0)
      throw protocolError("a frame is for a stream that is not open");
    return this.#streams.get(streamId);
  }

  /** RFC 9113 §5.1: a frame may have been sent before the client knew of the reset. */
  #late(streamId: number): void {
    // RFC 9113 §5.1.1
    if (this.#numbers.wasSkipped(streamId)) throw protocolError("a frame is for a stream that was never open");
    if (!this.#numbers.wasReset(streamId)) throw new Http2Error(errorCodes.streamClosed, "a frame is for a stream that is closed");
    this.#floods.withoutEffect();
  }

  #takeHeaders({ flags, streamId, payload }: Frame): void {
    if (streamId % 2 === 0) throw protocolError("a stream has no number of a client's");
    const hasPriority = (flags & frameFlags.priority) !== 0;
    const fragment = withoutPadding(payload, flags, hasPriority ? 5 : 0);
    this.#block = new HeaderBlock(streamId, (flags & frameFlags.endStream) !== 0, this.#decoder, this.#limits.headerListBytes);
    this.#addToBlock(fragment, flags);
  }

  #takeContinuation({ flags, payload }: Frame): void {
    if (!this.#block) throw protocolError("CONTINUATION without a header block");
    this.#addToBlock(payload, flags);
  }

  #addToBlock(fragment: Buffer, flags: number): void {
    const block = this.#block as HeaderBlock;
    const isLast = (flags & frameFlags.endHeaders) !== 0;
    this.#reading = this.#readBlock(block, block.add(fragment, isLast), isLast);
    this.readOn();
  }

  *#readBlock({ streamId, isEnd }: HeaderBlock, steps: Generator<void, DecodedFields>, isLast: boolean): Generator<void, void> {
    const { fields, bytes } = yield* steps;
    if (!isLast) return;
    const { headerListBytes } = this.#limits;
    this.#block = undefined;
    const isTooLong = bytes > headerListBytes;
    if (streamId <= this.#numbers.last) this.#takeTrailers(streamId, isEnd && !isTooLong && !trailersFault(fields));
    else {
      this.#numbers.use(streamId);
      if (this.isLeaving || this.#streams.size >= this.#limits.concurrentStreams) this.#refuseNew(streamId, errorCodes.refusedStream);
      else if (isTooLong) {
        this.#events.onRefused(`its header fields have more than ${headerListBytes} bytes`);
        this.#refuseNew(streamId, errorCodes.enhanceYourCalm);
      } else this.#begin(streamId, fields, bytes, isEnd);
    }
  }

  /** RFC 9113 §8.1: what follows a body ends the stream. */
  #takeTrailers(streamId: number, isValid: boolean): void {
    const stream = this.#streams.get(streamId);
    if (!stream) this.#late(streamId);
    else if (stream.hasEnded) this.#refuse(stream, errorCodes.streamClosed);
    else if (isValid) this.#ending = stream;
    else this.#refuse(stream, errorCodes.protocol);
  }

  /** `bytes`: of the header fields. */
  #begin(streamId: number, fields: readonly HeaderField[], bytes: number, isEnd: boolean): void {
    const head = requestHead(fields);
    if (typeof head === "string") {
      this.#events.onRefused(head);
      this.#refuseNew(streamId, errorCodes.protocol);
      return;
    }
    const { contentLength } = head;
    const heldBytes = streamBytes + bytes;
    const windows = { receive: initialWindow, send: this.#streamWindow };
    const stream = new Http2Stream(streamId, { contentLength, heldBytes }, windows, this);
    this.#streams.set(streamId, stream);
    this.#events.onHeld(heldBytes);
    // The connection may have lost all its streams by that.
    if (stream.isClosed) return;
    this.#events.onStream(stream, head);
    if (isEnd) this.#ending = stream;
  }

  #refuseNew(streamId: number, code: number): void {
    this.#numbers.resets(streamId);
    this.#output.sendControl(makeNumberFrame(frameTypes.rstStream, streamId, code));
    this.#floods.reset();
  }

  /** An error of the stream (RFC 9113 §5.4.2). */
  #refuse(stream: Http2Stream, code: number): void {
    stream.reset(code);
    this.#floods.reset();
  }

  #takeReset({ streamId, payload }: Frame): void {
    requireLength(payload, 4);
    const stream = this.#streamOf(streamId);
    stream?.close(payload.readUInt32BE(0));
    if (stream) this.#floods.reset();
    else this.#floods.withoutEffect();
  }

  #takeSettings(frame: Frame): void {
    const entries = readSettings(frame);
    this.#floods.control();
    if (!entries) return;
    if (!this.#hasSettings) this.#events.onSettings();
    this.#hasSettings = true;
    let window = this.#streamWindow;
    for (const [id, value] of entries) {
      if (id === settingIds.headerTableSize) this.#output.encoder.limitTable(value);
      else if (id === settingIds.initialWindow) window = value;
    }
    if (window !== this.#streamWindow) this.#setStreamWindow(window);
    this.#output.sendControl(makeFrame(frameTypes.settings, frameFlags.ack, 0, Buffer.alloc(0)));
  }

  #setStreamWindow(value: number): void {
    const more = value - this.#streamWindow;
    this.#streamWindow = value;
    for (const stream of this.#streams.values()) this.#widen(stream, more);
  }

  /** RFC 9113 §6.9.2: the window of a stream may become negative, but not too large. */
  #widen(stream: Http2Stream, bytes: number): void {
    if (stream.sendWindow + bytes > largestWindow) throw new Http2Error(errorCodes.flowControl, "a window is too large");
    stream.sendWindow += bytes;
    if (bytes > 0 && stream.isUnsent) this.#output.ready(stream);
  }

  #takePing({ flags, streamId, payload }: Frame): void {
    if (streamId !== 0) throw protocolError("PING is for a stream");
    requireLength(payload, 8);
    if ((flags & frameFlags.ack) !== 0 && this.#events.onPong(payload)) return;
    this.#floods.control();
    if ((flags & frameFlags.ack) === 0) this.#output.sendControl(makeFrame(frameTypes.ping, frameFlags.ack, 0, payload));
  }

  #takeGoaway({ streamId, payload }: Frame): void {
    if (streamId !== 0) throw protocolError("GOAWAY is for a stream");
    if (payload.length < 8) throw new Http2Error(errorCodes.frameSize, "GOAWAY is too short");
    this.#floods.control();
    this.leave();
  }

  #takeWindow({ streamId, payload }: Frame): void {
    requireLength(payload, 4);
    const bytes = payload.readUInt32BE(0) & largestWindow;
    if (streamId === 0) {
      if (bytes === 0) throw protocolError("WINDOW_UPDATE of nothing");
      if (!this.#output.widen(bytes)) throw new Http2Error(errorCodes.flowControl, "its window is too large");
      return;
    }
    const stream = this.#streamOf(streamId);
    if (!stream) this.#floods.withoutEffect();
    else if (bytes === 0) this.#refuse(stream, errorCodes.protocol);
    else if (stream.sendWindow + bytes > largestWindow) this.#refuse(stream, errorCodes.flowControl);
    else this.#widen(stream, bytes);
  }

  /** RFC 9113 §5.3: priorities of this kind are of no account. */
  #takePriority({ streamId, payload }: Frame): void {
    if (streamId === 0) throw protocolError("PRIORITY is for the connection");
    requireLength(payload, 5);
    this.#floods.withoutEffect();
  }

  ready(stream: Http2Stream): void {
    this.#output.ready(stream);
  }

  sendReset({ id }: Http2Stream, code: number): void {
    this.#numbers.resets(id);
    this.#output.sendControl(makeNumberFrame(frameTypes.rstStream, id, code));
  }

  sendWindow({ id }: Http2Stream, bytes: number): void {
    this.#output.sendControl(makeNumberFrame(frameTypes.windowUpdate, id, bytes));
  }

  closed(stream: Http2Stream): void {
    this.#streams.delete(stream.id);
    this.#output.forget(stream);
    this.#events.onHeld(-stream.heldBytes);
    this.#events.onClosed();
  }
}

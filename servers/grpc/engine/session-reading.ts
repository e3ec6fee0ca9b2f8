import type { Http2Session, ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { WorkConnection, WorkShare, WorkTurns } from "../../core/service/work-turns.ts";
import { closeLost, whyStreamClosed } from "./stream-end.ts";

/** What is used of a socket without a public name. */
interface ReadingSocket extends Socket {
  readonly _handle?: {
    /** Bytes that wait for the client. */
    readonly writeQueueSize: number;
    readStart(): number;
    readStop(): number;
  } | null;
}

interface WaitingCall {
  readonly stream: ServerHttp2Stream;
  /** Still: a stream that is closed has none. */
  readonly session: Http2Session | undefined;
  begin(): void;
  lost(why: string): void;
}

const looksForReaderMs = 50;
/** A connection with more calls that wait at once is read after the others. */
const fewCalls = 8;
/** Node takes some 15 kB for the stream of a call that waits. */
const mostWaiting = 4_096;
/** Of the connections of an address, which begin a few dozen in a turn. Beyond it none is read that may bring many more. */
const mostWaitingOfAddress = 256;
/** Of one connection at once. One with fewer is read beside those with many: it may have that many because it had to wait. */
const manyCalls = 64;

/** Calls that wait: of the connections of an address, or of all. */
class WaitingCalls {
  readonly #most: number;
  #count = 0;
  /** From the bound until half of it is left, since each change is a step over all connections. */
  isFull = false;
  connections = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** True where `isFull` has changed. */
  add(calls: 1 | -1): boolean {
    const before = this.isFull;
    this.#count += calls;
    this.isFull = this.#count >= (before ? this.#most / 2 : this.#most);
    return this.isFull !== before;
  }
}

/**
 * Reads the connections of HTTP/2 in the turns of all clients. Node reads each socket that is ready in a poll of the event loop, and a piece of 64 KB may
 * be a thousand calls. So calls begin in the turns of their connections, which are read no further until then; and once the time of a turn is over,
 * what is ready on the other connections is left to the next poll. While many calls wait, what is not read waits with its clients.
 */
export class SessionReadings {
  readonly #turns: WorkTurns;
  readonly #open = new Set<SessionReading>();
  readonly #waiting = new WaitingCalls(mostWaiting);
  readonly #ofAddresses = new Map<string, WaitingCalls>();
  #goOn: NodeJS.Immediate | undefined;

  constructor(turns: WorkTurns) {
    this.#turns = turns;
  }

  /** Of a socket that has a session of HTTP/2, or is to get one. */
  open(socket: Socket, work: WorkConnection): SessionReading {
    const { key } = work;
    const ofAddress = this.#ofAddresses.get(key) ?? new WaitingCalls(mostWaitingOfAddress);
    this.#ofAddresses.set(key, ofAddress);
    ofAddress.connections++;
    const reading = new SessionReading(socket, work, this, ofAddress);
    this.#open.add(reading);
    socket.once("close", () => {
      this.#open.delete(reading);
      if (--ofAddress.connections === 0) this.#ofAddresses.delete(key);
    });
    socket.once("end", () => reading.over());
    return reading;
  }

  /** A call of the address waits, or does no longer. */
  count(calls: 1 | -1, ofAddress: WaitingCalls): void {
    const [isChanged, isAddressChanged] = [this.#waiting.add(calls), ofAddress.add(calls)];
    if (!isChanged && !isAddressChanged) return;
    for (const reading of this.#open) {
      if (!this.mayRead(reading)) reading.stop();
      else if (!this.isPaused) reading.startUnlessWaiting();
    }
  }

  mayRead({ ofAddress, mayHaveMany }: SessionReading): boolean {
    return !this.#waiting.isFull && !(mayHaveMany && ofAddress.isFull);
  }

  /** Until the next poll. */
  get isPaused(): boolean {
    return this.#goOn !== undefined;
  }

  /** To be called when a connection has more to do than there may be time for. */
  pauseIfLate(): void {
    if (this.#goOn || !this.#turns.isUsedUp) return;
    for (const reading of this.#open) reading.stop();
    this.#goOn = setImmediate(() => {
      this.#goOn = undefined;
      for (const reading of this.#open) reading.startUnlessWaiting();
    });
  }

  /** It is read after the others. */
  putBehind(reading: SessionReading): void {
    if (this.#open.delete(reading)) this.#open.add(reading);
  }
}

/** Of one connection. */
export class SessionReading {
  readonly #socket: ReadingSocket;
  readonly #all: SessionReadings;
  readonly #share: WorkShare;
  readonly #waiting: WaitingCall[] = [];
  #next = 0;
  #looksForReader: NodeJS.Timeout | undefined;
  readonly ofAddress: WaitingCalls;
  /** Calls at once; nothing is known before the first. */
  mayHaveMany = true;

  constructor(socket: Socket, work: WorkConnection, all: SessionReadings, ofAddress: WaitingCalls) {
    this.#socket = socket;
    this.#all = all;
    this.ofAddress = ofAddress;
    this.#share = work.join(() => this.#goOn());
    socket.once("close", () => clearTimeout(this.#looksForReader));
  }

  get #hasTime(): boolean {
    return this.#waiting.length === 0 && !this.#share.isOver;
  }

  /** Begins the call of a stream when there is time. `lost` is called instead, with the reason, if the stream is closed by then. */
  take(stream: ServerHttp2Stream, begin: () => void, lost: (why: string) => void): void {
    if (!this.#hasTime) {
      this.#wait(stream, begin, lost);
      return;
    }
    this.mayHaveMany = false;
    begin();
  }

  #wait(stream: ServerHttp2Stream, begin: () => void, lost: (why: string) => void): void {
    // Node itself reads on when what it has written has left.
    this.stop();
    const waiting = this.#waiting.push({ stream, session: stream.session, begin, lost });
    this.#all.count(1, this.ofAddress);
    if (waiting > 1) return;
    this.#share.later();
    this.#all.pauseIfLate();
  }

  /** The client has ended the connection, or it is lost: so may be thousands, which Node would find all in one poll. */
  over(): void {
    if (!this.#hasTime) this.#all.pauseIfLate();
  }

  #goOn(): void {
    for (let call = this.#waiting[this.#next]; call; call = this.#waiting[this.#next]) {
      if (this.#share.isOver) {
        this.#share.later();
        return;
      }
      this.#next++;
      this.#all.count(-1, this.ofAddress);
      this.#begin(call);
    }
    this.mayHaveMany = this.#waiting.length > manyCalls;
    if (this.#waiting.length > fewCalls) this.#all.putBehind(this);
    this.#waiting.length = 0;
    this.#next = 0;
    if (!this.#all.isPaused) this.startUnlessWaiting();
  }

  #begin({ stream, session, begin, lost }: WaitingCall): void {
    if (this.#socket.destroyed) lost("client left");
    else if (stream.closed || stream.destroyed) lost(whyStreamClosed(stream, session));
    else begin();
  }

  /** The connection is lost: ends the streams of calls that wait. */
  *lose(): Generator<void, void> {
    for (const { stream } of this.#waiting.slice(this.#next)) {
      closeLost(stream);
      yield;
    }
  }

  stop(): void {
    this.#socket._handle?.readStop();
  }

  startUnlessWaiting(): void {
    const { _handle: handle, destroyed } = this.#socket;
    if (this.#waiting.length > 0 || !handle || destroyed || !this.#all.mayRead(this)) return;
    // Node does not read while the client does not, and goes on by itself; except in a session that is closing.
    if (handle.writeQueueSize === 0) handle.readStart();
    else this.#looksForReader ??= setTimeout(() => this.#look(), looksForReaderMs).unref();
  }

  #look(): void {
    this.#looksForReader = undefined;
    if (!this.#all.isPaused) this.startUnlessWaiting();
  }
}

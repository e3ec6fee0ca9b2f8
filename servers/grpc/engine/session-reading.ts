import type { Http2Session, ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { queuedBytes, startReading, stopReading } from "../../core/net/socket-reading.ts";
import type { WorkConnection, WorkShare, WorkTurns } from "../../core/service/work-turns.ts";
import { closeLost, whyStreamClosed } from "./stream-end.ts";

interface WaitingCall {
  readonly stream: ServerHttp2Stream;
  /** Still: a stream that is closed has none. */
  readonly session: Http2Session | undefined;
  begin(): void;
  lost(why: string): void;
}

const looksForReaderMs = 50;
/** So long a connection with many calls or messages is read after the others. */
const turnsBusy = 16;
/** Polls for the others alone, at most: one that had to wait may be busy for that. */
const roundsOfOthers = 3;
/** Node takes some 15 kB for the stream of a call that waits. */
const mostWaiting = 4_096;
/** Of the connections of an address, which begin a few dozen in a turn. Beyond it none is read that may bring many more. */
const mostWaitingOfAddress = 256;
/** Calls of one connection at once. One with fewer is read before those with many: it may have that many because it had to wait. */
const many = 64;
/** The same of messages and ends of streams, which take a millisecond or two. */
const manySteps = 512;

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
 * be a thousand calls, or thousands of messages. So calls begin in the turns of their connections, which are read no further until then; and once the time of
 * a turn is over, what is ready on the other connections is left to the next poll. While many calls wait, what is not read waits with its clients.
 */
export class SessionReadings {
  readonly #turns: WorkTurns;
  /** They are read before the others. */
  readonly #calm = new Set<SessionReading>();
  /** Of which nothing is known yet: now the oldest first, now the newest, or one that comes during a flood of them would wait for all of it. */
  readonly #fresh = new Set<SessionReading>();
  #newestFirst = false;
  /** Each is read after the others again when it was. */
  readonly #busy = new Set<SessionReading>();
  readonly #waiting = new WaitingCalls(mostWaiting);
  readonly #ofAddresses = new Map<string, WaitingCalls>();
  /** Where the time of a turn was over, all are stopped, and start again in the next polls. */
  #started: "none" | "others" | "all" = "all";
  /** Polls since the busy ones were read. */
  #rounds = 0;
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
    this.#fresh.add(reading);
    socket.once("close", () => {
      for (const readings of [this.#calm, this.#fresh, this.#busy]) readings.delete(reading);
      if (--ofAddress.connections === 0) this.#ofAddresses.delete(key);
    });
    socket.once("end", () => reading.over());
    return reading;
  }

  /** A call of the address waits, or does no longer. */
  count(calls: 1 | -1, ofAddress: WaitingCalls): void {
    const [isChanged, isAddressChanged] = [this.#waiting.add(calls), ofAddress.add(calls)];
    if (!isChanged && !isAddressChanged) return;
    this.#each((reading) => {
      if (!this.mayRead(reading)) reading.stop();
      else reading.startUnlessWaiting();
    });
  }

  #each(act: (reading: SessionReading) => void): void {
    this.#eachBeforeBusy(act);
    for (const reading of this.#busy) act(reading);
  }

  #eachBeforeBusy(act: (reading: SessionReading) => void): void {
    for (const reading of this.#calm) act(reading);
    for (const reading of this.#newestFirst ? [...this.#fresh].reverse() : this.#fresh) act(reading);
  }

  mayRead({ ofAddress, mayHaveMany }: SessionReading): boolean {
    return !this.#waiting.isFull && !(mayHaveMany && ofAddress.isFull);
  }

  mayStart(reading: SessionReading): boolean {
    return this.#started === "all" || (this.#started === "others" && !this.#busy.has(reading));
  }

  /** To be called when a connection has more to do than there may be time for. */
  pauseIfLate(): void {
    if (this.#started === "none" || !this.#turns.isUsedUp()) return;
    this.#each((reading) => reading.stop());
    if (this.#started === "others") this.#rounds++;
    this.#started = "none";
    clearImmediate(this.#goOn);
    this.#goOn = setImmediate(this.#startOthers);
  }

  /**
   * A poll of their own: the system tells first of sockets that it has told of before, so that one with much to do would come before the others again
   * and again.
   */
  readonly #startOthers = (): void => {
    if (this.#rounds >= roundsOfOthers) {
      this.#startBusy();
      this.#eachBeforeBusy((reading) => reading.startUnlessWaiting());
      return;
    }
    this.#started = "others";
    this.#goOn = setImmediate(this.#startBusy);
    this.#eachBeforeBusy((reading) => reading.startUnlessWaiting());
  };

  readonly #startBusy = (): void => {
    this.#started = "all";
    this.#rounds = 0;
    this.#goOn = undefined;
    for (const reading of this.#busy) reading.startUnlessWaiting();
  };

  /** Of the turns in which messages are counted. */
  get turn(): number {
    return this.#turns.turn;
  }

  /** Whether it has much to do. One that is busy again comes behind the others. */
  rank(reading: SessionReading, isBusy: boolean): void {
    if (!isBusy && this.#calm.has(reading)) return;
    if (this.#fresh.delete(reading)) this.#newestFirst = !this.#newestFirst;
    else if (!this.#calm.delete(reading) && !this.#busy.delete(reading)) return;
    (isBusy ? this.#busy : this.#calm).add(reading);
  }
}

/** Of one connection. */
export class SessionReading {
  readonly #socket: Socket;
  readonly #all: SessionReadings;
  readonly #share: WorkShare;
  readonly #waiting: WaitingCall[] = [];
  #next = 0;
  #looksForReader: NodeJS.Timeout | undefined;
  readonly ofAddress: WaitingCalls;
  /** Calls at once; nothing is known before the first. */
  mayHaveMany = true;
  #turn = -1;
  #busyTurn = Number.NEGATIVE_INFINITY;
  /** Of this turn. */
  #steps = 0;

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
    if (this.mayHaveMany) this.#rank(false);
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

  /** A message or the end of a stream was taken: a piece of 64 KB may have thousands, and in a poll there may be a piece of each connection. */
  tookStep(): void {
    const { turn } = this.#all;
    if (turn !== this.#turn) {
      this.#rank(this.#steps > manySteps);
      this.#turn = turn;
      this.#steps = 0;
    }
    if (++this.#steps === manySteps + 1) this.#rank(true);
    this.#all.pauseIfLate();
  }

  /** One that was busy remains so for a while: between two floods it may have little to do. */
  #rank(isBusy: boolean): void {
    const { turn } = this.#all;
    if (isBusy) this.#busyTurn = turn;
    if (isBusy || turn - this.#busyTurn > turnsBusy) this.#all.rank(this, isBusy);
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
    this.mayHaveMany = this.#waiting.length > many;
    this.#rank(this.#waiting.length > many);
    this.#waiting.length = 0;
    this.#next = 0;
    this.startUnlessWaiting();
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
    stopReading(this.#socket);
  }

  startUnlessWaiting(): void {
    if (this.#waiting.length > 0 || this.#socket.destroyed || !this.#all.mayStart(this) || !this.#all.mayRead(this)) return;
    const queued = queuedBytes(this.#socket);
    if (queued === undefined) return;
    // Node does not read while the client does not, and goes on by itself; except in a session that is closing.
    if (queued === 0) startReading(this.#socket);
    else this.#looksForReader ??= setTimeout(() => this.#look(), looksForReaderMs).unref();
  }

  #look(): void {
    this.#looksForReader = undefined;
    this.startUnlessWaiting();
  }
}

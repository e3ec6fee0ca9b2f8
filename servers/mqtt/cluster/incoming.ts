import { PacketError } from "../codec/reason-code.ts";
import type { FlushScheduler } from "../engine/delivery/flush-scheduler.ts";
import type { Broadcasts } from "../engine/routing/broadcasts.ts";
import type { Message } from "../engine/routing/message.ts";
import { stepsOfRouting } from "../engine/routing/route-message.ts";
import type { Arrears } from "./arrears.ts";
import { type DecodedFrame, decodeFrame, type Entry, isDurable, senderOf } from "./frame.ts";
import { firstJournalId, isLater, type Received } from "./journal.ts";

/** Where an entry is: the id of its frame in the journal, if it is there, the number of the frame, and its own in the frame. */
export interface EntryPlace {
  readonly id: string;
  readonly seq: number;
  readonly index: number;
}

export interface IncomingOptions {
  readonly onEntry: (entry: Entry, from: string, place: EntryPlace) => void;
  /** Called after the entries of every new frame, own ones included. */
  readonly onFrame: (received: Received, bytes: number) => void;
  /** An invalid frame, or one with invalid entries. */
  readonly onBroken: (count: number) => void;
  readonly onFault: (error: unknown) => void;
  /** Redis has not taken what sessions got so far: it would take the longer, and what is written to clients waits for it. */
  readonly waitsForRedis: () => boolean;
  /** Deliveries that sessions keep, of messages of other brokers, since the start. */
  readonly kept: () => number;
  /** Of the clients of this broker, who have their time beside the others. */
  readonly scheduler: () => Pick<FlushScheduler, "isTurnOver" | "whenWritten">;
  /** What is for thousands is delivered over several turns. */
  readonly broadcasts: () => Pick<Broadcasts, "isIdle" | "whenIdle">;
  readonly arrears: Pick<Arrears, "received" | "applied" | "clear">;
}

/** A delivery that a session keeps takes so many times as long: it is written to Redis, and again when the client has it. */
const timesOfKept = 10;

interface QueuedFrame {
  readonly id: string;
  readonly bytes: Buffer;
  readonly from: string;
  /** Of its bytes, those of entries that were not applied. */
  left: number;
}

/** Frames of all brokers in the order of Redis, each once. */
export class Incoming {
  /** Everything up to here was applied. */
  position = firstJournalId;
  /** Of all frames that were applied. */
  bytes = 0;
  /** Number of the last frame, by broker. */
  private readonly lastSeq = new Map<string, number>();
  /** Frames that wait for their turn, or while older ones are read from the journal. Other brokers wait until they are applied (`Backlog`). */
  private queue: QueuedFrame[] = [];
  /** Entries of the frame that is applied, or was when Redis was lost. */
  private begun = { frame: "", entries: 0 };
  /** Of the frame of which a part was applied: a step for each entry. */
  private steps: Iterator<undefined> | undefined = undefined;
  private current: QueuedFrame | undefined = undefined;
  /** `kept`, before the message that is delivered. */
  private keptBefore = 0;
  private state: "held" | "waiting for its turn" | "waiting for Redis" | "idle" = "held";
  /** Ignored while Redis is partly lost: such frames are read from the journal later. */
  private deaf = false;
  private readonly toDoBetween: (() => void)[] = [];
  private readonly recordings = new Set<(received: Received) => void>();
  private waiting: { readonly id: string; readonly resolve: () => void }[] = [];
  private readonly options: IncomingOptions;

  constructor(options: IncomingOptions) {
    this.options = options;
  }

  hold(): void {
    this.deaf = false;
    this.forget();
    this.state = "held";
  }

  release(): void {
    this.state = "idle";
    // `position` may be another one.
    this.wake();
    this.goOn();
  }

  /** A frame from the channel. */
  receive(id: string, bytes: Buffer): void {
    if (this.deaf) return;
    this.queue.push(this.received(id, bytes));
    if (this.state === "idle") this.goOnInTurn();
  }

  private received(id: string, bytes: Buffer): QueuedFrame {
    const from = senderOf(bytes);
    this.options.arrears.received(from, bytes.length);
    return { id, bytes, from, left: bytes.length };
  }

  /** One read from Redis may bring thousands of frames, or many answers. */
  private goOnInTurn(): void {
    const scheduler = this.options.scheduler();
    if (!scheduler.isTurnOver()) {
      this.goOn();
      return;
    }
    this.state = "waiting for its turn";
    scheduler.whenWritten(this.goOn);
  }

  private readonly goOn = (): void => {
    if (this.state === "held") return;
    this.state = "idle";
    const { queue } = this;
    let taken = 0;
    while ((this.steps || taken < queue.length) && !this.isDelivering) {
      if (!this.steps && this.options.waitsForRedis()) {
        this.state = "waiting for Redis";
        break;
      }
      this.steps ??= this.begin(queue[taken++] as QueuedFrame);
      this.step(this.steps);
      if (!this.steps) this.actBetween();
      // Redis was lost.
      if (queue !== this.queue) return;
      if (this.options.scheduler().isTurnOver()) break;
    }
    this.queue = queue.slice(taken);
    if ((this.queue.length === 0 && !this.steps) || this.state === "waiting for Redis") return;
    this.state = "waiting for its turn";
    const endsFrame = this.steps !== undefined && this.isDelivering;
    this.options.broadcasts().whenIdle(() => {
      // Its position goes into one commit with the last deliveries.
      if (endsFrame) this.goOn();
      else this.options.scheduler().whenWritten(this.goOn);
    });
  };

  /** Redis has taken some of what sessions got. */
  taken(): void {
    if (this.state === "waiting for Redis") this.goOnInTurn();
  }

  private begin(frame: QueuedFrame): Iterator<undefined> {
    this.current = frame;
    return this.stepsOf(frame);
  }

  private step(steps: Iterator<undefined>): void {
    try {
      if (!steps.next().done) return;
    } catch (error) {
      this.options.onFault(error);
    }
    this.steps = undefined;
    const { current } = this;
    if (current) this.applied(current, current.left, 0);
  }

  /** A message of the frame, of whose bytes so many are left. */
  private delivered(message: Message, frame: QueuedFrame, left: number): void {
    const kept = this.options.kept() - this.keptBefore;
    const deliveries = furtherDeliveriesOf(message) + Math.max(0, kept - 1) * (timesOfKept - 1);
    if (deliveries > 0) this.applied(frame, frame.left - left, deliveries);
  }

  private applied(frame: QueuedFrame, bytes: number, deliveries: number): void {
    frame.left -= bytes;
    this.options.arrears.applied(frame.from, bytes, deliveries);
  }

  /** A frame from the journal; applied even while others are held. */
  async take(id: string, bytes: Buffer): Promise<void> {
    const steps = this.begin(this.received(id, bytes));
    this.steps = steps;
    for (this.step(steps); this.steps === steps; this.step(steps)) {
      await new Promise<void>((resolve) => this.options.broadcasts().whenIdle(resolve));
      // Redis was lost.
      if (this.steps !== steps) return;
    }
    this.actBetween();
  }

  /** Calls it while no frame is applied in part: what sessions have is all up to `position`. */
  betweenFrames<Result>(act: () => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.toDoBetween.push(() => {
        try {
          resolve(act());
        } catch (error) {
          reject(error);
        }
      });
      if (!this.steps) this.actBetween();
    });
  }

  private actBetween(): void {
    if (this.toDoBetween.length > 0) for (const act of this.toDoBetween.splice(0)) act();
  }

  /**
   * What sessions keep of a frame goes into one commit, with its position, unless it is for thousands: then each has the place of what it
   * got already (`Message.journalPlace`). QoS 0 is not kept: a step for each of such messages.
   */
  private *stepsOf(queued: QueuedFrame): Generator<undefined, void> {
    const { id, bytes } = queued;
    // A broker that joins writes this marker.
    const frame = bytes.length === 0 ? undefined : this.decode(bytes);
    this.bytes += bytes.length;
    const isNew = frame !== undefined && frame.seq > (this.lastSeq.get(frame.from) ?? 0);
    if (frame && isNew) {
      const name = `${frame.seq} ${frame.from}`;
      if (this.begun.frame !== name) {
        this.begun = { frame: name, entries: 0 };
        if (frame.broken > 0) this.options.onBroken(frame.broken);
      }
      const { begun } = this;
      const isKept = frame.entries.some(isDurable);
      let message: Message | undefined;
      for (const [index, entry] of frame.entries.entries()) {
        // Requests are answered after the whole frame was applied.
        if (index < begun.entries || isQuestion(entry)) continue;
        if (index > 0 && (!isKept || this.isDelivering)) yield;
        if (message) this.delivered(message, queued, bytes.length * (1 - index / frame.entries.length));
        message = entry.type === "message" ? entry.message : undefined;
        begun.entries = index + 1;
        if (message) this.keptBefore = this.options.kept();
        this.options.onEntry(entry, frame.from, { id, seq: frame.seq, index });
      }
      if (this.isDelivering) yield;
      if (message) this.delivered(message, queued, 0);
      this.lastSeq.set(frame.from, frame.seq);
    }
    if (id !== "" && isLater(id, this.position)) this.position = id;
    if (frame && isNew) {
      const received = { id, frame };
      if (id !== "") for (const record of this.recordings) record(received);
      this.options.onFrame(received, bytes.length);
      for (const entry of frame.entries) if (isQuestion(entry)) this.options.onEntry(entry, frame.from, { id, seq: frame.seq, index: 0 });
    }
    this.wake();
  }

  private get isDelivering(): boolean {
    return !this.options.broadcasts().isIdle;
  }

  private decode(bytes: Buffer): DecodedFrame | undefined {
    try {
      return decodeFrame(bytes);
    } catch (error) {
      if (!(error instanceof PacketError)) throw error;
      this.options.onBroken(1);
      return undefined;
    }
  }

  /** Resolves once everything up to there was applied. */
  reached(id: string): Promise<void> | undefined {
    if (!isLater(id, this.position)) return undefined;
    return new Promise((resolve) => this.waiting.push({ id, resolve }));
  }

  private wake(): void {
    if (this.waiting.length === 0) return;
    const done = this.waiting.filter(({ id }) => !isLater(id, this.position));
    if (done.length === 0) return;
    this.waiting = this.waiting.filter((one) => !done.includes(one));
    for (const { resolve } of done) resolve();
  }

  /** Applies nothing until `hold`; pending waits are resolved. */
  lost(): void {
    this.deaf = true;
    // They are read from the journal.
    this.forget();
    this.actBetween();
    const { waiting } = this;
    this.waiting = [];
    for (const { resolve } of waiting) resolve();
  }

  private forget(): void {
    this.queue = [];
    this.steps = undefined;
    this.options.arrears.clear();
  }

  /** `take` gets the frames that are applied from now on, until the returned function is called. */
  record(take: (received: Received) => void): () => void {
    const record = (received: Received) => take(received);
    this.recordings.add(record);
    return () => this.recordings.delete(record);
  }
}

/** Beside the first one, with what took as long. */
const furtherDeliveriesOf = ({ matched, visited }: Message): number =>
  Math.max(0, Math.floor(stepsOfRouting({ matched, visited, groups: undefined })) - 1);

const isQuestion = ({ type }: Entry): boolean => type === "wanted" || type === "surrendered" || type === "left";

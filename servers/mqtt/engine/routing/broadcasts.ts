import type { FlushScheduler } from "../delivery/flush-scheduler.ts";
import { type EngineLog, faultText } from "../engine-observer.ts";
import type { Message } from "./message.ts";

export interface BroadcastParts {
  readonly scheduler: Pick<FlushScheduler, "isTurnOver" | "whenWritten">;
  readonly log: Pick<EngineLog, "error">;
}

interface Broadcast {
  readonly topic: string;
  readonly deliveries: Iterator<unknown>;
}

/** Deliveries between two looks at the clock. */
const deliveriesBetweenLooks = 64;
/** Who causes them waits until there are none. Of more, such as those of a recording that is replayed without pauses, the oldest is delivered at once. */
const mostWaiting = 64;

/**
 * Messages that the broker itself publishes, such as wills and replies, to thousands of clients: delivered in the turns of all clients, in the order in
 * which they were published. Those of a client are steps of its own.
 */
export class Broadcasts {
  private readonly waiting: Broadcast[] = [];
  private readonly ofTopic = new Map<string, number>();
  private whenAllDone: (() => void)[] = [];
  private state: "idle" | "working" | "waiting for its turn" = "idle";
  private readonly parts: BroadcastParts;

  constructor(parts: BroadcastParts) {
    this.parts = parts;
  }

  /** All that was published is delivered. */
  get isIdle(): boolean {
    return this.waiting.length === 0;
  }

  /** A further message with this topic comes after those that wait. */
  holds(topic: string): boolean {
    return this.ofTopic.has(topic);
  }

  add(topic: string, deliveries: Iterator<unknown>): void {
    this.waiting.push({ topic, deliveries });
    this.ofTopic.set(topic, (this.ofTopic.get(topic) ?? 0) + 1);
    if (this.state === "idle") this.begin();
    while (this.waiting.length > mostWaiting && this.state !== "working") this.work(() => this.waiting.length <= mostWaiting);
  }

  whenIdle(act: () => void): void {
    if (this.isIdle) act();
    else this.whenAllDone.push(act);
  }

  /** Resolves when all have got a message that the broker has published. */
  async delivered(message: Message): Promise<void> {
    if (message.comesBack && !message.isRouted) {
      await new Promise<void>((resolve) => {
        message.whenRouted = resolve;
      });
    }
    if (!message.isRouted) await new Promise<void>((resolve) => this.whenIdle(resolve));
  }

  /** Delivers what waits in this turn: before a stop. */
  finish(): void {
    if (this.state !== "working") this.work(() => false);
  }

  private begin(): void {
    if (this.parts.scheduler.isTurnOver()) this.wait();
    else this.goOn();
  }

  private wait(): void {
    this.state = "waiting for its turn";
    this.parts.scheduler.whenWritten(this.goOn, "much");
  }

  private readonly goOn = (): void => {
    this.work(() => this.parts.scheduler.isTurnOver());
    if (!this.isIdle) this.wait();
  };

  private work(isOver: () => boolean): void {
    const { state } = this;
    this.state = "working";
    for (let step = 1; !this.isIdle; step++) {
      this.step();
      if (step % deliveriesBetweenLooks === 0 && isOver()) break;
    }
    this.state = this.isIdle ? "idle" : state;
    if (this.isIdle) for (const act of this.whenAllDone.splice(0)) act();
  }

  private step(): void {
    const [first] = this.waiting;
    if (!first) return;
    try {
      if (!first.deliveries.next().done) return;
    } catch (error) {
      this.parts.log.error(`An error while a message was delivered: ${faultText(error)}`);
    }
    this.waiting.shift();
    const left = (this.ofTopic.get(first.topic) ?? 0) - 1;
    if (left > 0) this.ofTopic.set(first.topic, left);
    else this.ofTopic.delete(first.topic);
  }
}

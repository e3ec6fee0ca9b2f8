import { isLongName, mostLongNames } from "../../codec/topic.ts";
import type { FlushScheduler } from "../delivery/flush-scheduler.ts";
import type { EngineLimits } from "../engine-limits.ts";
import type { EngineLog, EngineObserver } from "../engine-observer.ts";
import { faultText } from "../engine-observer.ts";
import { Message } from "../routing/message.ts";
import type { MessageBus } from "../routing/message-bus.ts";

export interface RetainedRoomParts {
  readonly limits: Pick<EngineLimits, "retainedMessages" | "retainedBytes">;
  readonly bus: Pick<MessageBus, "retained">;
  readonly scheduler: Pick<FlushScheduler, "isTurnOver" | "whenWritten">;
  readonly observer: EngineObserver;
  readonly log: Pick<EngineLog, "error">;
  /** Without payload: removes what is retained. */
  keepRetained(message: Message): void;
}

/** Messages that give way between two looks at the clock. */
const removedBetweenLooks = 32;
/** A long message is there before all of the short ones that give way to it are removed: until then there may be so many times the bytes. */
const overdraft = 1.25;

/** The room for retained messages. Those of who wrote most give way, the oldest first: nobody can take all the room there is. */
export class RetainedRoom {
  private isTrimming = false;
  private readonly parts: RetainedRoomParts;

  constructor(parts: RetainedRoomParts) {
    this.parts = parts;
  }

  /** Whether there is room for the message; others may give way to it. Tens of thousands do so in the turns of all clients. */
  makeFor(message: Message): boolean {
    if (message.payload.length === 0) return true;
    const { retained } = this.parts.bus;
    const { retainedBytes } = this.parts.limits;
    if (isLongName(message.topic) && !retained.has(message.topic) && retained.longTopics >= mostLongNames) return false;
    for (let removed = 1; !this.fits(message, retainedBytes); removed++) {
      if (!this.removeOldest(message)) return false;
      if (removed % removedBetweenLooks !== 0 || !this.parts.scheduler.isTurnOver()) continue;
      if (!this.fits(message, retainedBytes * overdraft)) return false;
      this.trimLater();
      return true;
    }
    return true;
  }

  private fits({ topic, bytes }: Message, mostBytes: number): boolean {
    const { retained } = this.parts.bus;
    if (retained.has(topic)) return retained.heldBytes <= mostBytes;
    return retained.count < this.parts.limits.retainedMessages && retained.heldBytes + bytes <= mostBytes;
  }

  private removeOldest(newcomer?: Message): boolean {
    const { bus, observer } = this.parts;
    const oldest = bus.retained.oldestOfLargest(newcomer);
    if (!oldest) return false;
    this.parts.keepRetained(new Message({ topic: oldest.topic, payload: Buffer.alloc(0), qos: 0, retain: true }));
    observer.retainedGaveWay?.();
    return true;
  }

  private trimLater(): void {
    if (this.isTrimming) return;
    this.isTrimming = true;
    this.parts.scheduler.whenWritten(this.trim, "much");
  }

  private readonly trim = (): void => {
    this.isTrimming = false;
    const { bus, limits, scheduler, log } = this.parts;
    try {
      for (let removed = 1; bus.retained.heldBytes > limits.retainedBytes && this.removeOldest(); removed++) {
        if (removed % removedBetweenLooks !== 0 || !scheduler.isTurnOver()) continue;
        this.trimLater();
        return;
      }
    } catch (error) {
      log.error(`An error while retained messages were removed: ${faultText(error)}`);
    }
  };
}

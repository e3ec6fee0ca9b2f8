import { resultOf } from "../../core/turns/work-connection.ts";
import type { KeptMessages } from "./kept-messages.ts";
import type { MessageRecord } from "./message-record.ts";

/** Does work of short steps, in the turns of the clients if there are any. */
export type InTurns = <Result>(work: Iterator<unknown, Result>) => Result | Promise<Result>;

/** So few messages and topics are joined in one step. */
const fewItems = 500;
/** After so many parts the last one is joined as it is: messages may come as fast as they are joined. */
const mostParts = 8;

/** The messages that are recorded now, and those before them while both are joined, which takes several turns of the event loop for 50,000 of them. */
export class HistoryParts {
  /** Get what is recorded. */
  current: KeptMessages;
  /** The earlier messages, then those that are being appended to them. */
  private joined: readonly [earlier: KeptMessages, later: KeptMessages] | undefined = undefined;
  private joining: Promise<void> | undefined = undefined;
  private readonly create: () => KeptMessages;

  constructor(create: () => KeptMessages) {
    this.create = create;
    this.current = create();
  }

  /** For figures: all but the last moments. */
  get most(): KeptMessages {
    return this.joined?.[0] ?? this.current;
  }

  private get all(): readonly KeptMessages[] {
    return [...(this.joined ?? []), this.current];
  }

  /** The part that has the message. */
  partOf(id: number): KeptMessages | undefined {
    return this.all.find((part) => part.find(id)?.isForgotten === false);
  }

  /** Of all parts. */
  records(): MessageRecord[] {
    return this.all.flatMap((part) => part.inOrder());
  }

  /** Nothing is being joined. */
  async whole(): Promise<void> {
    while (this.joining) await this.joining;
  }

  /** Puts earlier messages before the current ones. */
  async putBefore(earlier: KeptMessages, inTurns: InTurns): Promise<void> {
    // Before its first step: who asks in between waits as well.
    this.joining = Promise.resolve().then(() => this.join(earlier, inTurns));
    try {
      await this.joining;
    } finally {
      this.joining = undefined;
    }
  }

  private async join(earlier: KeptMessages, inTurns: InTurns): Promise<void> {
    for (let part = 0; part < mostParts && this.current.size + this.current.tree.size > fewItems; part++) {
      const later = this.current;
      this.joined = [earlier, later];
      this.current = this.create();
      await inTurns(earlier.appendNewer(later));
    }
    resultOf(earlier.appendNewer(this.current));
    this.current = earlier;
    this.joined = undefined;
  }
}

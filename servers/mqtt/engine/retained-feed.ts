import type { Qos } from "../codec/packet.ts";
import type { Message } from "./message.ts";

export interface RetainedItem {
  readonly message: Message;
  readonly qos: Qos;
  readonly identifiers: readonly number[] | undefined;
}

/** The retained messages for one subscription, given one by one. */
export class RetainedFeed {
  private position = 0;
  private messages: readonly Message[] | undefined = undefined;
  private readonly find: () => readonly Message[];
  private readonly qos: Qos;
  private readonly identifiers: readonly number[] | undefined;

  /** They are looked for when their turn comes: a slow client that subscribes again and again must not have a list for each. */
  constructor(find: () => readonly Message[], qos: Qos, identifiers: readonly number[] | undefined) {
    this.find = find;
    this.qos = qos;
    this.identifiers = identifiers;
  }

  peek(): RetainedItem | undefined {
    this.messages ??= this.find();
    const message = this.messages[this.position];
    return message && { message, qos: Math.min(this.qos, message.qos) as Qos, identifiers: this.identifiers };
  }

  advance(): void {
    this.position++;
  }
}

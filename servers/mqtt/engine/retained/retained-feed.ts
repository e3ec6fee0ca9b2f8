import type { Qos } from "../../codec/packet.ts";
import type { Message } from "../routing/message.ts";

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

/** Other clients have their turn after so long, and after so many messages. */
const turnMs = 5;
const turnMessages = 1_000;

/** The feeds of one client, one after the other: a hundred thousand messages for it hold up nobody else. */
export class RetainedFeeds {
  private readonly feeds: RetainedFeed[] = [];

  add(feed: RetainedFeed): void {
    this.feeds.push(feed);
  }

  /** Hands items to `take`, which refuses one by answering false, until there are no more or the turn is over. */
  give(take: (item: RetainedItem) => boolean): "all given" | "refused" | "turn over" {
    const startedAt = performance.now();
    let given = 0;
    for (let feed = this.feeds[0]; feed; feed = this.feeds[0]) {
      const item = feed.peek();
      if (!item) {
        this.feeds.shift();
        // To look for none may take as long as to send many.
        if (performance.now() - startedAt > turnMs) return this.feeds.length > 0 ? "turn over" : "all given";
        continue;
      }
      if (given === turnMessages) return "turn over";
      if (!take(item)) return "refused";
      feed.advance();
      given++;
    }
    return "all given";
  }
}

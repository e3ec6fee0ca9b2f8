import type { Qos } from "../../codec/packet.ts";
import type { Message } from "../routing/message.ts";

export interface RetainedItem {
  readonly message: Message;
  readonly qos: Qos;
  readonly identifiers: readonly number[] | undefined;
}

/** The retained messages for one subscription, one at a time. */
export class RetainedFeed {
  private position = 0;
  private messages: readonly Message[] | undefined = undefined;
  private readonly find: () => readonly Message[];
  private readonly qos: Qos;
  private readonly identifiers: readonly number[] | undefined;

  /** `find` runs when the first message is needed: a slow client that subscribes repeatedly must not hold a list for each subscription. */
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

/** A client's turn ends after this time or number of messages, so that others are served. */
const turnMs = 5;
const turnMessages = 1_000;

/** The feeds of one client, processed in turns: a hundred thousand messages for it do not delay other clients. */
export class RetainedFeeds {
  private feeds: RetainedFeed[] = [];
  /** Position of the first feed that is not all given. */
  private first = 0;

  add(feeds: readonly RetainedFeed[]): void {
    this.feeds = this.first === 0 ? this.feeds.concat(feeds) : this.feeds.slice(this.first).concat(feeds);
    this.first = 0;
  }

  get waiting(): number {
    return this.feeds.length - this.first;
  }

  /** Passes items to `take` until it returns false (the item stays), none are left, or the turn is over. */
  give(take: (item: RetainedItem) => boolean): "all given" | "refused" | "turn over" {
    const startedAt = performance.now();
    let given = 0;
    for (let feed = this.feeds[this.first]; feed; feed = this.feeds[this.first]) {
      const item = feed.peek();
      if (!item) {
        this.first++;
        // A search without results may take as long as sending many messages.
        if (performance.now() - startedAt > turnMs) return this.waiting > 0 ? "turn over" : "all given";
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

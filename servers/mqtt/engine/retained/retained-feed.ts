import type { Qos } from "../../codec/packet.ts";
import type { Message } from "../routing/message.ts";
import type { SubscriptionOptions } from "../routing/subscription.ts";

export interface RetainedItem {
  readonly message: Message;
  readonly qos: Qos;
  readonly identifiers: readonly number[] | undefined;
}

/** What the feeds of one SUBSCRIBE have in common: there may be thousands. */
export interface FeedSource {
  /** The messages up to this order; undefined for each step of the search that finds none. */
  search(filter: string, upTo: number): Iterator<Message | undefined>;
  accepts(message: Message, options: SubscriptionOptions): boolean;
}

/** The retained messages for one subscription, one at a time. */
export class RetainedFeed {
  private item: RetainedItem | undefined = undefined;
  /** Begun when it is its turn. */
  private search: Iterator<Message | undefined> | undefined = undefined;
  private readonly source: FeedSource;
  readonly filter: string;
  private readonly upTo: number;
  private readonly options: SubscriptionOptions;

  /** `upTo`: the order of the last message that was retained before the subscription. */
  constructor(source: FeedSource, filter: string, upTo: number, options: SubscriptionOptions) {
    this.source = source;
    this.filter = filter;
    this.upTo = upTo;
    this.options = options;
  }

  /** "searching" if this step of the search found none. */
  peek(): RetainedItem | "searching" | "done" {
    if (this.item) return this.item;
    const { options } = this;
    this.search ??= this.source.search(this.filter, this.upTo);
    const { value: message, done } = this.search.next();
    if (done) return "done";
    if (!message || !this.source.accepts(message, options)) return "searching";
    const identifiers = options.identifier > 0 ? [options.identifier] : undefined;
    this.item = { message, qos: Math.min(options.qos, message.qos) as Qos, identifiers };
    return this.item;
  }

  advance(): void {
    this.item = undefined;
  }
}

/** Steps of a search, and messages, between two looks at the clock. */
const stepsBetweenLooks = 64;

/** The feeds of one client, processed in turns: a hundred thousand messages for it do not delay other clients. */
export class RetainedFeeds {
  private current: RetainedFeed | undefined = undefined;
  /** One for each filter, in the order in which they were subscribed: what has not begun is sent once, however often it was asked for. */
  private readonly next = new Map<string, RetainedFeed>();

  add(feeds: readonly RetainedFeed[]): void {
    for (const feed of feeds) this.next.set(feed.filter, feed);
  }

  /** It is no longer subscribed. */
  remove(filter: string): void {
    this.next.delete(filter);
    if (this.current?.filter === filter) this.current = undefined;
  }

  get waiting(): number {
    return this.next.size + (this.current ? 1 : 0);
  }

  private shift(): RetainedFeed | undefined {
    const [first] = this.next;
    if (!first) return undefined;
    this.next.delete(first[0]);
    return first[1];
  }

  /** Passes items to `take` until it returns false (the item stays), none are left, or the turn is over. */
  give(take: (item: RetainedItem) => boolean, isTurnOver: () => boolean): "all given" | "refused" | "turn over" {
    let steps = 0;
    for (;;) {
      this.current ??= this.shift();
      const { current } = this;
      if (!current) return "all given";
      if (++steps % stepsBetweenLooks === 0 && isTurnOver()) return "turn over";
      const item = current.peek();
      if (item === "done") this.current = undefined;
      else if (item !== "searching") {
        if (!take(item)) return "refused";
        current.advance();
      }
    }
  }
}

import type { DropReason } from "./routing/message.ts";

/** Counts since the start, and the number of subscriptions. */
export class EngineCounters {
  /** Of all sessions, now. */
  subscriptions = 0;
  /** Of all subscriptions without the tree's nodes, as `ownBytesOf`, and of the groups that share them. */
  subscriptionBytes = 0;
  /** Of all sessions with their wills, as `sessionBytes`. */
  sessionBytes = 0;
  /** Of the topic aliases that connected clients were given. */
  aliasBytes = 0;
  /** Subscriptions and sessions with names that `isLongName`. */
  longFilters = 0;
  longClients = 0;
  /** Messages from clients. */
  messagesIn = 0;
  /** Messages from the broker itself: page, sample traffic, replies, wills; without `$SYS`. */
  messagesInternal = 0;
  /** Messages from other brokers. */
  messagesElsewhere = 0;
  messagesOut = 0;
  bytesIn = 0;
  connections = 0;
  /** Violations of the standard. */
  refused = 0;
  readonly dropped: Record<DropReason, number> = {
    "slow reader": 0,
    "queue full": 0,
    expired: 0,
    "too large": 0,
    "session ended": 0,
    "connection ended": 0,
  };

  get messagesRouted(): number {
    return this.messagesIn + this.messagesInternal + this.messagesElsewhere;
  }

  get droppedInAll(): number {
    return Object.values(this.dropped).reduce((sum, count) => sum + count, 0);
  }
}

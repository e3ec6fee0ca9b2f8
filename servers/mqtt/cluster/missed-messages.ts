import { resultOf } from "../../core/turns/work-connection.ts";
import type { Qos } from "../codec/packet.ts";
import { isSharedFilter } from "../codec/topic.ts";
import type { EngineLimits } from "../engine/engine-limits.ts";
import type { JournalPlace, Message } from "../engine/routing/message.ts";
import { deliver } from "../engine/routing/route-message.ts";
import { type Subscriber, Subscription } from "../engine/routing/subscription.ts";
import { SubscriptionTrie } from "../engine/routing/subscription-trie.ts";
import type { MissedMessage } from "../engine/session/move-session.ts";
import { isLater, type Received } from "./journal.ts";
import type { ReadSession, StateAt } from "./session-fields.ts";

type QueueLimits = Pick<EngineLimits, "queueMessages" | "queueBytes" | "queuePolicy">;

/** In order, no more than a queue has room for. */
class BoundedMessages {
  private items: MissedMessage[] = [];
  /** Of the first one that was not taken. */
  private head = 0;
  private bytes = 0;
  /** Those for which there was no room. */
  dropped = 0;
  private readonly limits: QueueLimits;

  constructor(limits: QueueLimits) {
    this.limits = limits;
  }

  private get isFull(): boolean {
    return this.items.length - this.head >= this.limits.queueMessages || this.bytes >= this.limits.queueBytes;
  }

  add(missed: MissedMessage): void {
    const { message } = missed;
    while (this.isFull) {
      this.dropped++;
      if (this.limits.queuePolicy !== "drop oldest" || !this.shift()) return;
    }
    // It is a view of a page of the journal.
    message.compact();
    this.bytes += message.bytes;
    this.items.push(missed);
  }

  shift(): MissedMessage | undefined {
    const first = this.items[this.head];
    if (!first) return undefined;
    this.bytes -= first.message.bytes;
    this.head++;
    if (this.head * 2 > this.items.length) {
      this.items = this.items.slice(this.head);
      this.head = 0;
    }
    return first;
  }
}

/** Keeps what would have been delivered to the session. */
class MissedBySession implements Subscriber {
  readonly clientId: string;
  readonly recipient = undefined;
  readonly expirySeconds = 0;
  readonly hasEnded = false;
  private readonly ahead: JournalPlace | undefined;
  readonly at: StateAt;
  readonly ofJournal: BoundedMessages;
  /** Applied while the journal is read. */
  readonly applied: BoundedMessages;
  /** Where the next one belongs. */
  source: "ofJournal" | "applied" = "ofJournal";

  constructor(clientId: string, at: StateAt, ahead: JournalPlace | undefined, limits: QueueLimits) {
    this.clientId = clientId;
    this.at = at;
    this.ahead = ahead;
    this.ofJournal = new BoundedMessages(limits);
    this.applied = new BoundedMessages(limits);
  }

  readiness = () => 0;
  deliver(message: Message, qos: Qos, retain: boolean, identifiers: readonly number[] | undefined): void {
    if (qos > 0) this[this.source].add({ message, qos, retain, identifiers });
  }

  /** The message of the frame with this number. */
  hasSeen({ id, frame }: Received, message: Message, index: number): boolean {
    const { at, ahead } = this;
    if (!isLater(id, at.id)) return true;
    if (ahead && (isLater(ahead.id, id) || (ahead.id === id && index <= ahead.index))) return true;
    // What comes back from the journal is not delivered before.
    return !message.comesBack && frame.from === at.from && frame.seq <= at.seq;
  }
}

/** The messages for sessions of a batch that they have not seen. The journal is read once for all of them, and kept is only what they get. */
export class MissedMessages {
  private readonly trie = new SubscriptionTrie();
  private readonly sessions = new Map<string, MissedBySession>();
  /** Of the frames of the journal, by broker: some are there twice, after Redis was lost. */
  private readonly lastSeq = new Map<string, number>();
  private readonly limits: QueueLimits;

  constructor(limits: QueueLimits) {
    this.limits = limits;
  }

  /** A step for each subscription. */
  *add({ session: { clientId, subscriptions }, at, ahead }: Pick<ReadSession, "session" | "at" | "ahead">): Generator<undefined, void> {
    if (!at) return;
    const session = new MissedBySession(clientId, at, ahead, this.limits);
    this.sessions.set(clientId, session);
    for (const { filter, options } of subscriptions) {
      if (!isSharedFilter(filter)) this.trie.add(filter, session, new Subscription(session, filter, options, undefined));
      yield;
    }
  }

  /** The places between which the states of the sessions are; undefined if none has missed anything. */
  get places(): { readonly earliest: string; readonly latest: string } | undefined {
    const [first, ...others] = [...this.sessions.values()].map(({ at }) => at.id);
    if (first === undefined) return undefined;
    return {
      earliest: others.reduce((one, other) => (isLater(one, other) ? other : one), first),
      latest: others.reduce((one, other) => (isLater(other, one) ? other : one), first),
    };
  }

  /** A frame of the journal, in its order. */
  *read(received: Received): Generator<undefined, void> {
    const { from, seq } = received.frame;
    if (seq <= (this.lastSeq.get(from) ?? 0)) return;
    this.lastSeq.set(from, seq);
    yield* this.take(received, "ofJournal");
  }

  /** A frame that was applied here meanwhile. */
  readonly applied = (received: Received): void => resultOf(this.take(received, "applied"));

  private *take(received: Received, source: MissedBySession["source"]): Generator<undefined, void> {
    for (const [index, entry] of received.frame.entries.entries()) {
      if (entry.type !== "message" || !entry.routed || entry.message.qos === 0) continue;
      const { message } = entry;
      message.journalPlace ??= { id: received.id, index };
      if (!this.trie.isQuick(message.topic)) yield* this.trie.prepare(message.topic);
      this.route(message, source, (missed) => !missed.hasSeen(received, message, index));
      yield;
    }
  }

  private route(message: Message, source: MissedBySession["source"], isFor: (missed: MissedBySession) => boolean): void {
    for (const matching of this.trie.match(message.topic).subscriptions) {
      const missed = this.sessions.get(matching.session.clientId);
      if (!missed || !isFor(missed)) continue;
      missed.source = source;
      deliver(matching, message);
    }
  }

  /** The next one that is known for the session, in order. */
  next(clientId: string): MissedMessage | undefined {
    const missed = this.sessions.get(clientId);
    return missed?.ofJournal.shift() ?? missed?.applied.shift();
  }

  /** All others, in order, when the session is opened, and after them those of `last` that match; nothing more is kept for it. */
  takeOf(clientId: string, last: readonly Message[]): { readonly messages: readonly MissedMessage[]; readonly dropped: number } {
    const missed = this.sessions.get(clientId);
    if (!missed) return { messages: [], dropped: 0 };
    for (const message of last) this.route(message, "applied", (one) => one === missed);
    const messages: MissedMessage[] = [];
    for (let one = this.next(clientId); one; one = this.next(clientId)) messages.push(one);
    this.sessions.delete(clientId);
    return { messages, dropped: missed.ofJournal.dropped + missed.applied.dropped };
  }
}

import type { Message } from "../engine/routing/message.ts";
import { type Subscriber, Subscription } from "../engine/routing/subscription.ts";
import { SubscriptionTrie } from "../engine/routing/subscription-trie.ts";
import type { StoredSession } from "../engine/session/session-store.ts";
import { isLater, type Received } from "./journal.ts";
import type { StateAt } from "./session-fields.ts";

/** Frames in their order, each once: of the journal, and those that are applied meanwhile. */
export class FrameHistory {
  readonly frames: Received[] = [];
  private readonly keys = new Set<string>();

  readonly add = (received: Received): void => {
    const { from, seq } = received.frame;
    const key = `${seq} ${from}`;
    if (this.keys.has(key)) return;
    this.keys.add(key);
    this.frames.push(received);
  };

  /** Index of the first frame after this place. */
  after(id: string): number {
    let [from, to] = [0, this.frames.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (isLater((this.frames[middle] as Received).id, id)) to = middle;
      else from = middle + 1;
    }
    return from;
  }
}

/** Only what matches is asked for. */
const nobody: Subscriber = { clientId: "", recipient: undefined, expirySeconds: 0, hasEnded: false, readiness: () => 0, deliver: () => {} };

/** The messages for a session that it has not seen. */
export class MissedMessages {
  readonly messages: Message[] = [];
  private readonly history: FrameHistory;
  private readonly at: StateAt;
  private readonly trie = new SubscriptionTrie();
  private next: number;

  constructor(history: FrameHistory, at: StateAt, { subscriptions }: Pick<StoredSession, "subscriptions">) {
    this.history = history;
    this.at = at;
    this.next = history.after(at.id);
    for (const { filter, options } of subscriptions) this.trie.add(filter, nobody, new Subscription(nobody, filter, options, undefined));
  }

  /** True when it has all up to this place of the journal; false if the turn was over before. */
  gather(upTo: string, isTurnOver: () => boolean): boolean {
    const { history, at } = this;
    for (; this.next < history.frames.length; this.next++) {
      const { id, frame } = history.frames[this.next] as Received;
      if (isLater(id, upTo)) return true;
      if (isTurnOver()) return false;
      if (frame.from === at.from && frame.seq <= at.seq) continue;
      for (const entry of frame.entries) {
        if (entry.type === "message" && entry.routed && this.trie.match(entry.message.topic).subscriptions.length > 0)
          this.messages.push(entry.message);
      }
    }
    return true;
  }
}

import type { Qos } from "../../codec/packet.ts";
import type { Message } from "./message.ts";

export interface SubscriptionOptions {
  readonly qos: Qos;
  readonly noLocal: boolean;
  readonly retainAsPublished: boolean;
  readonly retainHandling: 0 | 1 | 2;
  /** 0 if there is none. */
  readonly identifier: number;
}

/** A session as its subscriptions see it. */
export interface Subscriber {
  readonly clientId: string;
  /** The connected client, if there is one. */
  readonly recipient: object | undefined;
  readonly expirySeconds: number;
  /** Its rank as a member of a shared subscription, from 0 (cannot take the message) to 4 (can take it now). */
  readiness(message: Message | undefined, member: Subscription): number;
  deliver(message: Message, qos: Qos, retain: boolean, identifiers: readonly number[] | undefined, shared: Subscription | undefined): void;
}

export class Subscription {
  readonly session: Subscriber;
  /** As the client wrote it, with `$share/` and group. */
  readonly filter: string;
  readonly options: SubscriptionOptions;
  readonly group: SharedGroup | undefined;
  /** The identifier as a list, so that a delivery need not create one. */
  readonly identifiers: readonly number[] | undefined;

  constructor(session: Subscriber, filter: string, options: SubscriptionOptions, group: SharedGroup | undefined) {
    this.session = session;
    this.filter = filter;
    this.options = options;
    this.group = group;
    this.identifiers = options.identifier > 0 ? [options.identifier] : undefined;
  }
}

/** The sessions that share a subscription: each message goes to one of them (MQTT 5.0 §4.8.2). */
export class SharedGroup {
  /** `$share/{group}/{filter}`. */
  readonly name: string;
  /** The filter without `$share/{group}/`. */
  readonly filter: string;
  private members: Subscription[] = [];
  private next = 0;

  constructor(name: string, filter: string) {
    this.name = name;
    this.filter = filter;
  }

  get size(): number {
    return this.members.length;
  }

  add(subscription: Subscription): void {
    this.remove(subscription.session);
    this.members.push(subscription);
  }

  remove(session: Subscriber): void {
    this.members = this.members.filter((member) => member.session !== session);
  }

  /** Numbers of members with a connection, and of those whose sessions outlive it. */
  counts(): { readonly connected: number; readonly away: number } {
    let connected = 0;
    let away = 0;
    for (const { session } of this.members) {
      if (session.recipient) connected++;
      else if (session.expirySeconds > 0) away++;
    }
    return { connected, away };
  }

  /** Client identifiers of the members without a connection. */
  away(): string[] {
    return this.members.flatMap(({ session }) => (session.recipient ? [] : [session.clientId]));
  }

  /**
   * The next member in round-robin order. Preference: members that can take the message now, then slow readers, then absent members,
   * then members for which the message is too large.
   */
  pick(message: Message | undefined, except?: Subscriber): Subscription | undefined {
    let best: Subscription | undefined;
    let bestRank = 0;
    const count = this.members.length;
    for (let step = 0; step < count; step++) {
      const index = (this.next + step) % count;
      const member = this.members[index] as Subscription;
      if (member.session === except) continue;
      const rank = member.session.readiness(message, member);
      if (rank <= bestRank) continue;
      best = member;
      bestRank = rank;
      if (rank === 4) break;
    }
    if (best) this.next = (this.members.indexOf(best) + 1) % count;
    return best;
  }
}

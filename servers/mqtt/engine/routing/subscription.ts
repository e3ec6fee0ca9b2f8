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
  /** Nothing is delivered to it any more. */
  readonly hasEnded: boolean;
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
  /** Of a shared one, in the session store: its number for the deliveries that name it. */
  storedId = 0;

  constructor(session: Subscriber, filter: string, options: SubscriptionOptions, group: SharedGroup | undefined) {
    this.session = session;
    this.filter = filter;
    this.options = options;
    this.group = group;
    this.identifiers = options.identifier > 0 ? [options.identifier] : undefined;
  }
}

/** [MQTT-3.3.5-1], [MQTT5-3.3.4-2] to -5: subscriptions of one session that match a topic, as one at their highest QoS, with all their identifiers. */
export class Overlap {
  readonly session: Subscriber;
  readonly options: { qos: Qos; noLocal: boolean; retainAsPublished: boolean } = { qos: 0, noLocal: false, retainAsPublished: false };
  identifiers: number[] | undefined = undefined;
  private isEmpty = true;
  /** Those that are not no local, if there are others. */
  private own: Overlap | undefined = undefined;

  constructor(session: Subscriber) {
    this.session = session;
  }

  add(subscription: Subscription): void {
    const { options, own } = this;
    const { qos, noLocal, retainAsPublished, identifier } = subscription.options;
    if (own) {
      if (!noLocal) own.add(subscription);
    } else if (noLocal) this.own = this.copy();
    this.isEmpty = false;
    if (qos > options.qos) options.qos = qos;
    if (noLocal) options.noLocal = true;
    if (retainAsPublished) options.retainAsPublished = true;
    if (identifier === 0) return;
    this.identifiers ??= [];
    this.identifiers.push(identifier);
  }

  private copy(): Overlap {
    const copy = new Overlap(this.session);
    Object.assign(copy.options, this.options);
    copy.identifiers = this.identifiers?.slice();
    copy.isEmpty = this.isEmpty;
    return copy;
  }

  /** For messages of the session's own client: without those with no local. Undefined if there are no others. */
  ofItself(): Overlap | undefined {
    const own = this.own ?? this;
    return own.isEmpty ? undefined : own;
  }
}

/** Members that are looked at for a message, unless there is credit for all of them. */
const looksOfMessage = 32;

/** Of a group; more have an index. */
const searchedMembers = 8;

/** Memory of a group with one member, beside the subscription (350 to 570 measured). */
export const groupBytes = 700;

/** Members of a group that are all connected, or all absent; they take turns. */
class Members {
  private readonly list: Subscription[] = [];
  /** Made for many members only: most groups have few. */
  private places: Map<Subscriber, number> | undefined = undefined;
  private next = 0;
  /** Each message adds what it may look at; who has as much as there are members may look at all, so the cost stays the same however many there are. */
  private credit = Number.POSITIVE_INFINITY;
  /** Of the member that was picked last. */
  rank = 0;
  /** The highest that these members can have. */
  private readonly highest: number;
  private readonly areConnected: boolean;
  /** Members that `pick` found no longer connected and removed. */
  left: Subscription[] | undefined = undefined;

  constructor(areConnected: boolean) {
    this.areConnected = areConnected;
    this.highest = areConnected ? 4 : 2;
  }

  get size(): number {
    return this.list.length;
  }

  /** -1 if it is no member. */
  private placeOf(session: Subscriber): number {
    const { list, places } = this;
    if (places) return places.get(session) ?? -1;
    return list.findIndex((member) => member.session === session);
  }

  add(member: Subscription): void {
    const { list } = this;
    list.push(member);
    if (this.places) this.places.set(member.session, list.length - 1);
    else if (list.length > searchedMembers) this.places = new Map(list.map(({ session }, place) => [session, place]));
  }

  remove(session: Subscriber): Subscription | undefined {
    const { list } = this;
    const place = this.placeOf(session);
    if (place < 0) return undefined;
    const member = list[place];
    const last = list.pop() as Subscription;
    this.places?.delete(session);
    if (last !== member) {
      list[place] = last;
      this.places?.set(last.session, place);
    }
    return member;
  }

  /** The next one with the highest rank for the message. */
  pick(message: Message, except: Subscriber | undefined): Subscription | undefined {
    let best: Subscription | undefined;
    this.rank = 0;
    let count = this.list.length;
    if (count === 0) return undefined;
    // Below the count, each member is looked at even if some are removed meanwhile: the last one takes the place of each.
    this.next %= count;
    this.credit = Math.min(count, this.credit + looksOfMessage);
    for (let step = 0; step < count && this.rank < this.highest; step++) {
      const member = this.list[(this.next + step) % count] as Subscription;
      if (this.areConnected && !member.session.recipient) {
        this.remove(member.session);
        this.left ??= [];
        this.left.push(member);
        count--;
        step--;
        continue;
      }
      if (step === looksOfMessage) {
        if (this.rank === 3 || this.credit < count) break;
        this.credit = 0;
      }
      if (member.session === except) continue;
      const rank = member.session.readiness(message, member);
      if (rank <= this.rank) continue;
      best = member;
      this.rank = rank;
    }
    if (best) this.next = (this.placeOf(best.session) + 1) % count;
    return best;
  }
}

/** The sessions that share a subscription: each message goes to one of them (MQTT 5.0 §4.8.2). */
export class SharedGroup {
  /** `$share/{group}/{filter}`. */
  readonly name: string;
  /** The filter without `$share/{group}/`. */
  readonly filter: string;
  private connected: Members | undefined = undefined;
  private absent: Members | undefined = undefined;
  /** Most groups have one at most. */
  private held: Subscriber | Set<Subscriber> | undefined = undefined;

  constructor(name: string, filter: string) {
    this.name = name;
    this.filter = filter;
  }

  get size(): number {
    return (this.connected?.size ?? 0) + (this.absent?.size ?? 0);
  }

  get isHeld(): boolean {
    return this.held !== undefined;
  }

  /** Absent members that may have messages of the group. */
  get holders(): Iterable<Subscriber> {
    const { held } = this;
    return held instanceof Set ? held : held ? [held] : [];
  }

  hold(session: Subscriber): void {
    const { held } = this;
    if (held instanceof Set) held.add(session);
    else if (held && held !== session) this.held = new Set([held, session]);
    else this.held = session;
  }

  holdsNoMore(session: Subscriber): void {
    const { held } = this;
    if (held === session || (held instanceof Set && held.delete(session) && held.size === 0)) this.held = undefined;
  }

  add(subscription: Subscription): void {
    const { session } = subscription;
    this.take(session);
    if (session.recipient) {
      this.connected ??= new Members(true);
      this.connected.add(subscription);
    } else {
      this.absent ??= new Members(false);
      this.absent.add(subscription);
    }
  }

  private take(session: Subscriber): Subscription | undefined {
    return this.connected?.remove(session) ?? this.absent?.remove(session);
  }

  remove(session: Subscriber): void {
    this.take(session);
    this.holdsNoMore(session);
  }

  /**
   * To be called when the session's client has connected, or for right `counts` when it has disconnected: otherwise the next message
   * that looks at the member finds it out. Thousands of clients with thousands of groups each may leave together.
   */
  moved(session: Subscriber): void {
    if (session.recipient) this.holdsNoMore(session);
    const member = this.take(session);
    if (member) this.add(member);
  }

  counts(): { readonly connected: number; readonly away: number } {
    return { connected: this.connected?.size ?? 0, away: this.absent?.size ?? 0 };
  }

  /** The connected member whose turn it is and that can take the message, now or into its queue. */
  pickConnected(message: Message, except: Subscriber): Subscription | undefined {
    const member = this.pickOfConnected(message, except);
    return this.connected && this.connected.rank > 2 ? member : undefined;
  }

  private pickOfConnected(message: Message, except: Subscriber | undefined): Subscription | undefined {
    const { connected } = this;
    const member = connected?.pick(message, except);
    const left = connected?.left;
    if (connected && left) {
      connected.left = undefined;
      for (const one of left) this.add(one);
    }
    return member;
  }

  /**
   * The member whose turn it is. Preference: members that can take the message now, then slow readers, then absent members, then members
   * whose queues are full, then members for which the message is too large.
   */
  pick(message: Message, except?: Subscriber): Subscription | undefined {
    const member = this.pickOfConnected(message, except);
    const rank = this.connected?.rank ?? 0;
    if (rank > 2) return member;
    const { absent } = this;
    const away = absent?.pick(message, except);
    return away && absent && absent.rank >= rank ? away : member;
  }
}

import { parseSharedFilter } from "../codec/topic.ts";
import { SharedGroup } from "../engine/routing/subscription.ts";
import { SubscriptionTrie } from "../engine/routing/subscription-trie.ts";

export interface MemberCounts {
  readonly connected: number;
  readonly away: number;
}

export interface Member {
  /** The broker that has the session, or is taking it over. */
  readonly broker: string;
  readonly connected: boolean;
}

interface Group {
  /** By client. */
  readonly members: Map<string, Member>;
  /** By broker, in the same order everywhere; rebuilt after a change. */
  counts: ReadonlyMap<string, MemberCounts> | undefined;
  /** One round-robin position per group: a common one would always choose the same broker for a topic that matches two groups. */
  turn: number;
}

/** Members of the shared subscriptions at each broker; all brokers have the same state at the same position of the journal. */
export class GroupRegistry {
  private readonly groups = new Map<string, Group>();
  private readonly trie = new SubscriptionTrie();

  set(name: string, clientId: string, member: Member): void {
    let group = this.groups.get(name);
    if (!group) {
      const shared = parseSharedFilter(name);
      if (!shared) return;
      group = { members: new Map(), counts: undefined, turn: 0 };
      this.groups.set(name, group);
      this.trie.add(shared.filter, name, new SharedGroup(name, shared.filter));
    }
    group.members.set(clientId, member);
    group.counts = undefined;
  }

  delete(name: string, clientId: string): void {
    const group = this.groups.get(name);
    if (!group?.members.delete(clientId)) return;
    group.counts = undefined;
    if (group.members.size === 0) this.remove(name);
  }

  private remove(name: string): void {
    this.groups.delete(name);
    const shared = parseSharedFilter(name);
    if (shared) this.trie.remove(shared.filter, name);
  }

  clear(): void {
    for (const name of [...this.groups.keys()]) this.remove(name);
  }

  /** All members at a broker, by group and client. */
  *membersOf(broker: string): Iterable<readonly [group: string, clientId: string]> {
    for (const [name, { members }] of this.groups) {
      for (const [clientId, member] of members) if (member.broker === broker) yield [name, clientId];
    }
  }

  has(name: string): boolean {
    return this.groups.has(name);
  }

  get(name: string, clientId: string): Member | undefined {
    return this.groups.get(name)?.members.get(clientId);
  }

  /** Names of the groups that match a topic. */
  matching(topic: string): string[] {
    return this.groups.size === 0 ? [] : this.trie.match(topic).groups.map(({ name }) => name);
  }

  hasConnected(name: string, except: string): boolean {
    for (const [broker, { connected }] of this.counts(name)) if (broker !== except && connected > 0) return true;
    return false;
  }

  /** The broker that delivers a message whose publisher did not know the group: the same result at every broker. */
  first(name: string): string | undefined {
    const brokers = [...this.counts(name)];
    return (brokers.find(([, { connected }]) => connected > 0) ?? brokers[0])?.[0];
  }

  /**
   * The next broker in round-robin order, weighted by its number of members; connected members before absent ones.
   * `own` replaces the known count of this broker, or leaves it out.
   */
  pick(name: string, own: { readonly broker: string; readonly counts: MemberCounts | "known" | "none" }): string | undefined {
    let brokers = this.counts(name);
    if (own.counts !== "known") {
      const others = new Map(brokers);
      if (own.counts === "none") others.delete(own.broker);
      else others.set(own.broker, own.counts);
      brokers = others;
    }
    const group = this.groups.get(name);
    const turn = group ? group.turn++ : 0;
    return pickWeighted(brokers, turn, ({ connected }) => connected) ?? pickWeighted(brokers, turn, ({ away }) => away);
  }

  private counts(name: string): ReadonlyMap<string, MemberCounts> {
    const group = this.groups.get(name);
    if (!group) return new Map();
    group.counts ??= countByBroker(group.members);
    return group.counts;
  }
}

function countByBroker(members: ReadonlyMap<string, Member>): ReadonlyMap<string, MemberCounts> {
  const counts = new Map<string, { connected: number; away: number }>();
  for (const { broker, connected } of members.values()) {
    const of = counts.get(broker) ?? { connected: 0, away: 0 };
    if (connected) of.connected++;
    else of.away++;
    counts.set(broker, of);
  }
  return new Map([...counts].sort(([one], [other]) => (one < other ? -1 : 1)));
}

function pickWeighted(
  brokers: ReadonlyMap<string, MemberCounts>,
  turn: number,
  weight: (counts: MemberCounts) => number,
): string | undefined {
  let total = 0;
  for (const counts of brokers.values()) total += weight(counts);
  if (total === 0) return undefined;
  let place = turn % total;
  for (const [broker, counts] of brokers) {
    place -= weight(counts);
    if (place < 0) return broker;
  }
  return undefined;
}

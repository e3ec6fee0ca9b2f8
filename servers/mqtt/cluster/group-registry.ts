import { parseSharedFilter } from "../codec/topic.ts";
import { SharedGroup } from "../engine/subscription.ts";
import { SubscriptionTrie } from "../engine/subscription-trie.ts";

export interface MemberCounts {
  readonly connected: number;
  readonly away: number;
}

interface Group {
  readonly brokers: Map<string, MemberCounts>;
  /** Of its own: one for all groups would fall to the same broker each time where a topic concerns two. */
  turn: number;
}

/** Which brokers have members of which shared subscriptions, as all brokers know it at the same place in the journal. */
export class GroupRegistry {
  private readonly groups = new Map<string, Group>();
  private readonly trie = new SubscriptionTrie();

  set(broker: string, group: string, counts: MemberCounts): void {
    let known = this.groups.get(group);
    if (counts.connected === 0 && counts.away === 0) {
      known?.brokers.delete(broker);
      if (known?.brokers.size === 0) this.remove(group);
      return;
    }
    if (!known) {
      const shared = parseSharedFilter(group);
      if (!shared) return;
      known = { brokers: new Map(), turn: 0 };
      this.groups.set(group, known);
      this.trie.add(shared.filter, group, new SharedGroup(group, shared.filter));
    }
    known.brokers.set(broker, counts);
  }

  private remove(group: string): void {
    this.groups.delete(group);
    const shared = parseSharedFilter(group);
    if (shared) this.trie.remove(shared.filter, group);
  }

  dropBroker(broker: string): void {
    for (const group of [...this.groups.keys()]) this.set(broker, group, { connected: 0, away: 0 });
  }

  clear(): void {
    for (const group of [...this.groups.keys()]) this.remove(group);
  }

  /** Names of the groups that a topic concerns. */
  matching(topic: string): string[] {
    return this.groups.size === 0 ? [] : this.trie.match(topic).groups.map(({ name }) => name);
  }

  counts(broker: string, group: string): MemberCounts | undefined {
    return this.groups.get(group)?.brokers.get(broker);
  }

  hasConnected(group: string, except: string): boolean {
    for (const [broker, { connected }] of this.groups.get(group)?.brokers ?? []) if (broker !== except && connected > 0) return true;
    return false;
  }

  /** Who delivers what was published by a broker that did not know the group: the same at every broker. */
  first(group: string): string | undefined {
    const brokers = [...(this.groups.get(group)?.brokers.entries() ?? [])].sort(([one], [other]) => (one < other ? -1 : 1));
    return (brokers.find(([, { connected }]) => connected > 0) ?? brokers[0])?.[0];
  }

  /**
   * Whose turn it is, each broker as often as it has members; those who are connected before those who are away.
   * `own` stands for what is known of that broker, or leaves it out.
   */
  pick(group: string, own: { readonly broker: string; readonly counts: MemberCounts | undefined }): string | undefined {
    const known = this.groups.get(group);
    const brokers = new Map(known?.brokers);
    if (own.counts) brokers.set(own.broker, own.counts);
    else brokers.delete(own.broker);
    const turn = known ? known.turn++ : 0;
    return pickWeighted(brokers, turn, ({ connected }) => connected) ?? pickWeighted(brokers, turn, ({ away }) => away);
  }
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

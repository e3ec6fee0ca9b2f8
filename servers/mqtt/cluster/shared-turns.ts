import { isSystemTopic } from "../codec/topic.ts";
import type { Message } from "../engine/message.ts";
import { deliverToOne } from "../engine/route-message.ts";
import { redistribute } from "../engine/shared-handover.ts";
import type { SharedGroup } from "../engine/subscription.ts";
import type { ClusterParts } from "./cluster-parts.ts";
import { keyPrefix } from "./cluster-scripts.ts";
import type { Entry } from "./frame.ts";
import type { MemberCounts } from "./group-registry.ts";
import type { Received } from "./incoming.ts";
import { isLater } from "./journal-id.ts";

const nobody: MemberCounts = { connected: 0, away: 0 };

/**
 * Whose turn a message for a shared subscription is. The broker where it was published decides by what all know of the members, and
 * says so with the message; for a group that it did not know the same rule answers everywhere. Within a broker the engine decides.
 */
export class SharedTurns {
  private readonly changed = new Set<string>();
  private readonly told = new Map<string, MemberCounts>();
  /** Brokers that died, and what is still given to them. */
  private readonly actingFor = new Set<string>();
  private readonly parts: ClusterParts;

  constructor(parts: ClusterParts) {
    this.parts = parts;
  }

  groupChanged(group: string): void {
    this.changed.add(group);
  }

  get hasChanges(): boolean {
    return this.changed.size > 0;
  }

  /** Tells the others, where the counts are not what they were told last. */
  tell(): void {
    const { outgoing, brokerId } = this.parts;
    const key = `${keyPrefix}groups:${brokerId}`;
    for (const group of this.changed) {
      const { connected, away } = this.countsOf(group);
      const before = this.told.get(group) ?? nobody;
      if (connected === before.connected && away === before.away) continue;
      const gone = connected === 0 && away === 0;
      if (gone) this.told.delete(group);
      else this.told.set(group, { connected, away });
      this.parts.note({ type: "call", values: gone ? ["HDEL", key, group] : ["HSET", key, group, `${connected} ${away}`] });
      outgoing.add({ type: "members", group, connected, away });
    }
    this.changed.clear();
  }

  /** Redis or the others know nothing of this broker's. */
  tellAnew(): void {
    this.told.clear();
    for (const group of this.parts.engine.groups.keys()) this.changed.add(group);
  }

  private countsOf(group: string): MemberCounts {
    return this.parts.engine.groups.get(group)?.counts() ?? nobody;
  }

  route(message: Message, groups: readonly SharedGroup[]): void {
    if (isSystemTopic(message.topic)) for (const group of groups) deliverToOne(group, message);
    else if (message.fromElsewhere) this.routeFromElsewhere(message, groups);
    else this.routeOwn(message, groups);
  }

  private routeOwn(message: Message, groups: readonly SharedGroup[]): void {
    const { registry, brokerId, isConnected } = this.parts;
    const names = isConnected ? new Set(registry.matching(message.topic)) : new Set<string>();
    for (const { name } of groups) names.add(name);
    if (names.size === 0) return;
    const turns = new Map<string, string>();
    for (const name of names) {
      const turn = isConnected ? registry.pick(name, { broker: brokerId, counts: this.countsOf(name) }) : brokerId;
      if (turn !== undefined) turns.set(name, turn);
    }
    message.groups = turns;
    for (const group of groups) if (turns.get(group.name) === brokerId) deliverToOne(group, message);
  }

  private routeFromElsewhere(message: Message, groups: readonly SharedGroup[]): void {
    const { registry, brokerId } = this.parts;
    for (const [name, broker] of message.groups ?? []) if (this.isHere(broker)) this.deliver(name, message);
    for (const group of groups) {
      if (!message.groups?.has(group.name) && registry.first(group.name) === brokerId) deliverToOne(group, message);
    }
  }

  private isHere(broker: string): boolean {
    return broker === this.parts.brokerId || this.actingFor.has(broker);
  }

  private deliver(name: string, message: Message): void {
    const group = this.parts.engine.groups.get(name);
    if (!group || !deliverToOne(group, message)) this.handOn(name, message, false);
  }

  hasConnectedElsewhere(group: string): boolean {
    const { registry, brokerId, isConnected } = this.parts;
    return isConnected && registry.hasConnected(group, brokerId);
  }

  handOn(group: string, message: Message, toConnected: boolean): boolean {
    const { registry, brokerId, isConnected, outgoing } = this.parts;
    if (!isConnected || (toConnected && !registry.hasConnected(group, brokerId))) return false;
    const to = registry.pick(group, { broker: brokerId, counts: undefined });
    if (to === undefined) return false;
    outgoing.add({ type: "handed on", to, group, message });
    return true;
  }

  onMembers({ group, connected, away }: Entry & { type: "members" }, from: string): void {
    const { registry, brokerId, engine } = this.parts;
    const before = registry.counts(from, group)?.connected ?? 0;
    registry.set(from, group, { connected, away });
    if (from === brokerId || before > 0 || connected === 0) return;
    // MQTT 5.0 §4.8.2: what waits here for members who are away goes to the one who came there.
    for (const session of engine.groups.get(group)?.away() ?? []) redistribute(engine, session);
  }

  onHandedOn({ to, group, message }: Entry & { type: "handed on" }): void {
    if (!this.isHere(to)) return;
    message.fromElsewhere = true;
    this.deliver(group, message);
  }

  /** This broker sees to what is given to the dead one: `frames` were told since it last did itself, `upTo` there and here. */
  actFor(dead: string, frames: readonly Received[], after: string): void {
    this.actingFor.add(dead);
    this.parts.registry.dropBroker(dead);
    const seen = new Set<string>();
    for (const { id, frame } of frames) {
      const key = `${frame.seq} ${frame.from}`;
      if (frame.from === dead || seen.has(key) || !isLater(id, after) || isLater(id, this.parts.incoming.position)) continue;
      seen.add(key);
      for (const entry of frame.entries) {
        if (entry.type === "handed on" && entry.to === dead) this.deliver(entry.group, entry.message);
        if (entry.type !== "message" || !entry.routed) continue;
        for (const [name, broker] of entry.message.groups ?? []) if (broker === dead) this.deliver(name, entry.message);
      }
    }
  }
}

import { isSystemTopic } from "../codec/topic.ts";
import type { Message } from "../engine/routing/message.ts";
import { deliverToOne } from "../engine/routing/route-message.ts";
import type { SharedGroup } from "../engine/routing/subscription.ts";
import type { ClusterParts } from "./cluster-parts.ts";
import type { Entry } from "./frame.ts";
import type { MemberCounts } from "./group-registry.ts";
import type { Received } from "./journal.ts";
import type { WaitingMessages } from "./waiting-messages.ts";

/**
 * Chooses the broker for a message of a shared subscription. The publishing broker decides by the members that all brokers know, and
 * sends its choice with the message; for a group that it did not know, every broker computes the same choice. Within a broker the engine chooses.
 */
export class SharedTurns {
  /** Dead brokers, and the messages still assigned to them. */
  private readonly actingFor = new Set<string>();
  /** Messages without an available member while Redis was lost; as many, and as many bytes, as a queue may have. */
  private deferred: { readonly group: string; readonly message: Message }[] = [];
  private deferredBytes = 0;
  private readonly parts: ClusterParts;
  private readonly waiting: WaitingMessages;

  constructor(parts: ClusterParts, waiting: WaitingMessages) {
    this.parts = parts;
    this.waiting = waiting;
  }

  route(message: Message, groups: readonly SharedGroup[]): void {
    if (isSystemTopic(message.topic)) for (const group of groups) deliverToOne(group, message);
    else if (message.fromElsewhere || message.isBack) this.routeOfJournal(message);
    else {
      this.choose(message, groups);
      for (const [name, broker] of message.groups ?? []) if (broker === this.parts.brokerId) this.deliver(name, message);
    }
  }

  /** Of the groups that match those of this broker, or of all. */
  choose(message: Message, groups: readonly SharedGroup[] = []): void {
    const { registry, brokerId, isConnected } = this.parts;
    const names = isConnected ? new Set(registry.matching(message.topic)) : new Set<string>();
    for (const { name } of groups) names.add(name);
    if (names.size === 0) return;
    const turns = new Map<string, string>();
    for (const name of names) {
      const turn = isConnected ? registry.pick(name, { broker: brokerId, counts: this.ownCounts(name) }) : brokerId;
      if (turn !== undefined) turns.set(name, turn);
    }
    message.groups = turns;
  }

  /** Decides by this broker's current members, not by the shared state. */
  private ownCounts(name: string): MemberCounts | "known" {
    return this.parts.engine.groups.get(name)?.counts() ?? "known";
  }

  private routeOfJournal(message: Message): void {
    const { registry, brokerId } = this.parts;
    for (const [name, broker] of message.groups ?? []) if (this.isHere(broker)) this.deliver(name, message);
    for (const name of registry.matching(message.topic)) {
      if (!message.groups?.has(name) && registry.first(name) === brokerId) this.deliver(name, message);
    }
  }

  private isHere(broker: string): boolean {
    return broker === this.parts.brokerId || this.actingFor.has(broker);
  }

  /** Delivers to a member here, or else to one at another broker. */
  deliver(name: string, message: Message): void {
    const { engine, isConnected } = this.parts;
    const group = engine.groups.get(name);
    if (group && deliverToOne(group, message)) return;
    if (isConnected) this.handOn(name, message, false);
    else this.defer(name, message);
  }

  private defer(group: string, message: Message): void {
    const { queueMessages, queueBytes } = this.parts.engine.limits;
    if (this.deferred.length >= queueMessages || this.deferredBytes >= queueBytes) {
      this.drop(group, message);
      return;
    }
    message.compact();
    this.deferredBytes += message.bytes;
    this.deferred.push({ group, message });
  }

  /** Counted and named as if the group were one client. */
  private drop(group: string, message: Message): void {
    const { counters, observer } = this.parts.engine;
    counters.dropped["queue full"]++;
    message.trace?.dropped(group, "queue full");
    observer.dropped?.(group, "queue full");
  }

  /** Redis is back. */
  deliverDeferred(): void {
    const { deferred } = this;
    this.deferred = [];
    this.deferredBytes = 0;
    for (const { group, message } of deferred) this.deliver(group, message);
  }

  hasConnectedElsewhere(group: string): boolean {
    const { registry, brokerId, isConnected } = this.parts;
    return isConnected && registry.hasConnected(group, brokerId);
  }

  handOn(group: string, message: Message, toConnected: boolean): boolean {
    const { registry, brokerId, isConnected, outgoing } = this.parts;
    if (!isConnected || (toConnected && !registry.hasConnected(group, brokerId))) return false;
    const to = registry.pick(group, { broker: brokerId, counts: "none" });
    if (to !== undefined) outgoing.handOn(to, group, message);
    // A member's session is being moved here.
    else if (registry.has(group)) this.waiting.add(group, message);
    else return false;
    return true;
  }

  onHandedOn({ to, groups, message }: Entry & { type: "handed on" }): void {
    if (!this.isHere(to)) return;
    message.fromElsewhere = true;
    for (const group of groups) this.deliver(group, message);
  }

  /** From now on messages that are assigned to the dead broker are for this one. */
  actFor(dead: string): void {
    this.actingFor.add(dead);
  }

  /** Delivers what the frame, which the dead broker had not applied, assigns to it. True if it is something. */
  deliverFor(dead: string, { frame }: Received): boolean {
    let isSomething = false;
    const give = (group: string, message: Message) => {
      isSomething = true;
      this.deliver(group, message);
    };
    for (const entry of frame.entries) {
      if (entry.type === "handed on" && entry.to === dead) for (const group of entry.groups) give(group, entry.message);
      // Messages that the dead broker published and assigned to itself were delivered in the same commit, but for those that come back.
      if (entry.type !== "message" || !entry.routed || (frame.from === dead && !entry.message.comesBack)) continue;
      for (const [name, broker] of entry.message.groups ?? []) if (broker === dead) give(name, entry.message);
    }
    return isSomething;
  }
}

import type { RetainedTree } from "../engine/retained/retained-tree.ts";
import type { ClusterParts } from "./cluster-parts.ts";
import type { Entry } from "./frame.ts";
import type { GroupMembers } from "./group-members.ts";
import type { EntryPlace } from "./incoming.ts";
import type { Liveness } from "./liveness.ts";
import type { SessionOwnership } from "./session-ownership.ts";
import type { SharedTurns } from "./shared-turns.ts";

interface EntryTakerOptions {
  readonly parts: ClusterParts;
  readonly members: GroupMembers;
  readonly turns: SharedTurns;
  readonly ownership: SessionOwnership;
  readonly liveness: Liveness;
  readonly tree: RetainedTree;
}

/** Applies the entries of all brokers. This broker's own entries come back too, in the order in which all others see them. */
export class EntryTaker {
  private readonly parts: ClusterParts;
  private readonly members: GroupMembers;
  private readonly turns: SharedTurns;
  private readonly ownership: SessionOwnership;
  private readonly liveness: Liveness;
  private readonly tree: RetainedTree;

  constructor({ parts, members, turns, ownership, liveness, tree }: EntryTakerOptions) {
    this.parts = parts;
    this.members = members;
    this.turns = turns;
    this.ownership = ownership;
    this.liveness = liveness;
    this.tree = tree;
  }

  take(entry: Entry, from: string, place: EntryPlace): void {
    const isOwn = from === this.parts.brokerId;
    switch (entry.type) {
      case "message":
        if (isOwn) this.onBack(place);
        else this.onMessage(entry, place);
        return;
      case "member":
        this.members.onMember(entry);
        return;
      case "handed on":
        this.turns.onHandedOn(entry);
        return;
      case "dead":
        this.members.onDead(entry.broker, from);
        return;
      case "left":
        if (!isOwn) void this.liveness.beat();
        return;
      case "wanted":
        this.ownership.onWanted(entry, from);
        return;
      case "surrendered":
        this.ownership.onSurrendered(entry);
        return;
      default:
        entry satisfies never;
    }
  }

  private onBack(place: EntryPlace): void {
    const { engine, outgoing } = this.parts;
    const message = outgoing.takeAwaited(place.seq, place.index);
    if (!message) return;
    message.journalPlace = place;
    engine.deliverBack(message);
  }

  private onMessage({ message, routed, kept }: Entry & { type: "message" }, place: EntryPlace): void {
    const { engine, outgoing } = this.parts;
    message.fromElsewhere = true;
    message.journalPlace = place;
    // A retained message in flight from here comes after it, at all brokers.
    if (kept && !outgoing.keeps(message.topic)) {
      const isThere = message.payload.length > 0;
      if (isThere) this.tree.set(message);
      else this.tree.delete(message.topic);
      engine.observer.retainedChanged?.(message.topic, isThere ? message : undefined);
    }
    if (!routed) return;
    engine.counters.messagesElsewhere++;
    engine.observer.published?.(message, undefined, undefined);
    engine.bus.publish(message);
  }
}

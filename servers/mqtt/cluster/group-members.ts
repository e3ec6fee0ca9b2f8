import type { ClusterParts } from "./cluster-parts.ts";
import { keyPrefix, type Reply, replyList, replyText } from "./cluster-scripts.ts";
import type { Entry } from "./frame.ts";
import type { WaitingMessages } from "./waiting-messages.ts";

type MemberState = "connected" | "away" | "gone";

const membersAtOnce = 500;
const membersKey = `${keyPrefix}members`;
/** Separator of group and client identifier: neither can contain it. */
const separator = "\0";

/** Sends this broker's members of shared subscriptions to the others, and applies theirs. */
export class GroupMembers {
  private readonly changed = new Map<string, readonly [group: string, clientId: string]>();
  private readonly announced = new Map<string, MemberState>();
  /** Members inherited from dead brokers, by broker. */
  private readonly inherited = new Map<string, readonly (readonly [group: string, clientId: string])[]>();
  private readonly parts: ClusterParts;
  private readonly waiting: WaitingMessages;

  constructor(parts: ClusterParts, waiting: WaitingMessages) {
    this.parts = parts;
    this.waiting = waiting;
  }

  change(group: string, clientId: string): void {
    this.changed.set(group + separator + clientId, [group, clientId]);
  }

  announce(): void {
    const { brokerId } = this.parts;
    for (const [key, [group, clientId]] of this.changed) {
      const state = this.stateOf(group, clientId);
      const before = this.announced.get(key) ?? "gone";
      if (state === before) continue;
      if (state === "gone") {
        this.announced.delete(key);
        // Another broker may have the client's session by now.
        this.parts.note({ type: "remove", key: membersKey, field: key, value: Buffer.from(`${brokerId} ${before}`) });
        this.parts.outgoing.add({ type: "member", group, clientId, broker: brokerId, state });
        continue;
      }
      this.announced.set(key, state);
      this.say(group, clientId, brokerId, state);
      if (before === "gone") this.waiting.take(group);
    }
    this.changed.clear();
  }

  private stateOf(group: string, clientId: string): MemberState {
    const session = this.parts.engine.sessions.get(clientId);
    if (!session?.subscriptions.has(group)) return "gone";
    if (session.recipient) return "connected";
    return session.expirySeconds > 0 ? "away" : "gone";
  }

  private say(group: string, clientId: string, broker: string, state: "connected" | "away"): void {
    const field = group + separator + clientId;
    this.parts.note({ type: "call", values: ["HSET", membersKey, field, `${broker} ${state}`] });
    this.parts.outgoing.add({ type: "member", group, clientId, broker, state });
  }

  /** The session is handed over together with its memberships, so that a group is never without its member. */
  moved(groups: readonly string[], clientId: string, to: string): void {
    for (const group of groups) {
      const key = group + separator + clientId;
      this.changed.delete(key);
      this.announced.delete(key);
      this.say(group, clientId, to, "away");
    }
  }

  /** The heir of a dead broker holds its members until their sessions have moved or are known to be over. */
  onDead(dead: string, heir: string): void {
    const { registry, brokerId } = this.parts;
    const members = [...registry.membersOf(dead)];
    for (const [group, clientId] of members) registry.set(group, clientId, { broker: heir, connected: false });
    if (heir === brokerId) this.inherited.set(dead, members);
  }

  /** Whether the frame that makes this broker the heir has been applied. */
  hasInherited(dead: string): boolean {
    return this.inherited.has(dead);
  }

  /** All surviving sessions of the dead broker are here. */
  settle(dead: string): void {
    for (const [group, clientId] of this.inherited.get(dead) ?? []) {
      const key = group + separator + clientId;
      // Its session is here already and was announced with it.
      if (this.stateOf(group, clientId) !== "gone") continue;
      this.announced.set(key, "away");
      this.change(group, clientId);
    }
    this.inherited.delete(dead);
  }

  /** Resends all memberships, over several turns of the event loop: Redis and the other brokers may have outdated ones of this broker. */
  async announceAgain(): Promise<void> {
    const { engine, registry, brokerId } = this.parts;
    this.announced.clear();
    for (const [group, clientId] of [...registry.membersOf(brokerId)]) {
      this.announced.set(group + separator + clientId, "away");
      this.change(group, clientId);
      if (this.changed.size >= membersAtOnce) await this.announceSome();
    }
    for (const { clientId, groups } of engine.sessions.values()) {
      for (const { name } of groups ?? []) {
        this.announced.delete(name + separator + clientId);
        this.change(name, clientId);
        if (this.changed.size >= membersAtOnce) await this.announceSome();
      }
    }
  }

  private async announceSome(): Promise<void> {
    this.parts.flush();
    await this.parts.caughtUp();
    await this.parts.engine.scheduler.nextTurn();
  }

  /** Forgets what was sent under the broker's previous name. */
  drop(): void {
    this.changed.clear();
    this.announced.clear();
    this.inherited.clear();
  }

  /** Loads the members stored in Redis. */
  learn(reply: Reply | undefined): void {
    const { registry } = this.parts;
    registry.clear();
    const values = replyList(reply);
    for (let at = 0; at + 1 < values.length; at += 2) {
      const [group = "", clientId = ""] = replyText(values[at]).split(separator);
      const [broker = "", state] = replyText(values[at + 1]).split(" ");
      if (state === "connected" || state === "away") registry.set(group, clientId, { broker, connected: state === "connected" });
    }
  }

  onMember({ group, clientId, broker, state }: Entry & { type: "member" }): void {
    const { registry, brokerId, engine } = this.parts;
    const hadConnected = registry.hasConnected(group, brokerId);
    if (state === "gone") {
      if (registry.get(group, clientId)?.broker === broker) registry.delete(group, clientId);
    } else registry.set(group, clientId, { broker, connected: state === "connected" });
    if (hadConnected || !registry.hasConnected(group, brokerId)) return;
    // MQTT 5.0 §4.8.2: messages that wait here for absent members go to the member that connected there.
    for (const { clientId } of engine.groups.get(group)?.holders ?? []) {
      const session = engine.sessions.get(clientId);
      if (session && !session.recipient) engine.handover.offer(session);
    }
  }
}

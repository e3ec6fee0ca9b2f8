import { setTimeout as sleep } from "node:timers/promises";
import { errorText } from "../../core/service/service-error.ts";
import type { Message } from "../engine/routing/message.ts";
import type { ClusterParts } from "./cluster-parts.ts";
import { keyPrefix, type Reply, replyList, replyText } from "./cluster-scripts.ts";
import { type LoadedMessages, readBody } from "./stored-messages.ts";

const waitingKey = (group: string): string => `${keyPrefix}waiting:${group}`;
const takingKey = (group: string): string => `${keyPrefix}taking:${group}`;
const waitingGroupsKey = `${keyPrefix}waiting-groups`;
const retryMs = 200;

/** Messages for a shared subscription all of whose members are being handed over: kept in Redis for the first broker that gets a member. */
export class WaitingMessages {
  private readonly parts: ClusterParts;
  private readonly deliver: (group: string, message: Message) => void;
  private readonly taking = new Set<string>();

  constructor(parts: ClusterParts, deliver: (group: string, message: Message) => void) {
    this.parts = parts;
    this.deliver = deliver;
  }

  add(group: string, message: Message): void {
    if (message.qos === 0) return;
    this.parts.store.waitIn(waitingKey(group), message, this.parts.engine.limits.queueMessages);
    this.parts.note({ type: "call", values: ["SADD", waitingGroupsKey, group] });
  }

  /** Looks for groups with waiting messages: a message may have been added after the members arrived. */
  look(groups: readonly string[]): void {
    const { engine, registry } = this.parts;
    for (const group of groups) {
      if (engine.groups.has(group)) this.take(group);
      else if (!registry.has(group)) this.forget(group);
    }
  }

  /** The session of the group's last member has ended. */
  private forget(group: string): void {
    this.parts.note({ type: "wait no more", key: waitingKey(group), count: Number.MAX_SAFE_INTEGER });
    this.parts.note({ type: "call", values: ["SREM", waitingGroupsKey, group] });
  }

  /** This broker has a member of the group now. */
  take(group: string): void {
    if (this.taking.has(group)) return;
    this.taking.add(group);
    void this.takeAll(group).then(
      () => this.taking.delete(group),
      (error: unknown) => {
        this.taking.delete(group);
        this.parts.lost(errorText(error));
      },
    );
  }

  private async takeAll(group: string): Promise<void> {
    const { parts } = this;
    while (parts.isConnected && parts.engine.groups.has(group)) {
      parts.flush();
      const { brokerId } = parts;
      const [state, messages] = replyList(await parts.scripts.run("waiting", brokerId, [group]));
      if (parts.brokerId !== brokerId) return;
      if (replyText(state) === "none") return;
      if (replyText(state) === "busy") {
        await sleep(retryMs, undefined, { ref: false });
        continue;
      }
      const list = replyList(messages);
      const names = list.filter((item) => !isMessage(item)).map(replyText);
      const loaded = await parts.store.messages.load(parts.redis.commands, new Set(names));
      if (parts.brokerId !== brokerId || !parts.isConnected) return;
      for (const item of list) this.give(group, item, loaded);
      // In the same commit as the deliveries.
      parts.note({ type: "wait no more", key: waitingKey(group), count: list.length });
      parts.note({ type: "call", values: ["DEL", takingKey(group)] });
    }
  }

  private give(group: string, item: Reply, { messages, era }: LoadedMessages): void {
    const name = replyText(item);
    const message = isMessage(item) ? readBody(item) : messages.get(name);
    if (!message) {
      this.parts.log.warning(`A message that waited for ${group} in Redis cannot be read and is left out.`);
      return;
    }
    if (isMessage(item)) {
      this.deliver(group, message);
      return;
    }
    // Whoever gets it names it as the list did.
    const stored = this.parts.store.messages.useNamed(name, message, era);
    this.deliver(group, stored.message);
    this.parts.store.messages.release(stored.message);
  }
}

/** Of an earlier version, which put messages into the lists instead of their names: their flags are no character of a name. */
const isMessage = (item: Reply): item is Buffer => Buffer.isBuffer(item) && (item[0] ?? 0) < 0x20;

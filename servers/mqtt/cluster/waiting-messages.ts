import { setTimeout as sleep } from "node:timers/promises";
import { errorText } from "../../core/service/service-error.ts";
import { ByteReader } from "../codec/byte-reader.ts";
import type { Message } from "../engine/routing/message.ts";
import type { ClusterParts } from "./cluster-parts.ts";
import { keyPrefix, replyList, replyText } from "./cluster-scripts.ts";
import { FrameWriter } from "./frame-writer.ts";
import { putMessage, readMessage } from "./message-fields.ts";

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
    const writer = new FrameWriter();
    putMessage(writer, message);
    this.parts.note({ type: "call", values: ["RPUSH", waitingKey(group), writer.take()] });
    this.parts.note({ type: "call", values: ["LTRIM", waitingKey(group), -this.parts.engine.limits.queueMessages, -1] });
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
    this.parts.note({ type: "call", values: ["DEL", waitingKey(group)] });
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
      const [state, messages] = replyList(await parts.scripts.run("waiting", brokerId, group));
      if (parts.brokerId !== brokerId) return;
      if (replyText(state) === "none") return;
      if (replyText(state) === "busy") {
        await sleep(retryMs, undefined, { ref: false });
        continue;
      }
      const list = replyList(messages);
      for (const bytes of list) if (Buffer.isBuffer(bytes)) this.read(group, bytes);
      // In the same commit as the deliveries.
      parts.note({ type: "call", values: ["LTRIM", waitingKey(group), list.length, -1] });
      parts.note({ type: "call", values: ["DEL", takingKey(group)] });
    }
  }

  private read(group: string, bytes: Buffer): void {
    const reader = new ByteReader();
    reader.open(bytes, 0, bytes.length);
    try {
      this.deliver(group, readMessage(reader));
    } catch (error) {
      this.parts.log.warning(`A message that waited for ${group} in Redis cannot be read and is left out: ${errorText(error)}`);
    }
  }
}

import { surrenderAll } from "../engine/move-session.ts";
import type { RetainedTree } from "../engine/retained-tree.ts";
import type { ClusterParts } from "./cluster-parts.ts";
import { type Reply, replyList, replyText } from "./cluster-scripts.ts";
import type { Commits } from "./commits.ts";
import { readJournal } from "./journal.ts";
import type { SessionOwnership } from "./session-ownership.ts";
import { isShared, type SharedRetained } from "./shared-retained.ts";
import type { SharedTurns } from "./shared-turns.ts";

export interface MembershipOptions {
  readonly parts: ClusterParts;
  readonly commits: Commits;
  readonly ownership: SessionOwnership;
  readonly turns: SharedTurns;
  readonly retained: SharedRetained;
  readonly tree: RetainedTree;
  readonly channel: string;
  readonly timeoutMs: number;
}

/** Coming to the other brokers, and coming back after Redis was lost. Each rejects where Redis is lost again meanwhile. */
export class Membership {
  private readonly options: MembershipOptions;

  constructor(options: MembershipOptions) {
    this.options = options;
  }

  /** As one that nobody knows; `connected` is told when it may share. */
  async enter(connected: () => void): Promise<void> {
    const { parts, commits, turns, timeoutMs } = this.options;
    const { breaks } = parts.redis;
    await this.listen();
    const [position, others] = replyList(await parts.scripts.run("join", parts.brokerId, timeoutMs));
    this.learnGroups(others);
    await this.loadRetained();
    this.expectNoBreak(breaks);
    parts.incoming.position = replyText(position);
    connected();
    parts.incoming.release();
    turns.tellAnew();
    commits.resend();
    commits.flush();
  }

  /** False where the others took this broker for dead, and its sessions. */
  async rejoin(connected: () => void): Promise<boolean> {
    const { parts, commits, turns, ownership, tree, timeoutMs } = this.options;
    const { incoming, redis, log, outgoing } = parts;
    const { breaks } = redis;
    await this.listen();
    await redis.look();
    const reply = replyList(await parts.scripts.run("rejoin", parts.brokerId, timeoutMs, incoming.position));
    const [state, position] = reply.slice(0, 2).map(replyText);
    if (state === "buried") return false;
    const wasEmptied = state === "emptied";
    if (reply[2] === 1) {
      log.warning("Redis does not go back far enough: messages that other brokers published meanwhile are lost here.");
      await this.loadRetained();
    }
    if (!wasEmptied) this.learnGroups(reply[3]);
    incoming.position = position ?? "";
    for await (const { id, bytes } of readJournal(redis.commands, incoming.position)) incoming.take(id, bytes);
    this.expectNoBreak(breaks);
    connected();
    incoming.release();
    if (wasEmptied) commits.refill(tree);
    const told = outgoing.waiting.length > 0;
    commits.resend();
    turns.tellAnew();
    await ownership.claimAll();
    const [emptied, meanwhile] = [wasEmptied ? ", and was emptied" : "", told ? ", with what was published meanwhile" : ""];
    log.notable(`Redis is back${emptied}: messages, retained messages and sessions are shared again${meanwhile}.`);
    return true;
  }

  /** Under another identifier: what this broker has of sessions is not its own any more. */
  async beginAnew(connected: () => void): Promise<void> {
    const { parts, commits } = this.options;
    parts.log.warning("The other brokers took this one for dead and took its sessions over: its clients have to connect again.");
    surrenderAll(parts.engine);
    commits.drop();
    parts.outgoing.renew(parts.brokerId);
    await this.enter(connected);
  }

  /** From now on frames come, and wait. */
  private async listen(): Promise<void> {
    const { parts, channel } = this.options;
    parts.incoming.hold();
    await parts.redis.listening.subscribe(channel);
    await parts.scripts.load();
  }

  private expectNoBreak(breaks: number): void {
    if (this.options.parts.redis.breaks !== breaks) throw new Error("the connection broke again");
  }

  private learnGroups(others: Reply | undefined): void {
    const { registry } = this.options.parts;
    registry.clear();
    for (const other of replyList(others)) {
      const [broker, groups] = replyList(other);
      const values = replyList(groups);
      for (let at = 0; at + 1 < values.length; at += 2) {
        const [connected = 0, away = 0] = replyText(values[at + 1])
          .split(" ")
          .map(Number);
        registry.set(replyText(broker), replyText(values[at]), { connected, away });
      }
    }
  }

  /** What waits to be told stands above what is there. */
  private async loadRetained(): Promise<void> {
    const { parts, retained, tree } = this.options;
    const { messages, broken } = await retained.load();
    if (broken > 0) parts.log.warning(`${broken} of the retained messages in Redis cannot be read and are left out.`);
    for (const { topic } of [...tree.values()]) if (isShared(topic) && !parts.outgoing.keeps(topic)) tree.delete(topic);
    for (const message of messages) if (!parts.outgoing.keeps(message.topic)) tree.set(message);
  }
}

import type { RetainedTree } from "../engine/retained/retained-tree.ts";
import { surrenderAll } from "../engine/session/move-session.ts";
import type { ClusterParts } from "./cluster-parts.ts";
import { presenceOf, replyList, replyText } from "./cluster-scripts.ts";
import type { Commits } from "./commits.ts";
import type { GroupMembers } from "./group-members.ts";
import { readJournal } from "./journal.ts";
import type { SessionOwnership } from "./session-ownership.ts";
import { isShared, type SharedRetained } from "./shared-retained.ts";
import type { SharedTurns } from "./shared-turns.ts";

export interface MembershipOptions {
  readonly parts: ClusterParts;
  readonly commits: Commits;
  readonly ownership: SessionOwnership;
  readonly members: GroupMembers;
  readonly turns: SharedTurns;
  readonly retained: SharedRetained;
  readonly tree: RetainedTree;
  readonly channel: string;
  readonly timeoutMs: number;
}

/** Joining the other brokers, and rejoining after Redis was lost. Each rejects if Redis is lost again meanwhile. */
export class Membership {
  private readonly options: MembershipOptions;

  constructor(options: MembershipOptions) {
    this.options = options;
  }

  /** Joins as a new broker; `connected` is called when sharing may start. */
  async enter(connected: () => void): Promise<void> {
    const { parts, commits, members, turns, timeoutMs } = this.options;
    const { breaks } = parts.redis;
    await this.listen();
    const [position, groups] = replyList(await parts.scripts.run("join", parts.brokerId, [timeoutMs, parts.scripts.term]));
    members.learn(groups);
    await this.loadRetained();
    this.expectNoBreak(breaks);
    parts.incoming.position = replyText(position);
    connected();
    parts.incoming.release();
    await members.announceAgain();
    commits.resend();
    turns.deliverDeferred();
    commits.flush();
  }

  /** Rejoins. If the others declared this broker dead, returns the last of its frames that was applied. */
  async rejoin(connected: () => void): Promise<"done" | { readonly counted: number }> {
    const { parts, commits, members, turns, ownership, tree, timeoutMs } = this.options;
    const { incoming, redis, log, outgoing } = parts;
    const { breaks } = redis;
    await this.listen();
    await redis.look();
    const reply = replyList(await parts.scripts.run("rejoin", parts.brokerId, [timeoutMs, incoming.position, parts.scripts.term]));
    const [state, position] = reply.slice(0, 2).map(replyText);
    if (state === "buried") return { counted: Number(position) || 0 };
    const wasEmptied = state === "emptied";
    if (reply[2] === 1) {
      log.warning("The journal in Redis does not go back far enough: messages that other brokers published meanwhile are lost here.");
      await this.loadRetained();
    }
    if (!wasEmptied) members.learn(reply[3]);
    incoming.position = position ?? "";
    for await (const { id, bytes } of readJournal(redis.commands, incoming.position)) {
      await incoming.take(id, bytes);
      if (parts.engine.scheduler.isTurnOver()) await parts.engine.scheduler.nextTurn();
    }
    // What was delivered in part when Redis was lost.
    await new Promise<void>((resolve) => parts.engine.broadcasts.whenIdle(resolve));
    this.expectNoBreak(breaks);
    connected();
    incoming.release();
    if (wasEmptied) await commits.refill(tree);
    this.expectNoBreak(breaks);
    const hasUnsent = outgoing.waiting.length > 0;
    commits.resend();
    await members.announceAgain();
    turns.deliverDeferred();
    await ownership.claimAll();
    // It may refuse what it has to keep.
    await commits.last;
    if (!parts.isConnected) throw new Error("it was lost again");
    const [emptied, meanwhile] = [wasEmptied ? ", and was emptied" : "", hasUnsent ? ", with what was published meanwhile" : ""];
    log.notable(`Redis is back${emptied}: messages, retained messages and sessions are shared again${meanwhile}.`);
    return "done";
  }

  /** Joins under a new identifier: the other brokers own its sessions now. */
  async joinAsNew(counted: number, connected: () => void): Promise<void> {
    const { parts, commits, members, ownership } = this.options;
    parts.log.warning("The other brokers declared this one dead and took its sessions over: its clients have to connect again.");
    surrenderAll(parts.engine);
    ownership.doubt();
    commits.drop();
    members.drop();
    parts.outgoing.renew(parts.brokerId, counted);
    await this.enter(connected);
  }

  /** Starts to receive frames, and holds them. */
  private async listen(): Promise<void> {
    const { parts, channel } = this.options;
    parts.incoming.hold();
    await parts.redis.listening.subscribe(channel, presenceOf(channel, parts.brokerId));
    await parts.scripts.load();
  }

  private expectNoBreak(breaks: number): void {
    if (this.options.parts.redis.breaks !== breaks) throw new Error("the connection broke again");
  }

  /** Loads retained messages, in the turns of all; local changes that are not sent yet win. What is there and stays is never missing. */
  private async loadRetained(): Promise<void> {
    const { parts, retained, tree } = this.options;
    const { scheduler } = parts.engine;
    const { messages, broken } = await retained.load();
    if (broken > 0) parts.log.warning(`${broken} of the retained messages in Redis cannot be read and are left out.`);
    const topics = new Set<string>();
    for (const message of messages) {
      topics.add(message.topic);
      if (!parts.outgoing.keeps(message.topic)) tree.set(message);
      if (scheduler.isTurnOver()) await scheduler.nextTurn();
    }
    for (const { topic } of [...tree.values()]) {
      if (isShared(topic) && !topics.has(topic) && !parts.outgoing.keeps(topic)) tree.delete(topic);
      if (scheduler.isTurnOver()) await scheduler.nextTurn();
    }
  }
}

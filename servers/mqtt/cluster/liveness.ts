import { setTimeout as sleep } from "node:timers/promises";
import { errorText } from "../../core/service/service-error.ts";
import type { ClusterParts } from "./cluster-parts.ts";
import { keyPrefix, type Reply, replyList, replyText } from "./cluster-scripts.ts";
import type { GroupMembers } from "./group-members.ts";
import { framesAfter, isJournalId, type Received } from "./journal.ts";
import type { SessionOwnership } from "./session-ownership.ts";
import type { SharedTurns } from "./shared-turns.ts";
import type { WaitingMessages } from "./waiting-messages.ts";

/** Heartbeats within the time after which a broker counts as dead. */
const beats = { perTimeout: 4, perTrim: 20 };

export interface LivenessOptions {
  readonly parts: ClusterParts;
  readonly ownership: SessionOwnership;
  readonly members: GroupMembers;
  readonly turns: SharedTurns;
  readonly waiting: WaitingMessages;
  /** Time without a heartbeat after which a broker counts as dead. */
  readonly timeoutMs: number;
}

const echoPollMs = 20;

/** Sends heartbeats, detects dead brokers and takes over their sessions. */
export class Liveness {
  /** Living brokers, this one among them. */
  brokers = 1;
  private readonly burying = new Set<string>();
  private timer: NodeJS.Timeout | undefined = undefined;
  private beats = 0;
  private readonly options: LivenessOptions;

  constructor(options: LivenessOptions) {
    this.options = options;
  }

  /** After a restart of Redis, living brokers first need time for a heartbeat. */
  readonly mayBury = (): boolean => performance.now() - this.options.parts.redis.startedAt > this.options.timeoutMs;

  start(): void {
    this.timer ??= setInterval(() => void this.beat(), this.options.timeoutMs / beats.perTimeout);
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** Runs at each interval, and immediately when a broker leaves. Never rejects. */
  async beat(): Promise<void> {
    const { parts, timeoutMs } = this.options;
    if (!parts.isConnected) return;
    try {
      const [state, others, waitingGroups] = replyList(await parts.scripts.run("beat", parts.brokerId, [timeoutMs]));
      if (replyText(state) !== "known") {
        const buried = replyText(state) === "buried";
        parts.lost(buried ? "the other brokers declared this one dead" : "it was emptied", buried);
        return;
      }
      await this.look(replyList(others));
      this.options.waiting.look(replyList(waitingGroups).map(replyText));
      parts.flush();
      if (++this.beats % beats.perTrim === 0) await parts.scripts.run("trim", parts.brokerId);
    } catch (error) {
      parts.lost(errorText(error));
    }
  }

  private async look(others: readonly Reply[]): Promise<void> {
    const known = others.map((other) => replyList(other));
    const living = 1 + known.filter(([, alive]) => alive === 1).length;
    // A broker that joins logs the count itself.
    if (living !== this.brokers && this.timer)
      this.options.parts.log.info(`${living === 1 ? "No other broker shares" : `${living} brokers share`} the Redis now.`);
    this.brokers = living;
    if (!this.mayBury()) return;
    for (const [id, alive] of known) if (alive === 0) await this.bury(replyText(id));
  }

  private async bury(dead: string): Promise<void> {
    const { parts, ownership, members, turns } = this.options;
    if (this.burying.has(dead)) return;
    const [position] = replyList(await parts.scripts.run("bury", parts.brokerId, [dead]));
    // Another broker takes it over, or it is alive.
    if (position === undefined) return;
    this.burying.add(dead);
    try {
      parts.note({ type: "inherit", dead });
      parts.outgoing.add({ type: "dead", broker: dead });
      parts.flush();
      const place = replyText(position);
      const frames = await this.framesSince(place);
      turns.actFor(dead, frames, place);
      // In the same commit: if this broker dies, the next one continues from here.
      parts.note({ type: "call", values: ["HSET", `${keyPrefix}broker:${dead}`, "acted", parts.incoming.position] });
      parts.flush();
      const count = await ownership.takeOver(dead);
      while (parts.isConnected && !members.hasInherited(dead)) await sleep(echoPollMs);
      members.settle(dead);
      // Commits run in order: Redis has this broker as owner of the sessions before the dead one is removed.
      parts.flush();
      await parts.scripts.run("forget", parts.brokerId, [dead]);
      parts.log.info(`A broker stopped responding; ${count} of its sessions were taken over.`);
    } finally {
      this.burying.delete(dead);
    }
  }

  private async framesSince(place: string): Promise<readonly Received[]> {
    const { incoming, redis } = this.options.parts;
    if (!isJournalId(place)) return [];
    const applied: Received[] = [];
    const stop = incoming.record((received) => applied.push(received));
    try {
      const frames: Received[] = [];
      for await (const received of framesAfter(redis.commands, place)) frames.push(received);
      return [...frames, ...applied];
    } finally {
      stop();
    }
  }
}

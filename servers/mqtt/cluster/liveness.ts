import { setTimeout as sleep } from "node:timers/promises";
import { errorText } from "../../core/service/service-error.ts";
import type { ClusterParts } from "./cluster-parts.ts";
import { keyPrefix, type Reply, replyList, replyText } from "./cluster-scripts.ts";
import type { GroupMembers } from "./group-members.ts";
import { framesAfter, isJournalId, isLater, type Received } from "./journal.ts";
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
    const { parts, ownership, members } = this.options;
    if (this.burying.has(dead)) return;
    const [position] = replyList(await parts.scripts.run("bury", parts.brokerId, [dead]));
    // Another broker takes it over, or it is alive.
    if (position === undefined) return;
    this.burying.add(dead);
    try {
      parts.note({ type: "inherit", dead });
      parts.outgoing.add({ type: "dead", broker: dead });
      parts.flush();
      await this.actFor(dead, replyText(position));
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

  /** Delivers what is assigned to the dead broker, from where it had applied all, in the order of the journal and the turns of clients. */
  private async actFor(dead: string, place: string): Promise<void> {
    const { parts, turns } = this.options;
    const { incoming, redis } = parts;
    let acted = isJournalId(place) ? place : incoming.position;
    // Some are there twice, after Redis was lost.
    const lastSeq = new Map<string, number>();
    const deliver = async (received: Received) => {
      const { id, frame } = received;
      if (!isLater(id, acted)) return;
      const isNew = frame.seq > (lastSeq.get(frame.from) ?? 0);
      if (isNew) lastSeq.set(frame.from, frame.seq);
      acted = id;
      if (!isNew || !turns.deliverFor(dead, received)) return;
      // In the same commit: if this broker dies, the next one continues from here.
      parts.note({ type: "call", values: ["HSET", `${keyPrefix}broker:${dead}`, "acted", id] });
      if (parts.engine.scheduler.isTurnOver()) await this.rest();
    };
    const applied: Received[] = [];
    const stop = incoming.record((received) => applied.push(received));
    try {
      const { position } = incoming;
      for await (const received of framesAfter(redis.commands, acted)) {
        if (isLater(received.id, position)) break;
        await deliver(received);
      }
      do for (const received of applied.splice(0)) await deliver(received);
      while (!(await incoming.betweenFrames(() => this.hasCaughtUp(dead, applied))));
    } finally {
      stop();
    }
    parts.flush();
  }

  /** What is applied next is for this broker at once. */
  private hasCaughtUp(dead: string, applied: readonly Received[]): boolean {
    if (applied.length > 0) return false;
    this.options.turns.actFor(dead);
    return true;
  }

  private async rest(): Promise<void> {
    const { parts } = this.options;
    parts.flush();
    await parts.caughtUp();
    await parts.engine.scheduler.nextTurn();
  }
}

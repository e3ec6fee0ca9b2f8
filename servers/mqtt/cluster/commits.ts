import { errorText } from "../../core/service/service-error.ts";
import type { RetainedTree } from "../engine/retained/retained-tree.ts";
import type { ClusterParts } from "./cluster-parts.ts";
import { replyList, replyText, type ScriptArgument } from "./cluster-scripts.ts";
import type { CommitGate } from "./commit-gate.ts";
import type { FrameBus } from "./frame-bus.ts";
import type { GroupMembers } from "./group-members.ts";
import type { OutFrame } from "./outgoing.ts";
import { packOperations, type RedisOperation } from "./redis-operation.ts";
import { isShared, type SharedRetained } from "./shared-retained.ts";

export interface CommitsOptions {
  readonly parts: ClusterParts;
  readonly members: GroupMembers;
  readonly retained: SharedRetained;
  readonly bus: FrameBus;
  readonly channel: string;
  readonly gate: CommitGate;
  /** Sessions for which no living broker was found. */
  readonly onKept: (clients: readonly string[]) => void;
  /** Redis has answered a commit, or is lost. */
  readonly onAnswered: () => void;
}

const retainedAtOnce = 500;
/** The position in the journal is reported after this time, and before it after so many bytes: publishers elsewhere may wait for it. */
const positionIntervalMs = 1_000;
const positionBytes = 256 << 10;

/** One transaction per tick: the changes of the sessions, and the frame for the other brokers. */
export class Commits {
  /** Resolves when the newest commit is done, successful or not. */
  last: Promise<void> = Promise.resolve();
  /** Of the commits that Redis has not answered, without the frames, which are counted with those that were sent. */
  bytes = 0;
  /** Of them those of messages of other brokers. */
  bytesOfOthers = 0;
  private operations: RedisOperation[] = [];
  private scheduled = false;
  private position = "";
  private positionAt = Number.NEGATIVE_INFINITY;
  private positionBytes = 0;
  private readonly options: CommitsOptions;

  constructor(options: CommitsOptions) {
    this.options = options;
  }

  note(operation: RedisOperation): void {
    this.operations.push(operation);
    this.schedule();
  }

  /** Schedules a commit at the end of this tick. */
  schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(this.flushInTurn);
  }

  /** What is much was collected in this turn of the event loop, perhaps after the commit was scheduled. */
  private readonly flushInTurn = (): void => {
    if (this.options.parts.store.hasMuchToCommit) setImmediate(this.flushScheduled);
    else this.flushScheduled();
  };

  private readonly flushScheduled = (): void => {
    // It was committed meanwhile.
    if (!this.scheduled) return;
    try {
      this.flush();
    } catch (error) {
      this.options.parts.lost(`an error: ${errorText(error)}`);
    }
  };

  flush(): void {
    this.scheduled = false;
    const { parts, members } = this.options;
    const connected = parts.isConnected;
    if (connected) members.announce();
    const frames = parts.outgoing.seal(parts.brokerId, connected);
    const { heldOfOthers } = parts.store;
    // The broker's whole state is rewritten when Redis is back.
    if (!connected) {
      this.drop();
      return;
    }
    const operations = [...parts.store.take(parts.incoming.position), ...this.operations];
    this.operations = [];
    for (const frame of frames) operations.push(...this.share(frame));
    if (operations.length > 0 || this.isPositionDue()) this.commit(operations, parts.outgoing.lastSeq, heldOfOthers);
  }

  /** An empty commit only reports the position in the journal. */
  private isPositionDue(): boolean {
    if (this.options.parts.incoming.position === this.position) return false;
    return this.hasReadMuch || performance.now() - this.positionAt > positionIntervalMs;
  }

  private get hasReadMuch(): boolean {
    return this.options.parts.incoming.bytes - this.positionBytes > positionBytes;
  }

  /** A frame was applied. */
  read(): void {
    if (this.hasReadMuch) this.schedule();
  }

  private share({ bytes, durable, entries }: OutFrame): RedisOperation[] {
    const { retained, bus, channel } = this.options;
    const operations: RedisOperation[] = entries.flatMap((entry) =>
      entry.type === "message" && entry.kept ? [retained.operation(entry.message)] : [],
    );
    operations.push({ type: "share", channel, envelope: bus.envelope(bytes), frameLength: bytes.length, durable });
    return operations;
  }

  private commit(operations: readonly RedisOperation[], seq: number, ofOthers = 0): void {
    const { parts, gate } = this.options;
    const { position } = parts.incoming;
    this.position = position;
    this.positionAt = performance.now();
    this.positionBytes = parts.incoming.bytes;
    // QoS 0 is never acknowledged.
    const promises = operations.some((operation) => operation.type !== "share" || operation.durable);
    const number = promises ? gate.begin() : 0;
    const { argument, bytes } = packOperations(operations);
    this.bytes += bytes;
    this.bytesOfOthers += ofOthers;
    const { journalBytes } = parts.engine.limits;
    const values: ScriptArgument[] = [position, seq, journalBytes, parts.scripts.term, argument];
    this.last = parts.scripts.run("commit", parts.brokerId, values).then(
      (reply) => {
        const [state, kept] = replyList(reply);
        if (replyText(state) === "buried") {
          parts.lost("the other brokers declared this one dead", true);
          return;
        }
        // What it lacks is here, and is written again.
        if (replyText(state) === "outdated") parts.lost("it was emptied");
        else if (replyText(state) === "lacking") parts.lost("messages of sessions are missing in it");
        else if (replyText(state) !== "done") parts.lost("it gave an answer that it does not give to a commit");
        gate.end(number);
        const clients = replyList(kept).map(replyText);
        if (clients.length > 0) this.options.onKept(clients);
      },
      (error: unknown) => parts.lost(errorText(error)),
    );
    this.last = this.last.finally(() => {
      this.bytes -= bytes;
      this.bytesOfOthers -= ofOthers;
      this.options.onAnswered();
    });
  }

  /** Frames that were sent and not received back; duplicates are detected by their number. */
  resend(): void {
    for (const frame of this.options.parts.outgoing.waiting) this.commit(this.share(frame), frame.seq);
  }

  /** Rewrites retained messages that Redis has lost, over several turns of the event loop. */
  async refill(tree: RetainedTree): Promise<void> {
    const { parts, retained } = this.options;
    let operations: RedisOperation[] = [];
    const commit = () => {
      if (operations.length > 0) this.commit(operations, parts.outgoing.lastSeq);
      operations = [];
    };
    for (const message of tree.values()) {
      if (!isShared(message.topic) || parts.outgoing.keeps(message.topic)) continue;
      operations.push(retained.operation(message));
      if (operations.length >= retainedAtOnce) commit();
      if (!parts.engine.scheduler.isTurnOver()) continue;
      commit();
      await this.last;
      await parts.engine.scheduler.nextTurn();
      if (!parts.isConnected) return;
    }
    commit();
  }

  /** Drops what is queued: without Redis, and if another broker owns the sessions now. */
  drop(): void {
    this.options.parts.store.drop();
    this.operations = [];
  }
}

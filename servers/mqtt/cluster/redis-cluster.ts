import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { connectRedis, type RedisConnections, type RedisSharers, unreachable } from "../../core/redis/redis-connections.ts";
import type { Log } from "../../core/service/log.ts";
import { countOf, countText } from "../../core/service/quantity.ts";
import { errorText } from "../../core/service/service-error.ts";
import type { ClusterLink, GatedClient, WaitingClient } from "../engine/cluster-link.ts";
import type { Transport } from "../engine/delivery/output.ts";
import type { Engine } from "../engine/engine.ts";
import type { RetainedTree } from "../engine/retained/retained-tree.ts";
import { Message } from "../engine/routing/message.ts";
import type { SharedGroup } from "../engine/routing/subscription.ts";
import type { Session } from "../engine/session/session.ts";
import { Arrears, readSaying, saying } from "./arrears.ts";
import { Backlog, mostUntakenBytes } from "./backlog.ts";
import type { ClusterParts } from "./cluster-parts.ts";
import { ClusterScripts, channelOf, keyPrefix, presenceOf, replyList, replyText } from "./cluster-scripts.ts";
import { CommitGate } from "./commit-gate.ts";
import { Commits } from "./commits.ts";
import { EntryTaker } from "./entry-taker.ts";
import { createFrameBus } from "./frame-bus.ts";
import { GroupMembers } from "./group-members.ts";
import { GroupRegistry } from "./group-registry.ts";
import { Incoming } from "./incoming.ts";
import { Liveness } from "./liveness.ts";
import { Membership } from "./membership.ts";
import { Outgoing } from "./outgoing.ts";
import type { RedisOperation } from "./redis-operation.ts";
import { RedisSessionStore } from "./redis-session-store.ts";
import { SessionOwnership } from "./session-ownership.ts";
import { isShared, SharedRetained } from "./shared-retained.ts";
import { SharedTurns } from "./shared-turns.ts";
import { WaitingMessages } from "./waiting-messages.ts";

export interface ClusterOptions {
  readonly url: string;
  /** Time without a heartbeat after which a broker counts as dead. */
  readonly timeoutMs: number;
  readonly retained: RetainedTree;
  readonly log: Log;
}

const brokers: RedisSharers = { name: "brokers", variable: "MQTT_CLUSTER", alone: "a broker of its own" };
/** Additional time for a broker to hand a session over. */
const handoverMs = 10_000;
const retryMs = 250;
/** After Redis has refused something: the first pause, which doubles each time, and the longest one. */
const refusedMs = { first: 1_000, most: 15_000 };
/** Connected for so long, the next refusal is a first one. */
const steadyMs = 30_000;
const closeMs = 2_000;
const lossIntervalMs = 1_000;

/** "lost": works alone until Redis is back. */
type State = "joining" | "connected" | "lost" | "closed";

/** This broker as a member of a cluster that shares one Redis. */
export class RedisCluster implements ClusterLink, ClusterParts {
  brokerId = newBrokerId();
  readonly redis: RedisConnections;
  readonly scripts: ClusterScripts;
  readonly outgoing: Outgoing;
  readonly incoming: Incoming;
  readonly registry = new GroupRegistry();
  readonly store: RedisSessionStore;
  readonly log: Log;
  comingBack: Promise<void> | undefined = undefined;
  private isComingBack = false;
  /** How often in a row Redis has refused something. */
  private refusals = 0;
  private backAt = Number.NEGATIVE_INFINITY;
  /** Why it was lost last, or could not be used since. */
  private problem = "";
  private lostMeanwhile = false;
  private attached: Engine | undefined = undefined;
  private state: State = "joining";
  private readonly commitGate = new CommitGate();
  private readonly backlog: Backlog;
  private readonly retained: SharedRetained;
  private readonly turns: SharedTurns;
  private readonly members: GroupMembers;
  private readonly commits: Commits;
  private readonly ownership: SessionOwnership;
  private readonly liveness: Liveness;
  private readonly membership: Membership;
  private readonly taker: EntryTaker;
  private broken = 0;
  private readonly lossTimer: NodeJS.Timeout;

  constructor(redis: RedisConnections, { timeoutMs, retained: tree, log }: ClusterOptions) {
    this.redis = redis;
    this.log = log;
    const channel = channelOf(redis.database);
    this.scripts = new ClusterScripts(redis.commands);
    const onFault = (error: unknown) => log.error(`A frame of another broker could not be applied: ${errorText(error)}`);
    this.outgoing = new Outgoing(() => this.commits.schedule());
    this.incoming = new Incoming({
      onEntry: (entry, from, place) => this.taker.take(entry, from, place),
      onFrame: ({ id, frame }, bytes) => {
        this.commits.read();
        if (frame.from !== this.brokerId) return;
        this.outgoing.echoed(frame.seq);
        this.backlog.received({ id }, bytes);
      },
      onBroken: (count) => {
        this.broken += count;
      },
      onFault,
      scheduler: () => this.engine.scheduler,
      broadcasts: () => this.engine.broadcasts,
      arrears: new Arrears({
        brokers: () => this.liveness.brokers,
        say: (to, isBehind) => this.note({ type: "call", values: ["PUBLISH", presenceOf(channel, to), saying(this.brokerId, isBehind)] }),
      }),
      kept: () => this.store.queuedOfOthers,
      waitsForRedis: () => this.isConnected && this.store.heldOfOthers + this.commits.bytesOfOthers > mostUntakenBytes,
    });
    this.backlog = new Backlog({
      sentBytes: () => this.outgoing.sentBytes,
      untakenBytes: () => this.store.heldBytes - this.store.heldOfOthers + this.commits.bytes - this.commits.bytesOfOthers,
      brokers: () => this.liveness.brokers,
      isConnected: () => this.isConnected,
      positions: async () => replyList(await this.scripts.run("positions", this.brokerId, [presenceOf(channel, "")])).map(replyText),
    });
    this.retained = new SharedRetained(redis.commands);
    this.store = new RedisSessionStore({
      noted: () => this.commits.schedule(),
      commit: () => this.flush(),
      retainedChanged: (message) => this.keep(message),
      retainedRemoved: (topic) => this.keep(new Message({ topic, payload: Buffer.alloc(0), qos: 0, retain: true })),
      retainedExpired: (message) => {
        if (isShared(message.topic)) this.note(this.retained.removal(message));
      },
    });
    const bus = createFrameBus(channel, (id, bytes) => this.incoming.receive(id, bytes));
    redis.listening.on("messageBuffer", (sentTo: Buffer, bytes: Buffer) => {
      try {
        const to = sentTo.toString();
        const said = to === presenceOf(channel, this.brokerId) ? readSaying(bytes.toString()) : undefined;
        if (said) this.backlog.told(said.broker, said.isBehind);
        else if (to !== channel || !bus.receive(bytes)) this.broken++;
      } catch (error) {
        onFault(error);
      }
    });
    const waiting = new WaitingMessages(this, (group, message) => this.turns.deliver(group, message));
    this.turns = new SharedTurns(this, waiting);
    this.members = new GroupMembers(this, waiting);
    const { turns, members, retained, commitGate: gate } = this;
    const onKept = (clients: readonly string[]) => this.ownership.takeBack(clients);
    this.commits = new Commits({ parts: this, members, retained, bus, channel, gate, onKept, onAnswered: () => this.taken() });
    const patienceMs = timeoutMs + handoverMs;
    this.ownership = new SessionOwnership({ parts: this, members, patienceMs, mayBury: () => this.liveness.mayBury() });
    const { commits, ownership } = this;
    this.liveness = new Liveness({ parts: this, ownership, members, turns, waiting, timeoutMs });
    this.membership = new Membership({ parts: this, commits, ownership, members, turns, retained, tree, channel, timeoutMs });
    this.taker = new EntryTaker({ parts: this, members, turns, ownership, liveness: this.liveness, tree });
    redis.onBreak(() => this.lost("the connection broke"));
    this.lossTimer = setInterval(() => this.logLosses(), lossIntervalMs);
  }

  get engine(): Engine {
    if (!this.attached) throw new Error("the cluster has no engine yet");
    return this.attached;
  }

  get isConnected(): boolean {
    return this.state === "connected";
  }

  attach(engine: Engine): void {
    this.attached = engine;
    engine.bus.onMessage((message) => {
      if (message.fromElsewhere || !isShared(message.topic)) return;
      this.outgoing.route(message);
      if (message.comesBack && !this.isConnected) this.deliverAwaited();
    });
  }

  journalFirst(message: Message): boolean {
    if (!isShared(message.topic)) return false;
    message.comesBack = true;
    this.turns.choose(message);
    this.outgoing.awaited.add(message);
    return true;
  }

  /** They do not come back before Redis is. */
  private deliverAwaited(): void {
    const awaited = [...this.outgoing.awaited];
    this.outgoing.awaited.clear();
    for (const message of awaited) this.engine.deliverBack(message);
  }

  gate(transport: Transport, client: GatedClient): Transport {
    return this.commitGate.wrap(transport, client);
  }

  bring(clientId: string, cleanStart: boolean, client?: WaitingClient): Promise<boolean> {
    return this.ownership.bring(clientId, cleanStart, client);
  }

  settled(clientId: string): void {
    this.ownership.settled(clientId);
  }

  opened(session: Session): void {
    this.ownership.opened(session);
  }

  ended(clientId: string): void {
    this.ownership.ended(clientId);
  }

  memberChanged(group: string, clientId: string): void {
    this.members.change(group, clientId);
    this.commits.schedule();
  }

  routeShared(message: Message, groups: readonly SharedGroup[]): void {
    this.turns.route(message, groups);
  }

  hasConnectedMemberElsewhere(group: string): boolean {
    return this.turns.hasConnectedElsewhere(group);
  }

  handOn(group: string, message: Message, toConnected: boolean): boolean {
    return this.turns.handOn(group, message, toConnected);
  }

  get isBehind(): boolean {
    return this.backlog.isAbove;
  }

  whenCaughtUp(resume: () => void, client?: WaitingClient): void {
    this.backlog.whenBelow(resume, client);
  }

  caughtUp(): Promise<void> {
    return this.isBehind ? new Promise((resolve) => this.whenCaughtUp(resolve)) : Promise.resolve();
  }

  note(operation: RedisOperation): void {
    this.commits.note(operation);
  }

  flush(): void {
    this.commits.flush();
  }

  private taken(): void {
    this.backlog.taken();
    this.incoming.taken();
  }

  private keep(message: Message): void {
    if (isShared(message.topic)) this.outgoing.keep(message);
  }

  /** A short text for the page. */
  get summary(): string {
    if (!this.isConnected) return "Redis lost";
    return countOf(this.liveness.brokers, "broker");
  }

  /** Called after the engine was created and before the first client. Throws CLUSTER_UNREACHABLE. */
  async join(): Promise<void> {
    try {
      await this.membership.enter(() => {
        this.state = "connected";
      });
    } catch (error) {
      throw unreachable(this.redis.where, errorText(error), brokers);
    }
    await this.liveness.beat();
    this.liveness.start();
    const others = this.liveness.brokers - 1;
    this.log.notable(`Messages and sessions are shared through ${this.redis.where} with ${countOf(others, "other broker")}.`);
  }

  lost(reason: string, buried = false): void {
    if (this.state !== "connected") return;
    this.state = "lost";
    // Otherwise the attempt has failed, which is logged then.
    if (this.comingBack) this.lostMeanwhile = true;
    else {
      this.log.warning(
        `Redis is lost (${reason}): until it is back this broker serves its own clients, and messages, retained messages and sessions are not shared.`,
      );
      if (performance.now() - this.backAt > steadyMs) this.refusals = 0;
      else if (this.redis.isReady) this.refusals++;
    }
    this.problem = reason;
    this.incoming.lost();
    this.outgoing.lost(!buried);
    this.backlog.clear();
    if (buried) {
      this.outgoing.awaited.clear();
      this.commitGate.discard();
    } else {
      this.deliverAwaited();
      this.commitGate.open();
    }
    this.flush();
    if (!this.isComingBack) void this.comeBack();
  }

  private async comeBack(): Promise<void> {
    this.isComingBack = true;
    while (this.state === "lost") {
      if (this.refusals > 0 && this.redis.isReady) await sleep(pauseAfter(this.refusals), undefined, { ref: false });
      if (!this.redis.isReady || !(await this.redis.probe())) {
        await sleep(retryMs, undefined, { ref: false });
        continue;
      }
      const before = this.problem;
      let failed = false;
      this.lostMeanwhile = false;
      this.comingBack = this.rejoin().catch((error: unknown) => {
        failed = true;
        // Both connections are needed.
        if (this.state === "connected") this.lost(errorText(error));
        else if (!this.lostMeanwhile) this.problem = errorText(error);
      });
      await this.comingBack;
      this.comingBack = undefined;
      if (!failed) {
        this.backAt = performance.now();
        continue;
      }
      this.refusals++;
      const text = `Redis cannot be used yet: ${this.problem}`;
      if (this.problem === before) this.log.debug(text);
      else this.log.warning(text);
    }
    this.isComingBack = false;
  }

  private async rejoin(): Promise<void> {
    const connected = () => {
      this.state = "connected";
    };
    const rejoined = await this.membership.rejoin(connected);
    if (rejoined === "done") return;
    this.brokerId = newBrokerId();
    await this.membership.joinAsNew(rejoined.counted, connected);
    await this.liveness.beat();
  }

  private logLosses(): void {
    const unshared = this.outgoing.takeUnshared();
    if (unshared > 0) this.log.warning(`${countText(unshared)} messages were not shared with the other brokers.`);
    if (this.broken > 0) this.log.warning(`${countText(this.broken)} messages on the channel in Redis were not valid frames of a broker.`);
    this.broken = 0;
  }

  /** Called after the last client has left: the other brokers may take over the remaining sessions immediately. */
  async close(): Promise<void> {
    this.liveness.stop();
    clearInterval(this.lossTimer);
    if (this.isConnected) {
      this.flush();
      this.outgoing.add({ type: "left" });
      this.note({ type: "call", values: ["DEL", `${keyPrefix}alive:${this.brokerId}`] });
      this.flush();
      await Promise.race([this.commits.last, sleep(closeMs, undefined, { ref: false })]);
    }
    this.state = "closed";
    this.backlog.clear();
    this.commitGate.close();
    this.incoming.lost();
    this.redis.close();
  }
}

const pauseAfter = (refusals: number): number => Math.min(refusedMs.most, refusedMs.first * 2 ** (refusals - 1));

/** Called before the engine is created. Throws CLUSTER_UNREACHABLE. */
export async function openCluster(options: ClusterOptions): Promise<RedisCluster> {
  return new RedisCluster(await connectRedis(options.url, brokers), options);
}

const newBrokerId = (): string => randomUUID().slice(0, 8);

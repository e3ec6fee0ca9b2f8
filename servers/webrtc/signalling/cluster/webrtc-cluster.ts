import { setTimeout as sleep } from "node:timers/promises";
import { connectRedis, type RedisConnections, type RedisSharers, unreachable } from "../../../core/redis/redis-connections.ts";
import type { Log } from "../../../core/service/log.ts";
import { errorText } from "../../../core/service/service-error.ts";
import type { WorkTurns } from "../../../core/turns/work-turns.ts";
import type { Hub } from "../hub.ts";
import { Peer } from "../peer.ts";
import type { Room } from "../room.ts";
import type { ChatEvent, SignalEvent } from "../signalling-event.ts";
import type { OtherInstances } from "../signalling-observer.ts";
import { ClusterBus } from "./cluster-bus.ts";
import { type ClusterFrame, type MemberFrame, memberOf, parseFrame } from "./cluster-frame.ts";
import { HeldSenders } from "./held-senders.ts";
import { InstanceLink } from "./instance-link.ts";

export interface WebrtcClusterOptions {
  readonly url: string;
  /** Without a sign of life for this time an instance counts as dead. */
  readonly timeoutMs: number;
  /** Where more waits for Redis, clients that send are held. */
  readonly unsentBytes: number;
  readonly hub: Hub;
  readonly log: Log;
  /** Of all clients: what instances send one another is worked off in them too. */
  readonly turns: WorkTurns;
}

const instances: RedisSharers = { name: "instances", variable: "WEBRTC_CLUSTER", alone: "an instance of its own" };
const beatsPerTimeout = 4;
const retryMs = 250;
/** Of its state, and of what is done in a step. */
const membersPerFrame = 50;
const foreignLogMs = 1_000;

interface Other {
  /** In milliseconds of `performance.now`. */
  heardAt: number;
  /** Its members by peer and room, and those that its new state has not named so far. */
  readonly members: Set<string>;
  stale: Set<string> | undefined;
}

/** "lost": it works alone until Redis is back. */
type State = "joining" | "connected" | "lost" | "closed";

/**
 * This service as one of several instances that share rooms, presence, chat and signals over one Redis. Redis carries their frames and stores
 * nothing: each instance knows the members of all, and asks for them when it comes or comes back (decision 0019).
 */
export class WebrtcCluster implements OtherInstances {
  readonly #redis: RedisConnections;
  readonly #options: WebrtcClusterOptions;
  readonly #bus: ClusterBus<ClusterFrame>;
  readonly #others = new Map<string, Other>();
  readonly #timer: NodeJS.Timeout;
  readonly #foreignTimer: NodeJS.Timeout;
  readonly #held: HeldSenders;
  #state: State = "joining";
  #lostAt = 0;
  #beatAt = performance.now();
  #foreign = 0;

  /** Resolves when it knows the peers of the others. Throws CLUSTER_UNREACHABLE. */
  static async join(options: WebrtcClusterOptions): Promise<WebrtcCluster> {
    const redis = await connectRedis(options.url, instances);
    const cluster = new WebrtcCluster(redis, options);
    try {
      await cluster.#enter();
    } catch (error) {
      await cluster.close();
      throw unreachable(redis.where, errorText(error), instances);
    }
    const count = cluster.#others.size;
    options.log.notable(`Rooms are shared through ${redis.where} with ${count} other instance${count === 1 ? "" : "s"}.`);
    return cluster;
  }

  private constructor(redis: RedisConnections, options: WebrtcClusterOptions) {
    this.#redis = redis;
    this.#options = options;
    this.#bus = new ClusterBus<ClusterFrame>({
      redis,
      parse: parseFrame,
      onFrame: (frame, from) => this.#take(frame, from),
      onForeign: () => this.#foreign++,
      onFailure: (reason) => this.#lose(reason),
      onFault: (error) => options.log.error(`A frame of another instance: ${errorText(error)}`),
      work: options.turns.connection(""),
      onSent: () => this.#held.releaseLater(),
    });
    // Redis has not taken what was published.
    this.#held = new HeldSenders(() => this.#bus.unsentBytes > options.unsentBytes);
    redis.onBreak(() => this.#lose("the connection broke"));
    this.#timer = setInterval(() => this.#beat(), options.timeoutMs / beatsPerTimeout);
    this.#foreignTimer = setInterval(() => this.#logForeign(), foreignLogMs);
    options.hub.share(this);
  }

  /** Living instances, this one among them. */
  get size(): number {
    return this.#others.size + 1;
  }

  get isConnected(): boolean {
    return this.#state === "connected";
  }

  joined(peer: Peer, room: Room): void {
    this.#sendOf(peer.id, { type: "joined", ...memberOf(peer, room) });
  }

  left(peer: Peer, room: Room): void {
    this.#sendOf(peer.id, { type: "left", room: room.name, peer: peer.id });
  }

  said(room: Room, event: ChatEvent): void {
    this.#sendOf(event.from, { type: "said", room: room.name, event });
  }

  broadcast(room: Room, event: SignalEvent, beside: readonly Room[]): void {
    const names = beside.map(({ name }) => name);
    const frame = { type: "broadcast", room: room.name, event, ...(names.length > 0 && { beside: names }) } as const;
    for (const instance of room.instances()) this.#sendOf(event.from, frame, instance);
  }

  roomClosed(name: string): void {
    this.#send({ type: "closed", room: name });
  }

  /** What is for several peers of an instance, one after the other, goes there once. */
  #deliver(event: SignalEvent | ChatEvent, id: string, instance: string): void {
    const last = this.#bus.lastSent(instance);
    if (last?.type === "deliver" && last.event === event) last.to.push(id);
    else this.#sendOf(event.from, { type: "deliver", to: [id], event }, instance);
  }

  /** What a peer has caused. */
  #sendOf(id: string, frame: ClusterFrame, to?: string): void {
    this.#send(frame, to);
    const peer = this.#options.hub.find(id);
    if (peer && !peer.isElsewhere) this.#held.sent(peer);
  }

  /** What is not sent while Redis is lost is made up for by the state that is sent when it is back. */
  #send(frame: ClusterFrame, to?: string): void {
    if (this.#state === "connected") this.#bus.send(frame, to);
  }

  async #enter(): Promise<void> {
    const { timeoutMs } = this.#options;
    await this.#redis.look();
    await this.#bus.subscribe();
    this.#state = "connected";
    await this.#bus.run(this.#sendState());
    const now = performance.now();
    for (const other of this.#others.values()) other.heardAt = now;
    const receivers = await this.#bus.announce({ type: "hello" });
    // Redis counts the subscribers: that many answer.
    const endAt = performance.now() + timeoutMs;
    const isComplete = () => [...this.#others.values()].filter(({ heardAt, stale }) => heardAt >= now && !stale).length >= receivers - 1;
    while (this.#state === "connected" && !isComplete() && performance.now() < endAt) await sleep(answerPollMs, undefined, { ref: false });
  }

  /** In steps. Members that come and go meanwhile are told of as always, and are in a part or not. */
  *#sendState(to?: string): Generator<void, void> {
    let members: Omit<MemberFrame, "type">[] = [];
    let isFirst = true;
    for (const member of this.#ownMembers()) {
      members.push(member);
      if (members.length < membersPerFrame) continue;
      this.#send({ type: "state", isFirst, isLast: false, members }, to);
      [members, isFirst] = [[], false];
      yield;
    }
    this.#send({ type: "state", isFirst, isLast: true, members }, to);
  }

  *#ownMembers(): Generator<Omit<MemberFrame, "type">> {
    for (const room of this.#options.hub.rooms())
      for (const peer of room.members.values()) if (!peer.isElsewhere) yield memberOf(peer, room);
  }

  /** To a new instance; only one of those that know it sends it. */
  *#sendHistory(to: string): Generator<void, void> {
    const elder = [...this.#others.keys()].every((id) => id === to || id > this.#bus.instance);
    if (!elder) return;
    for (const { name, chat } of this.#options.hub.rooms()) {
      if (chat.size === 0) continue;
      this.#send({ type: "history", room: name, chat: Array.from(chat, ({ message }) => message) }, to);
      yield;
    }
  }

  *#take(frame: ClusterFrame, from: string): Generator<void, void> {
    if (this.#state !== "connected") return;
    const { hub } = this.#options;
    const other = this.#other(from);
    other.heardAt = performance.now();
    switch (frame.type) {
      case "beat":
        // It was suspended for longer than the timeout: its peers have left here.
        if (other.stale) this.#send({ type: "hello" }, from);
        return;
      case "hello":
        yield* this.#sendState(from);
        yield* this.#sendHistory(from);
        return;
      case "gone":
        this.#forget(from, "was stopped");
        return;
      case "state":
        if (frame.isFirst) other.stale = new Set(other.members);
        for (const member of frame.members) {
          this.#addMember(member, from, other);
          yield;
        }
        if (frame.isLast) yield* this.#removeStale(other);
        return;
      case "joined":
        this.#addMember(frame, from, other);
        return;
      case "left":
        this.#removeMember(keyOf(frame.peer, frame.room), other);
        return;
      case "history":
        hub.remember(frame.room, frame.chat);
        return;
      case "said":
        hub.sayHere(frame.room, frame.event);
        return;
      case "closed":
        hub.closeRoomHere(frame.room);
        return;
      case "broadcast":
        hub.broadcastHere(frame.room, frame.event, frame.beside ?? []);
        return;
      case "deliver":
        for (const id of frame.to) {
          hub.deliverHere(id, frame.event);
          yield;
        }
        return;
      default:
        frame satisfies never;
    }
  }

  *#removeStale(other: Other): Generator<void, void> {
    for (const key of other.stale ?? []) {
      this.#removeMember(key, other);
      yield;
    }
    other.stale = undefined;
  }

  #other(instance: string): Other {
    const known = this.#others.get(instance);
    if (known) return known;
    const other: Other = { heardAt: performance.now(), members: new Set(), stale: new Set() };
    this.#others.set(instance, other);
    return other;
  }

  #addMember({ peer: facts, room }: Omit<MemberFrame, "type">, from: string, other: Other): void {
    const { hub } = this.#options;
    const known = hub.find(facts.id);
    if (known && known.facts.instance !== from && !this.#yields(known, facts.since, from)) return;
    const peer = new Peer(
      facts.id,
      {
        dialect: facts.dialect,
        link: new InstanceLink((event) => this.#deliver(event, facts.id, from)),
        connection: { id: 0, remote: "", local: "", openedAt: facts.since, tls: undefined },
        userAgent: "",
        name: facts.name,
        instance: from,
      },
      facts.since,
    );
    const key = keyOf(facts.id, room.name);
    other.members.add(key);
    other.stale?.delete(key);
    const { password } = room;
    hub.joinElsewhere(peer, {
      name: room.name,
      since: room.since,
      password: password && { salt: Buffer.from(password.salt, "base64"), digest: Buffer.from(password.digest, "base64") },
    });
  }

  /** Two clients have chosen the same identifier at different instances at the same time: the older one keeps it, on every instance alike. */
  #yields(known: Peer, since: number, from: string): boolean {
    const { hub } = this.#options;
    const instance = known.facts.instance ?? this.#bus.instance;
    if (known.since < since || (known.since === since && instance < from)) return false;
    const former = this.#others.get(instance);
    for (const room of known.rooms) former?.members.delete(keyOf(known.id, room.name));
    if (known.isElsewhere) hub.leaveElsewhere(known.id);
    else hub.disconnect(known, "its identifier is in use at another instance", "server");
    return true;
  }

  /** Returns the identifier of its peer. */
  #removeMember(key: string, other: Other): string {
    const [id, room] = JSON.parse(key) as [string, string];
    if (other.members.delete(key)) this.#options.hub.leaveElsewhere(id, room);
    return id;
  }

  #forget(instance: string, why: string): void {
    const other = this.#others.get(instance);
    if (!other) return;
    this.#others.delete(instance);
    void this.#bus.run(this.#removeAll(other, why));
  }

  *#removeAll(other: Other, why: string): Generator<void, void> {
    const peers = new Set<string>();
    for (const key of other.members) {
      peers.add(this.#removeMember(key, other));
      yield;
    }
    this.#options.log.info(`An instance ${why}: ${peers.size} of its peers have left. ${this.size} share the Redis now.`);
  }

  #beat(): void {
    const now = performance.now();
    const { timeoutMs } = this.#options;
    // After a suspension of this process, and while it has much to do, what the others sent meanwhile is still unread.
    const wasSuspended = now - this.#beatAt > timeoutMs / 2;
    this.#beatAt = now;
    if (this.#state === "connected") {
      this.#send({ type: "beat" });
      if (wasSuspended || this.#bus.hasUnread) for (const other of this.#others.values()) other.heardAt = now;
      for (const [instance, { heardAt }] of [...this.#others]) if (now - heardAt > timeoutMs) this.#forget(instance, "stopped responding");
    } else if (this.#state === "lost" && now - this.#lostAt > timeoutMs) {
      for (const instance of [...this.#others.keys()]) this.#forget(instance, "cannot be reached without Redis");
    }
  }

  #lose(reason: string): void {
    if (this.#state !== "connected") return;
    this.#state = "lost";
    this.#lostAt = performance.now();
    this.#bus.discard();
    this.#options.log.warning(`Redis is lost (${reason}): until it is back this instance serves its own clients alone.`);
    void this.#comeBack();
  }

  async #comeBack(): Promise<void> {
    while (this.#state === "lost") {
      await sleep(retryMs, undefined, { ref: false });
      if (!this.#redis.isReady || this.#state !== "lost") continue;
      try {
        await this.#enter();
        this.#options.log.notable(`Redis is back: rooms are shared with ${this.size - 1} other instance${this.size === 2 ? "" : "s"}.`);
      } catch (error) {
        this.#options.log.debug(`Redis cannot be used yet: ${errorText(error)}`);
        if (this.isConnected) this.#state = "lost";
      }
    }
  }

  #logForeign(): void {
    if (this.#foreign > 0)
      this.#options.log.warning(
        `${this.#foreign.toLocaleString("en")} messages on the channel in Redis were not valid frames of an instance.`,
      );
    this.#foreign = 0;
  }

  /** The others remove its peers at once. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    clearInterval(this.#foreignTimer);
    this.#held.close();
    this.#options.hub.share(undefined);
    if (this.#state === "connected") {
      this.#send({ type: "gone" });
      await Promise.race([this.#bus.flush(), sleep(closeMs, undefined, { ref: false })]);
    }
    this.#state = "closed";
    this.#redis.close();
  }
}

const answerPollMs = 10;
const closeMs = 2_000;

const keyOf = (peer: string, room: string): string => JSON.stringify([peer, room]);

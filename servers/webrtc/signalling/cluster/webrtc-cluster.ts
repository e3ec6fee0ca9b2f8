import { setTimeout as sleep } from "node:timers/promises";
import { connectRedis, type RedisConnections, type RedisSharers, unreachable } from "../../../core/redis/redis-connections.ts";
import type { Log } from "../../../core/service/log.ts";
import { errorText } from "../../../core/service/service-error.ts";
import type { Hub } from "../hub.ts";
import { Peer } from "../peer.ts";
import type { Room } from "../room.ts";
import type { ChatEvent, SignalEvent } from "../signalling-event.ts";
import type { OtherInstances } from "../signalling-observer.ts";
import { ClusterBus } from "./cluster-bus.ts";
import { type ClusterFrame, type MemberFrame, memberOf, parseFrame } from "./cluster-frame.ts";
import { InstanceLink } from "./instance-link.ts";

export interface WebrtcClusterOptions {
  readonly url: string;
  /** Without a sign of life for this time an instance counts as dead. */
  readonly timeoutMs: number;
  /** Where more waits for Redis, clients that send are held. */
  readonly unsentBytes: number;
  readonly hub: Hub;
  readonly log: Log;
}

const instances: RedisSharers = { name: "instances", variable: "WEBRTC_CLUSTER", alone: "an instance of its own" };
const beatsPerTimeout = 4;
const retryMs = 250;
const membersPerFrame = 500;
const foreignLogMs = 1_000;
/** In one turn of the event loop. */
const releasedAtOnce = 16;

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
  /** They have sent something while too much waited for Redis. */
  readonly #held = new Set<Peer>();
  #releasing: NodeJS.Immediate | undefined;
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
      onSent: () => {
        if (this.#held.size > 0) this.#releasing ??= setImmediate(this.#release);
      },
    });
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

  broadcast(room: Room, event: SignalEvent): void {
    for (const instance of room.instances()) this.#sendOf(event.from, { type: "broadcast", room: room.name, event }, instance);
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
    this.#hold(id);
  }

  #hold(id: string): void {
    if (!this.#isBehind) return;
    const peer = this.#options.hub.find(id);
    if (!peer || peer.isElsewhere || this.#held.has(peer)) return;
    this.#held.add(peer);
    peer.facts.link.hold();
  }

  /** Redis has not taken what was published. */
  get #isBehind(): boolean {
    return this.#bus.unsentBytes > this.#options.unsentBytes;
  }

  /** In the order in which they were held: each has a message that waits. */
  readonly #release = (): void => {
    this.#releasing = undefined;
    let released = 0;
    for (const peer of this.#held) {
      if (this.#isBehind) return;
      if (released++ === releasedAtOnce) {
        this.#releasing = setImmediate(this.#release);
        return;
      }
      this.#held.delete(peer);
      peer.facts.link.release();
    }
  };

  /** What is not sent while Redis is lost is made up for by the state that is sent when it is back. */
  #send(frame: ClusterFrame, to?: string): void {
    if (this.#state === "connected") this.#bus.send(frame, to);
  }

  async #enter(): Promise<void> {
    const { timeoutMs } = this.#options;
    await this.#redis.look();
    await this.#bus.subscribe();
    this.#state = "connected";
    this.#sendState();
    const now = performance.now();
    for (const other of this.#others.values()) other.heardAt = now;
    const receivers = await this.#bus.announce({ type: "hello" });
    // Redis counts the subscribers: that many answer.
    const endAt = performance.now() + timeoutMs;
    const isComplete = () => [...this.#others.values()].filter(({ heardAt, stale }) => heardAt >= now && !stale).length >= receivers - 1;
    while (this.#state === "connected" && !isComplete() && performance.now() < endAt) await sleep(answerPollMs, undefined, { ref: false });
  }

  #sendState(to?: string): void {
    const members = [...this.#ownMembers()];
    for (let at = 0; at === 0 || at < members.length; at += membersPerFrame)
      this.#send(
        {
          type: "state",
          isFirst: at === 0,
          isLast: at + membersPerFrame >= members.length,
          members: members.slice(at, at + membersPerFrame),
        },
        to,
      );
  }

  *#ownMembers(): Generator<Omit<MemberFrame, "type">> {
    for (const room of this.#options.hub.rooms())
      for (const peer of room.members.values()) if (!peer.isElsewhere) yield memberOf(peer, room);
  }

  /** To a new instance; only one of those that know it sends it. */
  #sendHistory(to: string): void {
    const elder = [...this.#others.keys()].every((id) => id === to || id > this.#bus.instance);
    if (!elder) return;
    for (const { name, chat } of this.#options.hub.rooms())
      if (chat.length > 0) this.#send({ type: "history", room: name, chat: chat.map(({ message }) => message) }, to);
  }

  #take(frame: ClusterFrame, from: string): void {
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
        this.#sendState(from);
        this.#sendHistory(from);
        return;
      case "gone":
        this.#forget(from, "was stopped");
        return;
      case "state":
        if (frame.isFirst) other.stale = new Set(other.members);
        for (const member of frame.members) {
          other.stale?.delete(keyOf(member.peer.id, member.room.name));
          this.#addMember(member, from, other);
        }
        if (!frame.isLast) return;
        for (const key of other.stale ?? []) this.#removeMember(key, other);
        other.stale = undefined;
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
        hub.broadcastHere(frame.room, frame.event);
        return;
      case "deliver":
        hub.deliverHere(frame.to, frame.event);
        return;
      default:
        frame satisfies never;
    }
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
    other.members.add(keyOf(facts.id, room.name));
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

  #removeMember(key: string, other: Other): void {
    if (!other.members.delete(key)) return;
    const [id, room] = JSON.parse(key) as [string, string];
    this.#options.hub.leaveElsewhere(id, room);
  }

  #forget(instance: string, why: string): void {
    const other = this.#others.get(instance);
    if (!other) return;
    this.#others.delete(instance);
    const peers = new Set([...other.members].map((key) => (JSON.parse(key) as [string])[0]));
    for (const key of [...other.members]) this.#removeMember(key, other);
    this.#options.log.info(`An instance ${why}: ${peers.size} of its peers have left. ${this.size} share the Redis now.`);
  }

  #beat(): void {
    const now = performance.now();
    const { timeoutMs } = this.#options;
    // After a suspension of this process, what the others sent meanwhile is still unread.
    const wasSuspended = now - this.#beatAt > timeoutMs / 2;
    this.#beatAt = now;
    if (this.#state === "connected") {
      this.#send({ type: "beat" });
      if (wasSuspended) for (const other of this.#others.values()) other.heardAt = now;
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
    clearImmediate(this.#releasing);
    this.#held.clear();
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

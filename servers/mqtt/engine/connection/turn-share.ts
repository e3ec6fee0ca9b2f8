import type { ClusterLink, WaitingClient } from "../cluster-link.ts";
import type { FlushScheduler } from "../delivery/flush-scheduler.ts";
import type { Message } from "../routing/message.ts";
import { stepsOfRouting } from "../routing/route-message.ts";

/** Packets from a client, and deliveries of its messages, between two looks at the clock. */
const stepsBetweenLooks = 128;

/** Topic filters and user properties of a packet that are checked in the time of a step. */
const itemsOfStep = 32;

/** What is received and no more than this may be handled also when the clients have had their time, and so may messages of those that send little. */
const littleBytes = 4_096;
/** Until the turn has had so many times its time. */
const turnsOfLittle = 4;

/** Deliveries of one message that others feel: a client that made so many waits for its turn for some time, however little it sends. */
const muchSteps = 2_048;
const rememberedMuchMs = 30_000;
/** A client that has published nothing for so long is calm: with its next packets it comes before those that publish all the time. */
const calmAfterMs = 1_000;

export interface TurnParts {
  readonly scheduler: Pick<
    FlushScheduler,
    "isTurnOver" | "isCrowded" | "beginBroadcast" | "endBroadcast" | "turns" | "whenWritten" | "whenWorkBegins" | "mayBeginWork" | "works"
  >;
  readonly cluster: Pick<ClusterLink, "isBehind" | "whenCaughtUp"> | undefined;
  /** Monotonic, in milliseconds; may be some hundred old. */
  now(): number;
}

/** The connection: no packets are taken while it is held. */
export interface TurnOwner {
  readonly state: string;
  readonly place: { readonly address: { readonly key: string } } | undefined;
  hold(): void;
  release(): void;
  /** Never throws. */
  run(step: () => void): void;
}

/** What one connection may do in a turn of the event loop, beside all others. */
export class TurnShare {
  private readonly parts: TurnParts;
  private readonly owner: TurnOwner;
  /** Since it looked at the clock last, in this turn. */
  private steps = 0;
  private turn = 0;
  /** When one of its messages was much work, as `now`. */
  private didMuchAt = Number.NEGATIVE_INFINITY;
  private publishedAt = Number.NEGATIVE_INFINITY;
  /** It was when what it has sent began to be handled. */
  isCalm = true;
  /** It has waited for this turn. */
  private isOwn = false;
  /** With a ping: that came before the others, and what is behind it does not. */
  private hasPinged = false;
  /** Asked once for what has arrived together. */
  private publishes = false;
  /** It has been asked already. */
  private works = false;
  /** For the other brokers: its next packet does not wait for them again. */
  private hasCaughtUp = false;

  constructor(parts: TurnParts, owner: TurnOwner) {
    this.parts = parts;
    this.owner = owner;
  }

  /** Packets have arrived, or may be handled now. */
  begin(): void {
    const { turns } = this.parts.scheduler;
    this.publishes = this.works = this.isOwn && !this.hasPinged;
    this.isCalm = this.parts.now() - this.publishedAt >= calmAfterMs;
    if (this.turn === turns) return;
    this.turn = turns;
    this.steps = 0;
  }

  private get addressKey(): string {
    return this.owner.place?.address.key ?? "";
  }

  get client(): WaitingClient {
    return { key: this.addressKey, hasLeft: () => this.owner.state === "closed" };
  }

  /** The connection has waited, and `act` handles its packets. */
  private give(act: () => void): void {
    this.isOwn = true;
    act();
    this.isOwn = this.hasPinged = false;
  }

  /** Thousands of connections may have sent something at the same time. Those that send little do not wait for others. */
  mayHandle(unreadBytes: number): boolean {
    if (this.isOwn) return true;
    const isLittle = unreadBytes <= littleBytes;
    const may = !this.parts.scheduler.isTurnOver(isLittle ? turnsOfLittle : 1);
    this.works = may && !isLittle;
    return may;
  }

  /** Whether the next packet may be handled now. If not, the connection is held until it may. */
  takes({ isPublishNext, isSubscribeNext }: { readonly isPublishNext: boolean; readonly isSubscribeNext: boolean }): boolean {
    const { cluster } = this.parts;
    if (!isPublishNext && !isSubscribeNext) return true;
    // Subscriptions of sessions that are kept go to Redis too.
    if (cluster?.isBehind && !this.hasCaughtUp) {
      this.holdUntil((then) =>
        cluster.whenCaughtUp(() => {
          this.hasCaughtUp = true;
          then();
        }, this.client),
      );
      return false;
    }
    if (isPublishNext ? !this.mayPublish() : !this.mayWork()) {
      if (isPublishNext) this.holdUntilWritten();
      else this.holdUntilWork();
      return false;
    }
    this.hasCaughtUp = false;
    return true;
  }

  /** One packet may be much work, such as 10,000 filters, and each of many connections may send one. */
  private mayWork(): boolean {
    const { scheduler } = this.parts;
    const may = scheduler.mayBeginWork && (this.works || !scheduler.isTurnOver());
    this.works = false;
    return may;
  }

  /** So may be the routing of a message, which its bytes do not tell. Thousands that publish one after the other are much together. */
  private mayPublish(): boolean {
    if (this.publishes) return true;
    const { scheduler } = this.parts;
    const waits = this.didMuch || (!this.isCalm && scheduler.isCrowded);
    this.publishes = !scheduler.isTurnOver(waits ? 1 : turnsOfLittle);
    return this.publishes;
  }

  get didMuch(): boolean {
    return this.parts.now() - this.didMuchAt < rememberedMuchMs;
  }

  routed(message: Pick<Message, "matched" | "visited" | "groups" | "answerSteps">): void {
    const steps = Math.floor(stepsOfRouting(message) + message.answerSteps);
    this.steps += steps;
    this.publishedAt = this.parts.now();
    if (steps >= muchSteps) this.didMuchAt = this.parts.now();
  }

  /** It is read no further until others have had their turn, and those that read have lost nothing. A ping of one who asks for little comes first. */
  holdUntilWritten(isPingNext = false): void {
    this.owner.hold();
    this.hasPinged = isPingNext && this.isCalm;
    const isFresh = this.owner.state === "opening";
    const line = this.hasPinged ? "calm" : isFresh ? "fresh" : this.didMuch ? "much" : "usual";
    this.parts.scheduler.whenWritten(() => this.releaseIt(), line, this.addressKey);
  }

  /** It is read no further until that, such as that what it has caused is done. */
  holdUntil(when: (then: () => void) => void): void {
    this.owner.hold();
    when(() => this.parts.scheduler.whenWritten(() => this.owner.release(), "usual", this.addressKey));
  }

  /** The same before a packet that may be much work. */
  private holdUntilWork(): void {
    this.owner.hold();
    this.parts.scheduler.whenWorkBegins(() => this.releaseIt(), this.addressKey);
  }

  /** The step, which is that of a CONNECT, is done when there is time in a turn. */
  inTurn(step: () => void): void {
    const { scheduler } = this.parts;
    if (!scheduler.isTurnOver()) {
      step();
      return;
    }
    this.owner.hold();
    const goOn = () => {
      this.attempt(step);
      this.releaseIt();
    };
    scheduler.whenWritten(goOn, "fresh", this.addressKey);
  }

  /** As much of the work as there is time for in each turn. */
  inSteps(work: Iterator<unknown>): void {
    if (this.goOn(work)) return;
    const { scheduler } = this.parts;
    this.owner.hold();
    scheduler.works++;
    const goOn = () => {
      let isDone = true;
      this.attempt(() => {
        isDone = this.goOn(work);
      });
      if (!isDone) {
        scheduler.whenWritten(goOn, "much", this.addressKey);
        return;
      }
      scheduler.works--;
      this.releaseIt();
    };
    scheduler.whenWritten(goOn, "much", this.addressKey);
  }

  /** The same for a message to many. What has begun is done also when the connection is closed. */
  broadcast(work: Iterator<unknown>): void {
    const { scheduler } = this.parts;
    let isHeld = false;
    const hold = () => {
      if (!isHeld) this.owner.hold();
      isHeld = true;
    };
    const goOn = () => {
      let isDone = true;
      this.owner.run(() => {
        isDone = this.goOn(work);
      });
      if (!isDone) {
        hold();
        scheduler.whenWritten(goOn, "much", this.addressKey);
        return;
      }
      scheduler.endBroadcast();
      if (isHeld) this.releaseIt();
    };
    let hasBegun = false;
    scheduler.beginBroadcast(() => {
      hasBegun = true;
      if (this.owner.state === "closed") scheduler.endBroadcast();
      else goOn();
    }, this.addressKey);
    if (!hasBegun) hold();
  }

  private attempt(step: () => void): void {
    if (this.owner.state !== "closed") this.owner.run(step);
  }

  private releaseIt(): void {
    this.give(() => this.owner.release());
  }

  /** Does some of the work. False if the rest is to be done in another turn. */
  private goOn(work: Iterator<unknown>): boolean {
    while (!work.next().done) if (this.endsWithStep()) return false;
    return true;
  }

  /** A packet with so many items was handled, or a step of one. True if the rest is to be handled in another turn. */
  endsWithStep(items = 0): boolean {
    this.steps += 1 + Math.floor(items / itemsOfStep);
    if (this.steps < stepsBetweenLooks) return false;
    this.steps = 0;
    return this.parts.scheduler.isTurnOver();
  }
}

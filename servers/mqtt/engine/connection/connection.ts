import type { BudgetShare, SharedBudget } from "../../../core/limits/shared-budget.ts";
import type { AckPacket, ConnectPacket, DisconnectPacket, Packet, Qos } from "../../codec/packet.ts";
import { PacketDecoder } from "../../codec/packet-decoder.ts";
import { PacketError, type ReasonCode, reasonCode } from "../../codec/reason-code.ts";
import type { ClusterLink } from "../cluster-link.ts";
import type { FlushScheduler } from "../delivery/flush-scheduler.ts";
import { Output, type OutputOwner, type Transport } from "../delivery/output.ts";
import type { SentAliases } from "../delivery/sent-aliases.ts";
import { writeAck, writePacket } from "../delivery/write-packet.ts";
import { type SendResult, writePublish } from "../delivery/write-publish.ts";
import type { EngineCounters } from "../engine-counters.ts";
import type { EngineLimits } from "../engine-limits.ts";
import { addressOf, type ConnectionOrigin, type EngineLog, faultText, type ObservedPublisher } from "../engine-observer.ts";
import type { Broadcasts } from "../routing/broadcasts.ts";
import type { Message } from "../routing/message.ts";
import { isMuch } from "../routing/route-message.ts";
import type { ReceivedIds } from "../session/received-ids.ts";
import type { Recipient } from "../session/recipient.ts";
import type { Session } from "../session/session.ts";
import type { AuthExchange, Identity } from "./access.ts";
import { MessageRate } from "./message-rate.ts";
import type { Place } from "./places.ts";
import { TurnShare } from "./turn-share.ts";

export type ConnectionState = "opening" | "authenticating" | "connected" | "closed";

/** An enhanced authentication in progress, in CONNECT or later. */
export interface PendingExchange {
  readonly method: string;
  readonly exchange: AuthExchange;
  /** Absent when a connected client authenticates again. */
  readonly connect: ConnectPacket | undefined;
}

export interface ConnectionContext {
  readonly limits: EngineLimits;
  readonly counters: EngineCounters;
  readonly scheduler: FlushScheduler;
  readonly cluster: Pick<ClusterLink, "isBehind" | "whenCaughtUp"> | undefined;
  readonly broadcasts: Pick<Broadcasts, "isIdle" | "whenIdle">;
  /** Of what clients have sent and is held: parts of packets, CONNECTs that wait, and the topics of aliases. */
  readonly arriving: SharedBudget;
  readonly log: Pick<EngineLog, "error">;
  /** Monotonic, in milliseconds, as of the last sweep. */
  now(): number;
  /** Throws PacketError if the packet violates the standard. */
  onPacket(connection: Connection, packet: Packet): void;
  /** The client violated the standard: answers and closes its connection. */
  onRefused(connection: Connection, error: PacketError): void;
  /** Called once. */
  onClosed(connection: Connection, why: string): void;
}

/** One client's network connection: decodes received bytes and passes the packets to the flows; encodes and sends packets. */
export class Connection implements Recipient, OutputOwner, ObservedPublisher {
  private readonly context: ConnectionContext;
  readonly origin: ConnectionOrigin;
  /** Undefined if there was none. */
  readonly place: Place | undefined;
  readonly transport: Transport;
  readonly output: Output;
  readonly decoder: PacketDecoder;
  state: ConnectionState = "opening";
  v5 = false;
  /** The bridge of another broker: messages to it keep their retain flag, and its own messages are not sent back to it. */
  bridge = false;
  session: Session | undefined = undefined;
  identity: Identity = { clientId: "", username: undefined };
  /** 0 is none. */
  keepAliveSeconds = 0;
  /** Monotonic, as `openedAt`. */
  lastPacketAt: number;
  readonly openedAt = performance.now();
  /** Milliseconds since the epoch. */
  readonly since = Date.now();
  /** Most messages with QoS 1 and 2 that the client may leave unacknowledged. */
  sendWindow = 0;
  /** 0 is no limit. */
  maximumPacketSize = 0;
  problemInformation = true;
  /** Topic aliases set by the client, by number. */
  topicAliases: (string | undefined)[] | undefined = undefined;
  /** Of their topics. */
  aliasBytes = 0;
  /** Undefined if the client accepts none. */
  sentAliases: SentAliases | undefined = undefined;
  exchange: PendingExchange | undefined = undefined;
  authenticationMethod: string | undefined = undefined;
  /** QoS 2 packet identifiers that an earlier connection of the session did not release. */
  leftOpen: ReceivedIds | undefined = undefined;
  /** Until it is accepted. */
  asked: ConnectPacket | undefined = undefined;
  /** Memory of `asked`. */
  askedBytes = 0;
  /** Called once: it has opened its session, or is closed. */
  onSettled: (() => void) | undefined = undefined;
  goodbye: DisconnectPacket | undefined = undefined;
  /** Packets are queued: an asynchronous answer is pending, or the client is frozen or above its rate. */
  private holds = 0;
  private freezes = 0;
  /** It sends nothing more: it reads nothing either, but what is on its way. */
  hasLeft = false;
  messagesIn = 0;
  messagesOut = 0;
  bytesIn = 0;
  readonly rate = new MessageRate();
  private heldForReading = false;
  private readonly arrivingShare: BudgetShare;
  readonly turn: TurnShare;

  constructor(context: ConnectionContext, transport: Transport, origin: ConnectionOrigin, place: Place | undefined) {
    this.context = context;
    this.turn = new TurnShare(context, this);
    this.transport = transport;
    this.origin = origin;
    this.place = place;
    const { scheduler, limits } = context;
    const leftTooMuch = () => this.cutOff("What clients have not read takes too much memory, and this one has left most.");
    const unread = scheduler.unread.open(this.address, () => scheduler.whenWritten(leftTooMuch));
    this.output = new Output(transport, scheduler, limits.unreadBytes, this, unread);
    this.decoder = new PacketDecoder(limits.maximumPacketSize, limits.packetItems, true);
    this.lastPacketAt = this.openedAt;
    this.arrivingShare = context.arriving.open(this.address, () => {
      this.disconnect(reasonCode.quotaExceeded, "What clients have sent and not completed takes too much memory, and this one's has most.");
    });
  }

  get clientId(): string {
    return this.identity.clientId;
  }

  /** The peer's address without the port. */
  get address(): string {
    return addressOf(this.origin);
  }

  get version(): number {
    return this.decoder.version ?? 0;
  }

  rawPacket(): Buffer {
    return this.decoder.raw();
  }

  /**
   * Runs every step of this connection, including those started by timers, promises and callbacks: an error in a step ends only this
   * connection. Never throws.
   */
  run(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.fault(error);
    }
  }

  /** A PacketError is the client's fault; any other error is a fault in the broker. Never throws. */
  fault(error: unknown): void {
    try {
      if (error instanceof PacketError) {
        this.context.onRefused(this, error);
        return;
      }
      this.context.log.error(`An error while serving ${this.clientId || this.origin.peer}: ${faultText(error)}`);
      this.disconnect(reasonCode.unspecifiedError, "An error in the broker.");
    } catch (second) {
      this.context.log.error(`An error while ending ${this.clientId || this.origin.peer}: ${faultText(second)}`);
      this.close("An error in the broker.");
    }
  }

  receive(chunk: Buffer): void {
    if (this.state === "closed") return;
    const { scheduler, counters } = this.context;
    this.bytesIn += chunk.length;
    scheduler.arrivals++;
    counters.bytesIn += chunk.length;
    try {
      this.decoder.append(chunk);
      this.takePackets();
    } catch (error) {
      this.fault(error);
    }
    this.countArriving();
  }

  /** To be called when more was received or handled. */
  countArriving(): void {
    const kept = this.aliasBytes + this.askedBytes;
    this.arrivingShare.set(this.state === "closed" ? 0 : this.decoder.heldBytes + (this.transport.arrivingBytes ?? 0) + kept);
  }

  /** Stops taking packets until `release`, so that they keep their order. */
  hold(): void {
    if (this.holds++ === 0) this.run(() => this.transport.pause());
  }

  release(): void {
    if (--this.holds > 0 || this.state === "closed") return;
    this.run(() => {
      this.lastPacketAt = this.context.now();
      this.transport.resume();
      this.takePackets();
    });
    this.countArriving();
  }

  /** Packets are queued because of the broker, not because of the client. */
  get held(): boolean {
    return this.holds > 0 && !this.heldForReading;
  }

  /** Stops reading and writing until the returned function is called. */
  freeze(): () => void {
    this.hold();
    this.output.faults.freeze();
    const freeze = ++this.freezes;
    return () => {
      if (this.state === "closed") return;
      this.release();
      // Not before what it has sent is read: it may have left in the meantime.
      setImmediate(() => {
        if (this.state !== "closed" && freeze === this.freezes) this.run(() => this.thaw());
      });
    };
  }

  private thaw(): void {
    if (this.hasLeft) this.output.faults.lose();
    else this.output.faults.thaw();
    this.session?.pump();
  }

  /** Delays all writes by `delayMs` until the returned function is called. */
  delay(delayMs: number): () => void {
    this.output.faults.delay(delayMs);
    return () => this.run(() => this.output.faults.delay(0));
  }

  private takePackets(): void {
    const { turn, decoder } = this;
    turn.begin();
    if (this.holds === 0 && !turn.mayHandle(decoder.unreadBytes)) {
      turn.holdUntilWritten(decoder.isPingNext);
      return;
    }
    while (this.holds === 0 && this.state !== "closed") {
      if (!turn.takes(decoder)) break;
      const packet = decoder.next();
      if (!packet) break;
      this.lastPacketAt = this.context.now();
      this.context.onPacket(this, packet);
      if (turn.endsWithStep(decoder.items)) turn.holdUntilWritten();
    }
    // Acknowledgements to a client that sends but does not read must not accumulate.
    if (this.output.isFull) this.holdUntilRead();
  }

  /** It has published a message of so many bytes. */
  published(message: Message, bytes: number): void {
    this.turn.routed(message);
    const { broadcasts } = this.context;
    if (message.answerSteps > 0 && !broadcasts.isIdle) this.turn.holdUntil((then) => broadcasts.whenIdle(then));
    else if (isMuch(message.matched, bytes) || message.answersAreMuch) this.turn.holdUntilWritten();
  }

  /** Work for its packet of which there may be much: in the turns of all clients. Its next packets wait until it is done. */
  inSteps(work: Iterator<unknown>): void {
    this.turn.inSteps(work);
  }

  /** The step may be much work, such as the end of an earlier session: it is done when there is time in a turn of the event loop. */
  inTurn(step: () => void): void {
    this.turn.inTurn(step);
  }

  /** Called once per sweep: reading from a client above the rate pauses until its excess is used up. */
  checkRate(allowed: number): void {
    const change = this.rate.check(allowed);
    if (change) this[change]();
  }

  private holdUntilRead(): void {
    if (this.heldForReading) return;
    this.heldForReading = true;
    this.hold();
  }

  /** The transport has sent the pending bytes. */
  drained(): void {
    this.run(() => this.output.settle());
  }

  congestionEnded(): void {
    if (this.state === "closed") return;
    if (this.heldForReading) {
      this.heldForReading = false;
      this.release();
    }
    this.session?.pump();
  }

  /** Sends a PUBLISH to the client. */
  sendMessage(
    message: Message,
    qos: Qos,
    retain: boolean,
    identifiers: readonly number[] | undefined,
    packetId: number,
    dup: boolean,
  ): SendResult {
    const result = writePublish(this, message, qos, retain, identifiers, packetId, dup);
    if (result === "sent") {
      this.messagesOut++;
      this.context.counters.messagesOut++;
    }
    return result;
  }

  sendAck(type: AckPacket["type"], packetId: number, reason: number, text?: string): void {
    if (this.state === "closed") return;
    if (text !== undefined && this.v5 && this.problemInformation && this.context.limits.reasonStrings) {
      this.send({ type, packetId, reason, properties: { reasonString: text } });
      return;
    }
    this.output.answers(this.turn.isCalm);
    writeAck(this, type, packetId, reason);
  }

  /** Sends any packet but PUBLISH; omits the reason string if the client does not accept it. */
  send(packet: Packet): void {
    if (this.state === "closed") return;
    this.output.answers(this.turn.isCalm);
    writePacket(this, packet);
  }

  /** The server ends the connection: sends DISCONNECT with the reason to a client of 5.0, then closes. Never throws. */
  disconnect(reason: ReasonCode, text: string): void {
    if (this.state === "closed") return;
    if (this.v5 && this.state === "connected") {
      const properties = this.context.limits.reasonStrings && reason >= 0x80 ? { reasonString: text } : undefined;
      this.attempt(() => this.send({ type: "disconnect", reason, properties }));
    }
    this.close(text);
  }

  /** All places are taken: another client gets this one. */
  giveWay(): void {
    const why = "The limit of connections is reached, and this address has most of them.";
    if (this.state === "connected") this.disconnect(reasonCode.quotaExceeded, why);
    else this.cutOff(why);
  }

  /** Closes the connection without a DISCONNECT, and discards pending bytes. Never throws. */
  cutOff(why: string): void {
    this.attempt(() => this.transport.destroy());
    this.close(why, true);
  }

  /** Takes effect once; `why` is text for the log. `isGone`: the client has left, and what is held back for it is lost. Never throws. */
  close(why: string, isGone = false): void {
    if (this.state === "closed") return;
    this.state = "closed";
    this.decoder.discard();
    this.countArriving();
    this.arrivingShare.close();
    this.attempt(() => {
      // Of thousands that are cut off together, each commit would be one for a few rows.
      if (this.output.isEmpty) this.output.flush();
      else if (this.context.scheduler.beforeWrite?.() === false) this.output.discard();
      else this.output.flush();
      this.output.endFaults(isGone);
    });
    this.output.close();
    this.attempt(() => this.transport.end());
    this.attempt(() => this.context.onClosed(this, why));
    this.asked = undefined;
    this.exchange = undefined;
    this.attempt(() => this.settle());
  }

  settle(): void {
    const { onSettled } = this;
    this.onSettled = undefined;
    onSettled?.();
  }

  private attempt(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.context.log.error(`An error while ending ${this.clientId || this.origin.peer}: ${faultText(error)}`);
      try {
        this.transport.destroy();
      } catch {
        // Logged already; nothing more can be done.
      }
    }
  }
}

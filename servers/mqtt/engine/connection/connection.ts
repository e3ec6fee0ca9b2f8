import { encodePacket } from "../../codec/encode-packet.ts";
import type { AckPacket, ConnectPacket, Packet, Qos } from "../../codec/packet.ts";
import { PacketDecoder } from "../../codec/packet-decoder.ts";
import { PacketError, type ReasonCode, reasonCode } from "../../codec/reason-code.ts";
import type { FlushScheduler } from "../delivery/flush-scheduler.ts";
import { Output, type OutputOwner, type Transport } from "../delivery/output.ts";
import { type SendResult, writePublish } from "../delivery/write-publish.ts";
import type { EngineCounters } from "../engine-counters.ts";
import type { EngineLimits } from "../engine-limits.ts";
import { type ConnectionOrigin, type EngineLog, faultText, type ObservedPublisher } from "../engine-observer.ts";
import type { Message } from "../routing/message.ts";
import type { Recipient, Session } from "../session/session.ts";
import type { AuthExchange, Identity } from "./access.ts";

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
  readonly log: Pick<EngineLog, "error">;
  /** Monotonic, in milliseconds, as of the last sweep. */
  now(): number;
  /** Throws PacketError where the packet breaks the standard. */
  onPacket(connection: Connection, packet: Packet): void;
  /** The client broke the standard: answers and ends it. */
  onRefused(connection: Connection, error: PacketError): void;
  /** Once. */
  onClosed(connection: Connection, why: string): void;
}

const firstBytes = { puback: 0x40, pubrec: 0x50, pubrel: 0x62, pubcomp: 0x70 } as const;

/** One client's network connection: bytes in, packets to the flows; packets out, bytes. */
export class Connection implements Recipient, OutputOwner, ObservedPublisher {
  private readonly context: ConnectionContext;
  readonly origin: ConnectionOrigin;
  readonly transport: Transport;
  readonly output: Output;
  readonly decoder: PacketDecoder;
  state: ConnectionState = "opening";
  v5 = false;
  /** Another broker's bridge: messages keep their retain flag for it, and its own do not come back. */
  bridge = false;
  session: Session | undefined = undefined;
  identity: Identity = { clientId: "", username: undefined };
  /** As the client asked for it or the server decided; 0 is none. */
  keepAliveSeconds = 0;
  /** Monotonic, as `openedAt`. */
  lastPacketAt: number;
  readonly openedAt = performance.now();
  /** Milliseconds since the epoch. */
  readonly since = Date.now();
  /** Messages with QoS 1 and 2 that may be unacknowledged towards the client. */
  sendWindow = 0;
  /** 0 is no limit. */
  maximumPacketSize = 0;
  problemInformation = true;
  /** Aliases that the client gave, by number. */
  topicAliases: (string | undefined)[] | undefined = undefined;
  /** Aliases towards the client. */
  aliasMaximum = 0;
  sentAliases: Map<string, number> | undefined = undefined;
  exchange: PendingExchange | undefined = undefined;
  authenticationMethod: string | undefined = undefined;
  /** QoS 2 identifiers that an earlier connection of the session left unreleased. */
  leftOpen: Set<number> | undefined = undefined;
  /** Packets are queued: an asynchronous answer is pending, or the client is frozen or above its rate. */
  private holds = 0;
  messagesIn = 0;
  messagesOut = 0;
  bytesIn = 0;
  /** Messages since the last look at the rate. */
  recentMessages = 0;
  /** Messages above the allowed rate, to be waited for. */
  private excessMessages = 0;
  private slowed = false;
  private heldForReading = false;

  constructor(context: ConnectionContext, transport: Transport, origin: ConnectionOrigin) {
    this.context = context;
    this.transport = transport;
    this.origin = origin;
    this.output = new Output(transport, context.scheduler, context.limits.unreadBytes, this);
    this.decoder = new PacketDecoder(context.limits.maximumPacketSize);
    this.lastPacketAt = this.openedAt;
  }

  get clientId(): string {
    return this.identity.clientId;
  }

  get version(): number {
    return this.decoder.version ?? 0;
  }

  rawPacket(): Buffer {
    return this.decoder.raw();
  }

  /**
   * Every step of this connection runs in here, also those that timers, promises and callbacks bring: what a step throws ends this
   * connection and no other. Never throws.
   */
  run(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.fault(error);
    }
  }

  /** A PacketError is the client's fault, anything else is ours. Never throws. */
  fault(error: unknown): void {
    try {
      if (error instanceof PacketError) {
        this.context.onRefused(this, error);
        return;
      }
      this.context.log.error(`A fault while serving ${this.clientId || this.origin.peer}: ${faultText(error)}`);
      this.disconnect(reasonCode.unspecifiedError, "A fault in the broker.");
    } catch (second) {
      this.context.log.error(`A fault while ending ${this.clientId || this.origin.peer}: ${faultText(second)}`);
      this.close("A fault in the broker.");
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
  }

  /** Packets wait for the broker, not for the client. */
  get held(): boolean {
    return this.holds > 0 && !this.heldForReading;
  }

  /** Stops reading and writing until the returned function is called. */
  freeze(): () => void {
    this.hold();
    this.output.freeze();
    return () => {
      if (this.state === "closed") return;
      this.run(() => {
        this.output.thaw();
        this.release();
        this.session?.pump();
      });
    };
  }

  /** Delays all writes by `delayMs` until the returned function is called. */
  delay(delayMs: number): () => void {
    this.output.delay(delayMs);
    return () => this.run(() => this.output.delay(0));
  }

  private takePackets(): void {
    while (this.holds === 0 && this.state !== "closed") {
      const packet = this.decoder.next();
      if (!packet) break;
      this.lastPacketAt = this.context.now();
      this.context.onPacket(this, packet);
    }
    // Acknowledgements of a client that sends and does not read must not pile up.
    if (this.output.congested && this.output.pendingBytes > 2 * this.context.limits.unreadBytes) this.holdUntilRead();
  }

  /** Once per sweep: a client above the rate is not read until its excess is used up. */
  checkRate(allowed: number): void {
    this.excessMessages = Math.max(0, this.excessMessages + this.recentMessages - allowed);
    this.recentMessages = 0;
    if (this.excessMessages > 0 === this.slowed) return;
    this.slowed = !this.slowed;
    if (this.slowed) this.hold();
    else this.release();
  }

  private holdUntilRead(): void {
    if (this.heldForReading) return;
    this.heldForReading = true;
    this.hold();
  }

  /** The transport has taken what was pending. */
  drained(): void {
    this.run(() => this.output.settle());
  }

  relieved(): void {
    if (this.state === "closed") return;
    if (this.heldForReading) {
      this.heldForReading = false;
      this.release();
    }
    this.session?.pump();
  }

  /** PUBLISH to the client. */
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
    const { output } = this;
    const withReason = this.v5 && reason !== 0;
    const slab = output.reserve(5);
    slab[output.end++] = firstBytes[type];
    slab[output.end++] = withReason ? 3 : 2;
    slab[output.end++] = packetId >> 8;
    slab[output.end++] = packetId & 0xff;
    if (withReason) slab[output.end++] = reason;
  }

  /** Any packet but PUBLISH; its reason string is left out where the client would not take it. */
  send(packet: Packet): void {
    if (this.state === "closed") return;
    const version = this.v5 ? 5 : 4;
    let bytes = encodePacket(packet, version);
    if (this.maximumPacketSize > 0 && bytes.length > this.maximumPacketSize && "properties" in packet && packet.properties) {
      // [MQTT5-3.4.2-2] and the like
      bytes = encodePacket({ ...packet, properties: { ...packet.properties, reasonString: undefined } }, version);
    }
    if (this.maximumPacketSize > 0 && bytes.length > this.maximumPacketSize) return;
    this.output.put(bytes);
  }

  /** The server ends it: DISCONNECT with the reason to a client of 5.0, then the close. Never throws: others end it, too. */
  disconnect(reason: ReasonCode, text: string): void {
    if (this.state === "closed") return;
    if (this.v5 && this.state === "connected") {
      const properties = this.context.limits.reasonStrings && reason >= 0x80 ? { reasonString: text } : undefined;
      this.attempt(() => this.send({ type: "disconnect", reason, properties }));
    }
    this.close(text);
  }

  /** Ends it without a DISCONNECT and without what was still to be written. Never throws. */
  cutOff(why: string): void {
    this.attempt(() => this.transport.destroy());
    this.close(why);
  }

  /** Runs once; `why` is text for the log. Never throws. */
  close(why: string): void {
    if (this.state === "closed") return;
    this.state = "closed";
    this.attempt(() => {
      if (this.context.scheduler.beforeWrite?.() === false) this.output.discard();
      else this.output.flush();
      this.output.unhinder();
    });
    this.attempt(() => this.transport.end());
    this.attempt(() => this.context.onClosed(this, why));
  }

  private attempt(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.context.log.error(`A fault while ending ${this.clientId || this.origin.peer}: ${faultText(error)}`);
      this.destroyTransport();
    }
  }

  private destroyTransport(): void {
    try {
      this.transport.destroy();
    } catch {
      // Logged already; nothing more can be done for it.
    }
  }
}

import { encodePacket } from "../../codec/encode-packet.ts";
import type { AckPacket, ConnectPacket, Packet, Qos } from "../../codec/packet.ts";
import { PacketDecoder } from "../../codec/packet-decoder.ts";
import { PacketError } from "../../codec/packet-error.ts";
import { type ReasonCode, reasonCode } from "../../codec/reason-code.ts";
import { Output, type Transport } from "../delivery/output.ts";
import { type SendResult, writePublish } from "../delivery/write-publish.ts";
import type { Engine } from "../engine.ts";
import type { Message } from "../routing/message.ts";
import type { Session } from "../session/session.ts";
import type { AuthExchange, Identity } from "./access.ts";
import { handleAck } from "./ack-flow.ts";
import { handleAuth, handleConnect, refuseConnect } from "./connect-flow.ts";
import { handleDisconnect } from "./disconnect-flow.ts";
import { handlePublish } from "./publish-flow.ts";
import { handleSubscribe, handleUnsubscribe } from "./subscribe-flow.ts";

/** How a connection came: for the list of clients. */
export interface ConnectionOrigin {
  readonly transport: "tcp" | "tls" | "ws" | "wss";
  /** "127.0.0.1:53110". */
  readonly peer: string;
  /** Common name of a verified client certificate. */
  readonly certificateName?: string | undefined;
}

export type ConnectionState = "opening" | "authenticating" | "connected" | "closed";

/** An enhanced authentication under way, at the start or again later. */
export interface PendingExchange {
  readonly method: string;
  readonly exchange: AuthExchange;
  /** Absent when a connected client authenticates again. */
  readonly connect: ConnectPacket | undefined;
}

const firstBytes = { puback: 0x40, pubrec: 0x50, pubrel: 0x62, pubcomp: 0x70 } as const;

/** One client's network connection: bytes in, packets to the flows; packets out, bytes. */
export class Connection {
  readonly engine: Engine;
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
  lastPacketAt: number;
  readonly openedAt: number;
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
  /** QoS 1 and 2 messages taken on whose acknowledgement waits for the bus. */
  unacknowledged = 0;
  /** QoS 2 identifiers that an earlier connection of the session left unreleased. */
  leftOpen: Set<number> | undefined = undefined;
  /** Packets wait: for an answer from elsewhere, or because the client is frozen or too fast. */
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

  constructor(engine: Engine, transport: Transport, origin: ConnectionOrigin) {
    this.engine = engine;
    this.transport = transport;
    this.origin = origin;
    this.output = new Output(transport, engine.scheduler, engine.limits.unreadBytes, this);
    this.decoder = new PacketDecoder(engine.limits.maximumPacketSize);
    this.openedAt = this.lastPacketAt = Date.now();
  }

  get clientId(): string {
    return this.identity.clientId;
  }

  receive(chunk: Buffer): void {
    if (this.state === "closed") return;
    this.bytesIn += chunk.length;
    this.engine.scheduler.arrivals++;
    this.engine.figures.bytesIn += chunk.length;
    this.decoder.append(chunk);
    this.process();
  }

  /** Stops taking packets until `release`, so that they keep their order. */
  hold(): void {
    if (this.holds++ === 0) this.transport.pause();
  }

  release(): void {
    if (--this.holds > 0 || this.state === "closed") return;
    this.lastPacketAt = this.engine.now();
    this.transport.resume();
    this.process();
  }

  /** Packets wait for the broker and not for the client. */
  get held(): boolean {
    return this.holds > 0 && !this.heldForReading;
  }

  /** Neither reads nor writes until the function that it gives is called. */
  freeze(): () => void {
    this.hold();
    this.output.freeze();
    return () => {
      if (this.state === "closed") return;
      this.output.thaw();
      this.release();
      this.session?.pump();
    };
  }

  private process(): void {
    try {
      while (this.holds === 0 && this.state !== "closed") {
        const packet = this.decoder.next();
        if (!packet) break;
        this.lastPacketAt = this.engine.now();
        this.handle(packet);
      }
    } catch (error) {
      if (!(error instanceof PacketError)) throw error;
      this.refuse(error);
    }
    // Acknowledgements of a client that sends and does not read must not pile up.
    if (this.output.congested && this.output.pendingBytes > 2 * this.engine.limits.unreadBytes) this.holdUntilRead();
  }

  /** Once a sweep: a client above the rate is not read until its messages are worn off. */
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
    this.output.settle();
  }

  relieved(): void {
    if (this.state === "closed") return;
    if (this.heldForReading) {
      this.heldForReading = false;
      this.release();
    }
    this.session?.pump();
  }

  private handle(packet: Packet): void {
    // [MQTT-3.1.0-1] is the decoder's; a client in the middle of authenticating may send only AUTH (§4.12).
    if (this.state === "authenticating" && packet.type !== "auth" && packet.type !== "disconnect") {
      throw new PacketError(reasonCode.protocolError, "Only AUTH may come before the CONNACK.");
    }
    switch (packet.type) {
      case "publish":
        handlePublish(this, packet);
        return;
      case "puback":
      case "pubrec":
      case "pubrel":
      case "pubcomp":
        handleAck(this, packet);
        return;
      case "subscribe":
        handleSubscribe(this, packet);
        return;
      case "unsubscribe":
        handleUnsubscribe(this, packet);
        return;
      case "pingreq":
        this.send({ type: "pingresp" });
        return;
      case "connect":
        // [MQTT-3.1.0-2]
        if (this.state !== "opening") throw new PacketError(reasonCode.protocolError, "A second CONNECT.");
        handleConnect(this, packet);
        return;
      case "disconnect":
        handleDisconnect(this, packet);
        return;
      case "auth":
        handleAuth(this, packet);
        return;
      case "connack":
      case "suback":
      case "unsuback":
      case "pingresp":
        throw new PacketError(reasonCode.protocolError, `A client does not send ${packet.type.toUpperCase()}.`);
      default:
        packet satisfies never;
    }
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
      this.engine.figures.messagesOut++;
    }
    return result;
  }

  sendAck(type: AckPacket["type"], packetId: number, reason: number, text?: string): void {
    if (this.state === "closed") return;
    if (text !== undefined && this.v5 && this.problemInformation && this.engine.limits.reasonStrings) {
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

  /** The client broke the standard. */
  private refuse(error: PacketError): void {
    this.engine.figures.refused++;
    this.engine.observer.refused?.(this, error);
    if (this.state === "connected") this.disconnect(error.reason, error.message);
    else refuseConnect(this, error);
  }

  /** The server ends it: DISCONNECT with the reason to a client of 5.0, then the close. */
  disconnect(reason: ReasonCode, text: string): void {
    if (this.state === "closed") return;
    if (this.v5 && this.state === "connected") {
      const properties = this.engine.limits.reasonStrings && reason >= 0x80 ? { reasonString: text } : undefined;
      this.send({ type: "disconnect", reason, properties });
    }
    this.close(text);
  }

  /** Once, whoever ends it; `why` in a person's words. */
  close(why: string): void {
    if (this.state === "closed") return;
    this.state = "closed";
    if (this.engine.scheduler.beforeWrite?.() === false) this.output.discard();
    else this.output.flush();
    this.output.unhinder();
    this.transport.end();
    this.engine.connectionClosed(this, why);
  }
}

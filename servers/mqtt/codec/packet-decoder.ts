import { ByteQueue } from "../../core/net/byte-queue.ts";
import { isTls } from "../../core/net/client-hello.ts";
import { compacted } from "./byte-reader.ts";
import { decodedItems, decodePacket } from "./decode-packet.ts";
import type { Packet, ProtocolVersion } from "./packet.ts";
import { PacketError, reasonCode } from "./reason-code.ts";

const malformed = (message: string) => new PacketError(reasonCode.malformedPacket, message);
const connectType = 1;
const publishType = 3;
const [subscribeType, unsubscribeType, pingType] = [8, 10, 12];

/**
 * Splits a byte stream into packets: `append` received bytes, then call `next` until it returns undefined.
 * Throws PacketError; the stream cannot be decoded any further then.
 */
export class PacketDecoder {
  /** Undefined until a CONNECT was decoded: it has to be the first packet ([MQTT-3.1.0-1]). */
  version: ProtocolVersion | undefined = undefined;
  /** Bytes of a complete packet, header included; also applies to CONNECT. */
  maximumPacketSize: number;
  private readonly mostItems: number;
  private readonly isOfClient: boolean;
  /** Topic filters and user properties of the packet that `next` returned last: each is some work. */
  items = 0;
  private bytes: Buffer | undefined = undefined;
  private position = 0;
  /** An incomplete packet, which may come byte by byte, or what arrived behind `bytes`. */
  private waiting: ByteQueue | undefined = undefined;
  /** Of the incomplete packet, as far as it is known; 0 if none is waited for. */
  private needed = 0;
  /** The chunk of the last packet; released when it is used up, so that an idle connection holds no memory. */
  private frame: Buffer | undefined = undefined;
  private packetStart = 0;

  /** As in `decodePacket`. */
  constructor(maximumPacketSize: number, mostItems = Number.POSITIVE_INFINITY, isOfClient = false) {
    this.maximumPacketSize = maximumPacketSize;
    this.mostItems = mostItems;
    this.isOfClient = isOfClient;
  }

  append(chunk: Buffer): void {
    if (this.waiting) {
      this.waiting.push(chunk, this.needed || undefined);
      if (!this.bytes) this.takeWaiting();
    } else if (this.bytes) {
      this.waiting = new ByteQueue();
      this.waiting.push(chunk);
    } else {
      this.bytes = chunk;
      this.position = 0;
    }
  }

  /** Goes on with what waits, if that is enough. */
  private takeWaiting(): void {
    const { waiting } = this;
    if (!waiting || waiting.length < this.needed) return;
    this.bytes = waiting.take(waiting.length);
    this.position = 0;
    this.waiting = undefined;
    this.needed = 0;
  }

  next(): Packet | undefined {
    const { bytes } = this;
    if (bytes === undefined) {
      this.frame = undefined;
      return undefined;
    }
    const start = this.position;
    const available = bytes.length - start;
    if (available < 2) return this.wait(2);
    const firstByte = bytes[start] as number;
    if (this.version === undefined) checkBegin(bytes.subarray(start));
    let bodyLength = 0;
    let multiplier = 1;
    let at = start + 1;
    let padded = false;
    for (;;) {
      if (at >= bytes.length) return this.wait(available + 1);
      const digit = bytes[at++] as number;
      bodyLength += (digit & 0x7f) * multiplier;
      if (digit < 0x80) {
        padded = digit === 0 && at - start > 2;
        break;
      }
      if (at - start === 5) throw malformed("The remaining length has more than four bytes.");
      multiplier *= 128;
    }
    const end = at + bodyLength;
    if (end - start > this.maximumPacketSize) {
      throw new PacketError(
        reasonCode.packetTooLarge,
        `A packet of ${end - start} bytes exceeds the maximum of ${this.maximumPacketSize}.`,
      );
    }
    if (end > bytes.length) return this.wait(end - start);
    this.frame = bytes;
    this.packetStart = start;
    this.position = end;
    const packet = decodePacket(firstByte, bytes, at, end, this.version ?? 4, this.mostItems, this.isOfClient);
    this.items = decodedItems();
    if (packet.type === "connect") this.version ??= packet.version;
    // [MQTT5-1.5.5-1]; 3.1.1 does not require it.
    if (padded && this.version === 5) throw malformed("The remaining length is encoded in more bytes than necessary.");
    if (end === bytes.length) {
      this.bytes = undefined;
      this.takeWaiting();
    }
    return packet;
  }

  /** What `next` returns is a PUBLISH, if its bytes are right. */
  get isPublishNext(): boolean {
    return this.bytes !== undefined && (this.bytes[this.position] as number) >> 4 === publishType;
  }

  /** It asks for an answer that is no work. */
  get isPingNext(): boolean {
    return this.bytes !== undefined && (this.bytes[this.position] as number) >> 4 === pingType;
  }

  /** It has topic filters, of which there may be thousands. */
  get isSubscribeNext(): boolean {
    if (this.bytes === undefined) return false;
    const type = (this.bytes[this.position] as number) >> 4;
    return type === subscribeType || type === unsubscribeType;
  }

  /** Memory of what was received, with the packet that `next` returned last: it is kept until the next call. */
  get heldBytes(): number {
    return this.unreadBytes + (this.bytes ? 0 : (this.frame?.length ?? 0));
  }

  /** Of it, what was not decoded. */
  get unreadBytes(): number {
    return (this.bytes?.length ?? 0) + (this.waiting?.heldBytes ?? 0);
  }

  discard(): void {
    this.bytes = this.waiting = this.frame = undefined;
  }

  /** The bytes of the packet that `next` returned last; a view, valid until the next call. */
  raw(): Buffer {
    return this.frame ? this.frame.subarray(this.packetStart, this.position) : Buffer.alloc(0);
  }

  private wait(needed: number): Packet | undefined {
    const rest = this.bytes?.subarray(this.position);
    const arrived = this.waiting;
    this.bytes = undefined;
    this.frame = undefined;
    if (!rest || rest.length === 0) return undefined;
    this.waiting = new ByteQueue();
    // A few bytes must not keep a whole chunk or packet alive.
    this.waiting.push(compacted(rest));
    this.needed = needed;
    if (!arrived) return undefined;
    this.waiting.push(arrived.take(arrived.length), needed);
    this.takeWaiting();
    return this.next();
  }
}

const httpMethod = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|CONNECT|PRI) /;

/** The first two bytes or more of a client: those of other protocols are named, as ports and addresses are easily mixed up. */
function checkBegin(first: Buffer): void {
  const refused = (message: string) => new PacketError(reasonCode.protocolError, message);
  // A record of a handshake (RFC 8446 §5.1), which would be a CONNECT of three bytes.
  if (isTls(first))
    throw refused(
      "The client began TLS on a port without it: use mqtt:// or ws://, or the TLS port (mqtts://) or the secure WebSocket port (wss://).",
    );
  if (httpMethod.test(first.toString("latin1", 0, 8)))
    throw refused("The client sent HTTP to a port of plain MQTT: HTTP has a port of its own, and MQTT over WebSocket too.");
  if ((first[0] as number) >> 4 !== connectType) throw refused("The first packet is not a CONNECT.");
}

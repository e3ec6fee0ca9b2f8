import { connect, type Socket } from "node:net";
import { encodePacket } from "../codec/encode-packet.ts";
import type { Packet, PublishPacket } from "../codec/packet.ts";
import { PacketDecoder } from "../codec/packet-decoder.ts";
import { PacketError } from "../codec/reason-code.ts";

export interface TryConnectionOptions {
  readonly port: number;
  readonly version: 4 | 5;
  /** A QoS 2 message that is sent again is given once. */
  readonly onMessage: (packet: PublishPacket) => void;
  /** Every packet but PUBLISH and PUBREL, which are answered here. */
  readonly onPacket: (packet: Packet) => void;
  /** Once. */
  readonly onClose: () => void;
}

export interface TryConnection {
  send(packet: Packet): void;
  /** After what was sent. */
  end(): void;
  /** At once. */
  cut(): void;
}

const largestPacket = 268_435_455 + 5;

/** The client's side of a connection to the broker, over TCP as any other; acknowledges what comes. */
export function openTryConnection({ port, version, onMessage, onPacket, onClose }: TryConnectionOptions): TryConnection {
  const decoder = new PacketDecoder(largestPacket);
  decoder.version = version;
  const receivedIds = new Set<number>();
  // An acknowledgement must not wait for the one before: what is measured is the broker.
  const socket: Socket = connect({ port, host: "127.0.0.1", noDelay: true });
  const send = (packet: Packet) => void (socket.writable && socket.write(encodePacket(packet, version)));

  function take(packet: Packet): void {
    switch (packet.type) {
      case "publish": {
        const { qos, packetId } = packet;
        if (qos < 2 || !receivedIds.has(packetId)) onMessage(packet);
        if (qos === 1) send({ type: "puback", packetId, reason: 0 });
        if (qos === 2) {
          receivedIds.add(packetId);
          send({ type: "pubrec", packetId, reason: 0 });
        }
        return;
      }
      case "pubrel":
        receivedIds.delete(packet.packetId);
        send({ type: "pubcomp", packetId: packet.packetId, reason: 0 });
        return;
      default:
        onPacket(packet);
    }
  }

  socket.on("data", (chunk: Buffer) => {
    try {
      decoder.append(chunk);
      for (let packet = decoder.next(); packet; packet = decoder.next()) take(packet);
    } catch (error) {
      if (!(error instanceof PacketError)) throw error;
      socket.destroy();
    }
  });
  // What went wrong shows in the close that follows.
  socket.on("error", () => {});
  socket.on("close", onClose);
  return { send, end: () => socket.end(), cut: () => socket.destroy() };
}

import { connect, type Socket } from "node:net";
import { encodePacket } from "../codec/encode-packet.ts";
import type { Packet, PublishPacket } from "../codec/packet.ts";
import { PacketDecoder } from "../codec/packet-decoder.ts";
import { PacketError } from "../codec/reason-code.ts";

export interface TryConnectionOptions {
  readonly port: number;
  readonly version: 4 | 5;
  /** Called once for a QoS 2 message, even if it is retransmitted. */
  readonly onMessage: (packet: PublishPacket) => void;
  /** Called for every packet but PUBLISH and PUBREL, which are answered here. */
  readonly onPacket: (packet: Packet) => void;
  /** Once. */
  readonly onClose: () => void;
}

export interface TryConnection {
  send(packet: Packet): void;
  /** Closes after pending bytes were sent. */
  end(): void;
  /** Closes immediately. */
  cut(): void;
}

const largestPacket = 268_435_455 + 5;

/** The client's side of a TCP connection to the broker; acknowledges received messages. */
export function openTryConnection({ port, version, onMessage, onPacket, onClose }: TryConnectionOptions): TryConnection {
  const decoder = new PacketDecoder(largestPacket);
  decoder.version = version;
  const receivedIds = new Set<number>();
  // Without Nagle's delay, so that measured times are those of the broker.
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
  // A "close" event follows.
  socket.on("error", () => {});
  socket.on("close", onClose);
  return { send, end: () => socket.end(), cut: () => socket.destroy() };
}

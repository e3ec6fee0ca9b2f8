/** Clients that keep their own session state over broken connections, as the standard wants of them (MQTT §4.1, §4.4). */
import { encodePacket } from "../../servers/mqtt/codec/encode-packet.ts";
import type { PublishPacket } from "../../servers/mqtt/codec/packet.ts";
import { connectPacket, openWire, publishPacket, type Version, type WireClient } from "./harness.ts";

const expiry = { sessionExpiryInterval: 600 };

async function resume(port: number, version: Version, clientId: string): Promise<{ client: WireClient; present: boolean }> {
  const client = await openWire({ port }, version);
  client.send(connectPacket(version, clientId, { cleanStart: false, ...(version === 5 && { properties: expiry }) }));
  const { sessionPresent } = await client.expect("connack");
  return { client, present: sessionPresent };
}

interface Outgoing {
  readonly packet: PublishPacket;
  /** PUBREC came: PUBREL is sent again, and never the PUBLISH. */
  released: boolean;
}

/** Publishes numbered messages, some at a time, and sends again what was not acknowledged. */
export class KeptPublisher {
  readonly published: string[] = [];
  readonly acknowledged: string[] = [];
  private readonly waiting = new Map<number, Outgoing>();
  private lastPacketId = 0;
  private readonly clientId: string;
  private readonly version: Version;

  constructor(clientId: string, version: Version) {
    this.clientId = clientId;
    this.version = version;
  }

  /** Until `total` messages in all are acknowledged (true), or the connection ends. */
  async run(port: number, total: number, window: number, next: (id: number) => PublishPacket): Promise<boolean> {
    const { client, present } = await resume(port, this.version, this.clientId);
    if (!present && this.waiting.size > 0) throw new Error("The broker forgot the publisher's session.");
    for (const [packetId, { packet, released }] of this.waiting) {
      if (released) client.send({ type: "pubrel", packetId, reason: 0 });
      else client.write(encodePacket({ ...packet, dup: true }, this.version));
    }
    for (;;) {
      while (this.waiting.size < window && this.published.length < total) this.send(client, next(this.published.length));
      if (this.waiting.size === 0) {
        client.destroy();
        return true;
      }
      const packet = await client.next();
      if (!packet) return false;
      if (packet.type !== "puback" && packet.type !== "pubrec" && packet.type !== "pubcomp") throw new Error(`unexpected ${packet.type}`);
      const outgoing = this.waiting.get(packet.packetId);
      if (packet.type === "pubrec") {
        if (outgoing && !outgoing.released) this.acknowledged.push(textOf(outgoing.packet));
        if (outgoing) outgoing.released = true;
        client.send({ type: "pubrel", packetId: packet.packetId, reason: 0 });
        continue;
      }
      if (packet.type === "puback" && outgoing) this.acknowledged.push(textOf(outgoing.packet));
      this.waiting.delete(packet.packetId);
    }
  }

  private send(client: WireClient, message: PublishPacket): void {
    do this.lastPacketId = (this.lastPacketId % 0xffff) + 1;
    while (this.waiting.has(this.lastPacketId));
    const packet = { ...message, packetId: this.lastPacketId };
    this.waiting.set(packet.packetId, { packet, released: false });
    this.published.push(textOf(packet));
    client.send(packet);
  }
}

/** Takes messages, and takes a QoS 2 message that comes again for the same one. */
export class KeptSubscriber {
  readonly received: string[] = [];
  private readonly held = new Set<number>();
  private readonly clientId: string;
  private readonly version: Version;

  constructor(clientId: string, version: Version) {
    this.clientId = clientId;
    this.version = version;
  }

  /** Resolves, when it is connected, with what resolves when it no longer is. */
  async run(port: number, filter: string): Promise<{ client: WireClient; ended: Promise<void> }> {
    const { client, present } = await resume(port, this.version, this.clientId);
    if (!present) await client.subscribe(filter, { qos: 2 });
    return { client, ended: this.take(client) };
  }

  private async take(client: WireClient): Promise<void> {
    for (let packet = await client.next(); packet; packet = await client.next()) {
      if (packet.type === "pubrel") {
        this.held.delete(packet.packetId);
        client.send({ type: "pubcomp", packetId: packet.packetId, reason: 0 });
      }
      if (packet.type !== "publish") continue;
      if (packet.qos === 1) client.send({ type: "puback", packetId: packet.packetId, reason: 0 });
      if (packet.qos === 2) {
        client.send({ type: "pubrec", packetId: packet.packetId, reason: 0 });
        if (this.held.has(packet.packetId)) continue;
        this.held.add(packet.packetId);
      }
      this.received.push(textOf(packet));
    }
  }
}

/** "qos:number", in front of whatever fills the payload. */
const textOf = ({ payload }: PublishPacket) => payload.toString("latin1", 0, payload.indexOf(" "));

export const numbered = (topic: string, id: number, qos: 1 | 2, bytes: number): PublishPacket => ({
  ...publishPacket(topic, `${qos}:${id} ${"x".repeat(bytes)}`),
  qos,
});

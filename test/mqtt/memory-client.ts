import { expect, onTestFinished } from "vitest";
import { createFailureLimits } from "../../servers/core/credentials/failure-limits.ts";
import { loadUsers } from "../../servers/core/credentials/users.ts";
import { createAccessControl } from "../../servers/mqtt/access/access-control.ts";
import { encodePacket } from "../../servers/mqtt/codec/encode-packet.ts";
import type { ConnectPacket, Packet } from "../../servers/mqtt/codec/packet.ts";
import { PacketDecoder } from "../../servers/mqtt/codec/packet-decoder.ts";
import type { Access } from "../../servers/mqtt/engine/connection/access.ts";
import type { Connection } from "../../servers/mqtt/engine/connection/connection.ts";
import type { Transport } from "../../servers/mqtt/engine/delivery/output.ts";
import { Engine, type EngineOptions } from "../../servers/mqtt/engine/engine.ts";
import { limitsOfConfig } from "../../servers/mqtt/engine/engine-limits.ts";
import { RetainedTree } from "../../servers/mqtt/engine/retained/retained-tree.ts";
import { createAedesBus } from "../../servers/mqtt/engine/routing/aedes-bus.ts";
import { Message } from "../../servers/mqtt/engine/routing/message.ts";
import { mqttConfig } from "../../servers/mqtt/mqtt-config.ts";
import { connectPacket } from "./harness.ts";

export const boom = (): never => {
  throw new RangeError("boom");
};

/** For `isTurnOver`: clients have had their time in each turn, but for those with little to do. */
export const isOverForMost = (parts = 1): boolean => parts === 1;

/** A client whose transport is memory; each of its calls can be made to fail. */
export class MemoryClient implements Transport {
  readonly received: Packet[] = [];
  pendingBytes = 0;
  ended = false;
  fails: "write" | "pause" | "resume" | "end" | "destroy" | undefined = undefined;
  readonly connection: Connection;
  private readonly decoder = new PacketDecoder(1 << 28);

  constructor(engine: Engine, clientId: string, more: Partial<ConnectPacket> = {}, peer = clientId) {
    this.decoder.version = 5;
    this.connection = engine.open(this, { transport: "tcp", peer });
    this.send(connectPacket(5, clientId, more));
  }

  send(packet: Packet): void {
    this.connection.receive(encodePacket(packet, 5));
  }

  subscribe(filter: string, qos: 0 | 1 = 0): void {
    const options = { qos, noLocal: false, retainAsPublished: false, retainHandling: 0 as const };
    this.send({ type: "subscribe", packetId: 1, subscriptions: [{ filter, ...options }] });
  }

  write(bytes: Buffer): boolean {
    if (this.fails === "write") boom();
    this.decoder.append(Buffer.from(bytes));
    for (let packet = this.decoder.next(); packet; packet = this.decoder.next()) this.received.push(packet);
    return true;
  }

  end(): void {
    if (this.fails === "end") boom();
    this.ended = true;
  }

  destroy(): void {
    this.ended = true;
    if (this.fails === "destroy") boom();
  }

  pause(): void {
    if (this.fails === "pause") boom();
  }

  resume(): void {
    if (this.fails === "resume") boom();
  }
}

type Parts = Partial<Omit<EngineOptions, "limits" | "access">> & { limits?: Record<string, unknown>; access?: Partial<Access> };

export async function startEngine({ limits, access, ...more }: Parts = {}) {
  const faults: string[] = [];
  const bus = await createAedesBus({ retained: new RetainedTree(), store: more.store });
  const open = createAccessControl({
    anonymous: true,
    users: await loadUsers([]),
    rules: [],
    failures: createFailureLimits({ failures: 100, windowMs: 60_000 }),
  });
  const ignored = () => {};
  const engine = new Engine({
    limits: limitsOfConfig(mqttConfig.parse({ ...limits }), Number.POSITIVE_INFINITY, { info: ignored }),
    access: { ...open, ...access },
    bus,
    log: { debug: ignored, info: ignored, warning: ignored, error: (text) => void faults.push(text) },
    ...more,
  });
  onTestFinished(async () => {
    await engine.stop();
    await bus.close();
  });
  const bystander = new MemoryClient(engine, "bystander");
  bystander.subscribe("news");
  await expect.poll(() => bystander.received.length).toBe(2);
  /** The bystander is served as if nothing had happened. */
  async function expectUndisturbed(): Promise<void> {
    const before = bystander.received.length;
    engine.publishInternal(new Message({ topic: "news", payload: Buffer.from("x"), qos: 0, retain: false }));
    bystander.send({ type: "pingreq" });
    await expect.poll(() => bystander.received.slice(before).map(({ type }) => type)).toEqual(["publish", "pingresp"]);
    expect(bystander.ended).toBe(false);
  }
  /** Its connection is over, the log says why, and nobody else was touched. */
  async function expectEnded(client: MemoryClient): Promise<void> {
    await expect.poll(() => client.connection.state).toBe("closed");
    expect(client.ended).toBe(true);
    expect(engine.connections.has(client.connection)).toBe(false);
    await expect.poll(() => faults.join("\n")).toContain("boom");
    await expectUndisturbed();
  }
  return { engine, bus, faults, bystander, expectEnded, expectUndisturbed };
}

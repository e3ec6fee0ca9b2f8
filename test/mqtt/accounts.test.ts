import path from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { loadSqlite } from "../../servers/core/files/sqlite-file.ts";
import type { Packet } from "../../servers/mqtt/codec/packet.ts";
import type { Engine } from "../../servers/mqtt/engine/engine.ts";
import { openSqliteSessionStore } from "../../servers/mqtt/persistence/sqlite-session-store.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { publishPacket } from "./harness.ts";
import { MemoryClient, startEngine } from "./memory-client.ts";

const steps = 3_000;

/** What is kept for clients. */
const accountsOf = ({ counters, load, scheduler, trie, groups, sessions, clients, connections, away }: Engine) => ({
  subscriptions: counters.subscriptions,
  subscriptionBytes: counters.subscriptionBytes,
  sessionBytes: counters.sessionBytes,
  aliasBytes: counters.aliasBytes,
  long: [counters.longFilters, counters.longClients],
  load: { ...load },
  unread: scheduler.unread.bytes,
  works: scheduler.works,
  trie: trie.heldBytes,
  groups: groups.size,
  sessions: [...sessions.keys()],
  clients: clients.size,
  connections: connections.size,
  away: away.addresses,
});

/** Does what clients do with their sessions, in a random order. */
class RandomClient {
  private client: MemoryClient | undefined = undefined;
  private packetId = 0;
  private readonly engine: Engine;
  private readonly name: string;
  private readonly random: ReturnType<typeof seededRandom>;

  constructor(engine: Engine, name: string, random: ReturnType<typeof seededRandom>) {
    this.engine = engine;
    this.name = name;
    this.random = random;
  }

  private send(packet: Packet): void {
    if (this.client && this.client.connection.state !== "closed") this.client.send(packet);
  }

  private get filter(): string {
    const topic = `${this.random.below(3)}/${this.random.below(3)}`;
    const names = [
      topic,
      "+/1",
      "#",
      `${topic}/${"deep/".repeat(120)}`,
      `$share/g${this.random.below(2)}/${topic}`,
      `${"x".repeat(17_000)}${topic}`,
    ];
    return names[this.random.below(names.length)] as string;
  }

  private connect(): void {
    const { random } = this;
    const delay = { willDelayInterval: random.below(3) };
    const will =
      random.below(2) === 0 ? undefined : { topic: "1/1", payload: Buffer.from("w"), qos: 1 as const, retain: false, properties: delay };
    this.client = new MemoryClient(this.engine, this.name, {
      cleanStart: random.below(3) === 0,
      will,
      properties: {
        sessionExpiryInterval: random.below(3) === 0 ? 0 : 600,
        topicAliasMaximum: random.below(3),
        receiveMaximum: 1 + random.below(4),
      },
    });
  }

  step(): void {
    const { random } = this;
    this.packetId = (this.packetId % 100) + 1;
    const { packetId } = this;
    switch (random.below(12)) {
      case 0:
        this.connect();
        return;
      case 1:
        this.client?.connection.cutOff("lost");
        return;
      case 2:
        this.send({ type: "disconnect", reason: random.below(2) === 0 ? 0 : 4 });
        return;
      case 3:
      case 4: {
        const options = { noLocal: false, retainAsPublished: false, retainHandling: 0 as const };
        const subscriptions = [1, 2].map(() => ({ filter: this.filter, qos: random.below(3) as 0 | 1 | 2, ...options }));
        this.send({ type: "subscribe", packetId, properties: { subscriptionIdentifiers: [1 + random.below(9)] }, subscriptions });
        return;
      }
      case 5:
        this.send({ type: "unsubscribe", packetId, filters: [this.filter, this.filter] });
        return;
      case 6:
        // The acknowledgements of what it got.
        for (const packet of this.client?.received.splice(0) ?? []) {
          if (packet.type === "publish" && packet.qos > 0)
            this.send({ type: packet.qos === 1 ? "puback" : "pubrec", packetId: packet.packetId, reason: 0 });
          if (packet.type === "pubrel") this.send({ type: "pubcomp", packetId: packet.packetId, reason: 0 });
        }
        return;
      case 7:
        this.send({ type: "pubrel", packetId: 1 + random.below(100), reason: 0 });
        return;
      default: {
        const qos = random.below(3) as 0 | 1 | 2;
        const topic = `${random.below(3)}/${random.below(3)}`;
        this.send({
          ...publishPacket(topic, "x".repeat(random.below(600))),
          qos,
          packetId: qos > 0 ? packetId : 0,
          properties: { topicAlias: 1 + random.below(9), ...(random.below(4) === 0 && { messageExpiryInterval: 0 }) },
        });
      }
    }
  }

  /** Its session is over. */
  async end(): Promise<void> {
    const client = new MemoryClient(this.engine, this.name);
    await expect.poll(() => client.received.some(({ type }) => type === "connack")).toBe(true);
    client.send({ type: "disconnect", reason: 0 });
  }
}

const limits = { queueMessages: 20, queueBytes: 8_000, inflightMessages: 5, memoryBytes: 1 << 18, sessions: 20 };

async function act(engine: Engine, seed: number): Promise<readonly RandomClient[]> {
  const random = seededRandom(seed);
  const clients = Array.from(
    { length: 12 },
    (_, index) => new RandomClient(engine, index === 0 ? "y".repeat(17_000) : `client ${index}`, random),
  );
  for (let step = 0; step < steps; step++) {
    clients[random.below(clients.length)]?.step();
    if (step % 16 === 0) await setImmediate();
  }
  return clients;
}

it.each([1, 2, 3])("[MQTT-477] whatever clients do, nothing is counted for them when their sessions are over; seed %s", async (seed) => {
  const { engine, faults, bystander } = await startEngine({ limits });
  bystander.connection.cutOff("not needed");
  await expect.poll(() => engine.sessions.size).toBe(0);
  const before = accountsOf(engine);
  for (const client of await act(engine, seed)) await client.end();
  await expect.poll(() => accountsOf(engine)).toEqual(before);
  expect(faults).toEqual([]);
});

/** What another run is to have of the sessions that are kept. */
const keptOf = ({ sessions }: Engine) =>
  [...sessions.values()]
    .filter(({ expirySeconds }) => expirySeconds > 0)
    .map(({ clientId, subscriptions, received, will, ...session }) => ({
      clientId,
      subscriptions: [...subscriptions.values()]
        .map(({ filter, options }) => ({ filter, ...options }))
        .sort((one, other) => (one.filter < other.filter ? -1 : 1)),
      received: [...received.all()].sort((one, other) => one - other),
      will: will?.message.payload.toString(),
      expirySeconds: session.expirySeconds,
    }))
    .sort((one, other) => (one.clientId < other.clientId ? -1 : 1));
const deliveriesOf = ({ sessions }: Engine) =>
  [...sessions.values()]
    .filter(({ expirySeconds }) => expirySeconds > 0)
    .map((session) => [
      session.clientId.slice(0, 20),
      // Others may expire meanwhile.
      ...[...session.deliveries()]
        .filter(({ message }) => message.expiresAt === 0)
        .map(({ message, qos, retain, state, packetId, identifiers, shared }) =>
          [message.topic, message.payload.length, qos, retain, state, packetId, identifiers?.join(), shared?.filter].join(" "),
        ),
    ])
    .sort((one, other) => ((one[0] ?? "") < (other[0] ?? "") ? -1 : 1));

it.each([3, 19, 28])("[MQTT-477] what is on disk is what the sessions have, and nothing when they are over; seed %s", async (seed) => {
  const file = path.join(temporaryDir(), "sessions.sqlite");
  const store = await openSqliteSessionStore({ file, synchronous: "NORMAL" });
  const { engine, faults } = await startEngine({ limits, store });
  await act(engine, seed);
  await engine.stop();
  store.close();
  const [kept, deliveries] = [keptOf(engine), deliveriesOf(engine)];
  const again = await openSqliteSessionStore({ file, synchronous: "NORMAL" });
  const { engine: next, faults: nextFaults } = await startEngine({ limits, store: again });
  await next.restore(again.load().sessions);
  expect([keptOf(next), deliveriesOf(next)]).toEqual([kept, deliveries]);
  for (const { clientId } of kept) {
    const client = new MemoryClient(next, clientId);
    await expect.poll(() => client.received.some(({ type }) => type === "connack")).toBe(true);
    client.send({ type: "disconnect", reason: 0 });
  }
  await expect.poll(() => next.departures.isIdle).toBe(true);
  await next.stop();
  again.close();
  const Database = await loadSqlite();
  const database = new Database(file);
  const rows = ["session", "subscription", "delivery", "received", "message"].map((table) =>
    database.prepare(`SELECT count(*) FROM ${table}`).pluck().get(),
  );
  database.close();
  expect(rows).toEqual([0, 0, 0, 0, 0]);
  expect([faults, nextFaults]).toEqual([[], []]);
});

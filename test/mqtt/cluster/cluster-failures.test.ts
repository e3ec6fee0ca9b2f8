import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { encodeFrame } from "../../../servers/mqtt/cluster/frame.ts";
import { createFrameBus } from "../../../servers/mqtt/cluster/frame-bus.ts";
import { type Connected, connectWire } from "../harness.ts";
import {
  describeCluster,
  Inbox,
  kept,
  leave,
  openRedis,
  publishAcknowledged,
  Receiver,
  type SpawnedMember,
  spawnMember,
  startMember,
} from "./cluster-harness.ts";

const will = (payload: string) => ({ topic: "w", payload: Buffer.from(payload), qos: 1 as const, retain: false });

describeCluster("a broker of a cluster dies", (nextUrl) => {
  it("[MQTT-215] the wills of its clients are published once, also of sessions that end with the connection", async () => {
    const url = nextUrl();
    const [dying, one, other] = [await spawnMember(url), await startMember(url), await startMember(url)];
    const inboxes: Inbox[] = [];
    for (const broker of [one, other]) {
      const watcher = await connectWire(broker, 5);
      await watcher.subscribe("w", { qos: 1 });
      inboxes.push(new Inbox(watcher));
    }
    await connectWire(dying, 5, kept("kept", { will: will("kept") }));
    await connectWire(dying, 5, { clientId: "not kept", will: will("not kept") });
    await connectWire(dying, 4, { clientId: "of 3.1.1", will: will("of 3.1.1") });
    const delayed = { ...will("delayed"), properties: { willDelayInterval: 1 } };
    await connectWire(dying, 5, kept("delayed", { will: delayed }));
    await leave(await connectWire(dying, 5, kept("left", { will: will("left") })));
    await publishAcknowledged(await connectWire(dying, 5), "anything", "else");
    await dying.kill();
    for (const inbox of inboxes) await expect.poll(() => inbox.payloads.toSorted()).toEqual(["delayed", "kept", "not kept", "of 3.1.1"]);
    // A will after all of these.
    (await connectWire(one, 5, { clientId: "last", will: will("last") })).destroy();
    for (const inbox of inboxes) await expect.poll(() => inbox.payloads.at(-1)).toBe("last");
    for (const inbox of inboxes) expect(inbox.messages.length).toBe(5);
  });

  it("[MQTT-461] publishers at the others go on at once, long before it counts as dead", async () => {
    const url = nextUrl();
    // Publishers wait for no broker longer than ten seconds: for these messages that would be minutes.
    const clusterTimeoutMs = 600_000;
    const [dying, living] = [await spawnMember(url, { clusterTimeoutMs }), await startMember(url, { clusterTimeoutMs })];
    const publisher = await connectWire(living, 5);
    const payload = "x".repeat(1_000_000);
    await publishAcknowledged(publisher, "t", payload);
    await dying.kill();
    for (let count = 0; count < 60; count++) await publishAcknowledged(publisher, "t", payload);
    expect(await (await openRedis(url)).scard("backlot:mqtt:brokers")).toBe(2);
  });

  it("[MQTT-472] its clients that come back together get what they missed, and the journal is not read for each of them", async () => {
    const url = nextUrl();
    const [dying, living] = [await spawnMember(url), await startMember(url)];
    const names = Array.from({ length: 20 }, (_, index) => `client ${index}`);
    for (const clientId of names) {
      const client = await connectWire(dying, 5, kept(clientId));
      await client.subscribe("q", { qos: 2 });
      await leave(client);
    }
    await dying.kill();
    const publisher = await connectWire(living, 5);
    const payloads = Array.from({ length: 300 }, (_, index) => String(index));
    for (const [index, payload] of payloads.entries()) publisher.publish("q", payload, { qos: 1, packetId: 1 + index });
    for (const _ of payloads) await publisher.expect("puback");
    const redis = await openRedis(url);
    const reads = async () => Number(/cmdstat_xrange:calls=(\d+)/.exec(await redis.info("commandstats"))?.[1] ?? 0);
    const before = await reads();
    const clients = await Promise.all(names.map((clientId) => connectWire(living, 5, kept(clientId))));
    const inboxes = clients.map((client) => new Inbox(client));
    for (const inbox of inboxes) await expect.poll(() => inbox.payloads, { timeout: 10_000 }).toEqual(payloads);
    expect((await reads()) - before).toBeLessThan(30);
  });

  it("[MQTT-216] its sessions continue at another broker, with messages queued before, published meanwhile and later", async () => {
    const url = nextUrl();
    const [dying, living] = [await spawnMember(url), await startMember(url)];
    for (const clientId of ["waits for the takeover", "comes at once"]) {
      const client = await connectWire(dying, 5, kept(clientId));
      await client.subscribe("q/#", { qos: 2 });
      await leave(client);
    }
    const [atDying, atLiving] = [await connectWire(dying, 5), await connectWire(living, 5)];
    await publishAcknowledged(atDying, "q/1", "before, there", { qos: 2 });
    await publishAcknowledged(atLiving, "q/1", "before, here", { qos: 2 });
    await dying.kill();
    await publishAcknowledged(atLiving, "q/1", "while dead", { qos: 2 });
    const first = await connectWire(living, 5, kept("comes at once"));
    expect(first.connack.sessionPresent).toBe(true);
    const firstInbox = new Inbox(first);
    await expect.poll(() => living.act("client.read", { clientId: "waits for the takeover" })).not.toBeNull();
    await publishAcknowledged(atLiving, "q/1", "after", { qos: 2 });
    const second = await connectWire(living, 5, kept("waits for the takeover"));
    expect(second.connack.sessionPresent).toBe(true);
    const secondInbox = new Inbox(second);
    const all = ["before, there", "before, here", "while dead", "after"];
    await expect.poll(() => firstInbox.payloads).toEqual(all);
    await expect.poll(() => secondInbox.payloads).toEqual(all);
  });

  it.each([true, false])(
    "[MQTT-216] a broker that requests a session twice and dies before it gets it loses nothing; alive when answered: %s",
    async (alive) => {
      const url = nextUrl();
      const one = await startMember(url);
      const redis = await openRedis(url);
      const client = await connectWire(one, 5, kept("c"));
      await client.subscribe("q", { qos: 2 });
      await leave(client);
      const publisher = await connectWire(one, 5);
      await publishAcknowledged(publisher, "q", "before", { qos: 2 });
      const [brokerId = ""] = await redis.smembers("backlot:mqtt:brokers");
      const channel = `backlot:mqtt:${new URL(url).pathname.slice(1)}`;
      const bus = createFrameBus(channel, () => {});
      if (alive) await redis.set("backlot:mqtt:alive:dying", "1");
      for (const seq of [1, 2]) {
        const frame = encodeFrame({ from: "dying", seq, entries: [{ type: "wanted", to: brokerId, clientId: "c", cleanStart: false }] });
        await redis.publish(channel, Buffer.concat([bus.envelope(frame), Buffer.from([0])]));
      }
      if (alive) await expect.poll(() => redis.hget("backlot:mqtt:owners", "c")).toBe("dying");
      await publishAcknowledged(publisher, "q", "after", { qos: 2 });
      await redis.del("backlot:mqtt:alive:dying");
      if (!alive) await expect.poll(() => one.act("client.read", { clientId: "c" })).toMatchObject({ connected: false });
      const back = await connectWire(one, 5, kept("c"));
      expect(back.connack.sessionPresent).toBe(true);
      const inbox = new Inbox(back);
      await publishAcknowledged(publisher, "q", "live", { qos: 2 });
      await expect.poll(() => inbox.payloads).toEqual(["before", "after", "live"]);
    },
  );

  it("[MQTT-217] brokers killed in turn under load: nothing acknowledged is lost, and QoS 2 is never duplicated", async () => {
    const url = nextUrl();
    let members = [await spawnMember(url), await spawnMember(url)] as const;
    const publishing: Publishing = { nextId: 0, acknowledged: new Set() };
    const receiver = new Receiver();
    const { received } = receiver;
    const first = await connectWire(members[0], 5, kept("subscriber"));
    await first.subscribe("load/+", { qos: 2 });
    await leave(first);
    for (let round = 0; round < 4; round++) {
      const [dying, living] = members;
      const subscriber = new StayingClient(round % 2 === 0 ? dying : living, "subscriber", (client) => receiver.take(client));
      const publisher = new StayingClient(round < 2 ? living : dying, "publisher", (client) => publish(client, publishing));
      const target = received.length + 100;
      await expect.poll(() => received.length).toBeGreaterThan(target);
      const left = [subscriber.leaveOnceClosed(), publisher.leaveOnceClosed()];
      await dying.kill();
      for (const client of [subscriber, publisher]) client.destroy();
      await Promise.all(left);
      members = [living, await spawnMember(url)];
    }
    const last = await connectWire(members[1], 5, kept("subscriber"));
    expect(last.connack.sessionPresent).toBe(true);
    const work = receiver.take(last);
    await expect.poll(() => [...publishing.acknowledged].filter((payload) => !received.includes(payload))).toEqual([]);
    last.destroy();
    await work;
    const twice = received.filter((payload, index) => payload.startsWith("2:") && received.indexOf(payload) !== index);
    expect(twice).toEqual([]);
  });

  it("[MQTT-473] a broker is killed while messages for hundreds of its sessions are delivered: each has all that was acknowledged, and none twice", async () => {
    const url = nextUrl();
    const [dying, living] = [await spawnMember(url), await startMember(url)];
    const names = Array.from({ length: 400 }, (_, index) => `client ${index}`);
    for (const clientId of names) {
      const client = await connectWire(dying, 5, kept(clientId));
      await client.subscribe("q", { qos: 2 });
      await leave(client);
    }
    const acknowledged: string[] = [];
    const publishAll = async (client: Connected, name: string) => {
      for (let count = 1; ; count++) {
        client.publish("q", `${name} ${count}`, { qos: 2, packetId: count });
        const pubrec = await client.next();
        if (pubrec?.type !== "pubrec") return;
        acknowledged.push(`${name} ${count}`);
        client.send({ type: "pubrel", packetId: count, reason: 0 });
        if ((await client.next())?.type !== "pubcomp" || count === 30) return;
      }
    };
    const [one, other] = ["at the dying one", "at the living one"] as const;
    const publishers = [await connectWire(dying, 5, kept(one)), await connectWire(living, 5, kept(other))] as const;
    const publishing = [publishAll(publishers[0], one), publishAll(publishers[1], other)];
    await expect.poll(() => acknowledged.length).toBeGreaterThan(8);
    await dying.kill();
    await Promise.all(publishing);
    expect(acknowledged.filter((text) => text.startsWith("at the living one"))).toHaveLength(30);
    const inboxes = await Promise.all(names.map(async (clientId) => new Inbox(await connectWire(living, 5, kept(clientId)))));
    for (const inbox of inboxes) {
      await expect.poll(() => acknowledged.filter((text) => !inbox.payloads.includes(text))).toEqual([]);
      expect(new Set(inbox.payloads).size).toBe(inbox.payloads.length);
    }
  });

  it("[MQTT-218] a broker that was only suspended, but considered dead, lets its clients reconnect", async () => {
    const url = nextUrl();
    const [frozen, living] = [await spawnMember(url), await startMember(url)];
    const client = await connectWire(frozen, 5, kept("c"));
    await client.subscribe("t", { qos: 1 });
    frozen.child.kill("SIGSTOP");
    await expect.poll(() => living.act("client.read", { clientId: "c" })).not.toBeNull();
    const publisher = await connectWire(living, 5);
    await publishAcknowledged(publisher, "t", "meanwhile");
    frozen.child.kill("SIGCONT");
    expect(await client.expectClose()).toMatchObject({ type: "disconnect", reason: 0x8b });
    const back = await connectWire(frozen, 5, kept("c"));
    expect(back.connack.sessionPresent).toBe(true);
    const inbox = new Inbox(back);
    await publishAcknowledged(publisher, "t", "after");
    await expect.poll(() => inbox.payloads).toEqual(["meanwhile", "after"]);
  });
});

interface Publishing {
  nextId: number;
  /** The message in flight; `released` once its PUBREC came. */
  pending?: { readonly payload: string; readonly qos: 1 | 2; readonly packetId: number; released: boolean } | undefined;
  readonly acknowledged: Set<string>;
}

/**
 * One message in flight at a time, QoS 1 and 2 in turn; what is answered counts as the brokers'.
 * What was in flight when a connection ended is sent again on the next one ([MQTT-4.4.0-1]): a broker keeps
 * the identifier of a QoS 2 message until PUBREL, and takes the next message with it for the same one.
 */
async function publish(client: Connected, state: Publishing): Promise<void> {
  if (!client.connack.sessionPresent) state.pending = undefined;
  let dup = state.pending !== undefined;
  for (;;) {
    const id = state.nextId;
    const pending = state.pending ?? {
      payload: `${1 + (id % 2)}:${id}`,
      qos: id % 2 === 0 ? 1 : 2,
      packetId: 1 + (id % 1_000),
      released: false,
    };
    state.pending = pending;
    if (!dup) state.nextId++;
    const { payload, qos, packetId } = pending;
    if (!pending.released) {
      client.publish(`load/${packetId % 7}`, payload, { qos, packetId, dup });
      const answer = await client.next();
      // Or a DISCONNECT.
      if (answer?.type !== "puback" && answer?.type !== "pubrec") return;
      state.acknowledged.add(payload);
      pending.released = true;
    }
    dup = false;
    if (qos === 2) {
      client.send({ type: "pubrel", packetId, reason: 0 });
      if ((await client.next())?.type !== "pubcomp") return;
    }
    state.pending = undefined;
  }
}

/** Connects again when its connection ends, as real clients do: a broker that the system suspends for a second counts as dead. */
class StayingClient {
  private current: Connected | undefined = undefined;
  private stays = true;
  private readonly ended: Promise<void>;

  constructor(broker: SpawnedMember, clientId: string, use: (client: Connected) => Promise<void>) {
    this.ended = this.run(broker, clientId, use);
  }

  private async run(broker: SpawnedMember, clientId: string, use: (client: Connected) => Promise<void>): Promise<void> {
    while (this.stays) {
      try {
        this.current = await connectWire(broker, 5, kept(clientId));
        if (!this.stays) this.current.destroy();
        await use(this.current);
      } catch {
        await sleep(100);
      }
    }
  }

  /** Does not connect again; resolves when the connection has ended. */
  leaveOnceClosed(): Promise<void> {
    this.stays = false;
    return this.ended;
  }

  destroy(): void {
    this.current?.destroy();
  }
}

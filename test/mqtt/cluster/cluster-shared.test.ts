import { expect, it } from "vitest";
import { type Broker, connectWire } from "../harness.ts";
import {
  describeCluster,
  Inbox,
  kept,
  leave,
  publishAcknowledged,
  Receiver,
  spawnMember,
  startMember,
  startPair,
} from "./cluster-harness.ts";

const filter = "$share/workers/jobs/#";

async function member(broker: Broker, clientId: string, qos: 0 | 1 | 2 = 2, shared = filter) {
  const client = await connectWire(broker, 5, kept(clientId));
  await client.subscribe(shared, { qos });
  return { client, inbox: new Inbox(client) };
}

const jobs = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index));

describeCluster("shared subscriptions over a cluster", (nextUrl) => {
  it("[MQTT-212] each message goes to one member at one broker, and every member gets some", async () => {
    const [one, other] = await startPair(nextUrl());
    const members = [await member(one, "a"), await member(one, "b"), await member(one, "c"), await member(other, "d")];
    const publishers = [await connectWire(one, 5), await connectWire(other, 5)];
    for (const [index, job] of jobs(60).entries()) {
      await publishAcknowledged(publishers[index % 2] as never, "jobs/x", job, { qos: (index % 3) as 0 | 1 | 2 });
    }
    const all = () => members.flatMap(({ inbox }) => inbox.payloads).sort((left, right) => Number(left) - Number(right));
    await expect.poll(all).toEqual(jobs(60));
    for (const { inbox } of members) expect(inbox.messages.length).toBeGreaterThan(5);
    expect(members.flatMap(({ inbox }) => inbox.messages).filter(({ dup }) => dup)).toEqual([]);
  });

  it("[MQTT-212] every member of several shared subscriptions to one topic gets some", async () => {
    const [one, other] = await startPair(nextUrl());
    const groups = ["$share/first/jobs", "$share/second/jobs"];
    const members: Awaited<ReturnType<typeof member>>[] = [];
    for (const group of groups) for (const broker of [one, other]) members.push(await member(broker, `${members.length}`, 1, group));
    const publisher = await connectWire(one, 5);
    for (const job of jobs(20)) await publishAcknowledged(publisher, "jobs", job);
    await expect.poll(() => members.map(({ inbox }) => inbox.messages.length)).toEqual([10, 10, 10, 10]);
  });

  it("[MQTT-212] the same without a member at the publishing broker, and directly after the SUBACK", async () => {
    const url = nextUrl();
    const [one, other, third] = [...(await startPair(url)), await startMember(url)];
    const publisher = await connectWire(third, 5);
    for (const round of jobs(10)) {
      const [left, right] = [await member(one, `left ${round}`, 0), await member(other, `right ${round}`, 0)];
      for (const job of ["1", "2", "3"]) publisher.publish("jobs", job);
      await expect.poll(() => [...left.inbox.payloads, ...right.inbox.payloads].sort()).toEqual(["1", "2", "3"]);
      for (const { client } of [left, right]) {
        client.send({ type: "unsubscribe", packetId: 9, properties: undefined, filters: [filter] });
        await expect.poll(() => client.received.some(({ type }) => type === "unsuback")).toBe(true);
      }
    }
  });

  it("[MQTT-212] a plain subscription at either broker has its own copy", async () => {
    const [one, other] = await startPair(nextUrl());
    const members = [await member(one, "a"), await member(other, "b")];
    const plain = await connectWire(other, 5);
    await plain.subscribe("jobs/#", { qos: 2 });
    const inbox = new Inbox(plain);
    const publisher = await connectWire(one, 5);
    for (const job of jobs(9)) await publishAcknowledged(publisher, "jobs/x", job, { qos: 2 });
    await expect.poll(() => inbox.payloads).toEqual(jobs(9));
    await expect.poll(() => members.flatMap((one) => one.inbox.payloads).sort()).toEqual(jobs(9));
  });

  it("[MQTT-213] connected members are preferred to absent ones, at any broker", async () => {
    const [one, other] = await startPair(nextUrl());
    await leave((await member(one, "away")).client);
    const here = await member(other, "here");
    const publisher = await connectWire(one, 5);
    for (const job of jobs(10)) await publishAcknowledged(publisher, "jobs/x", job);
    await expect.poll(() => here.inbox.payloads).toEqual(jobs(10));
    expect(await one.act("client.read", { clientId: "away" })).toMatchObject({ queued: 0 });
  });

  it("[MQTT-213] with all members away, a message waits once for the first to return, at any broker", async () => {
    const [one, other] = await startPair(nextUrl());
    await leave((await member(one, "a")).client);
    await leave((await member(other, "b")).client);
    const publisher = await connectWire(other, 5);
    for (const job of jobs(10)) await publishAcknowledged(publisher, "jobs/x", job, { qos: 2 });
    const { inbox } = await member(other, "third");
    await expect.poll(() => inbox.payloads.toSorted()).toEqual(jobs(10));
    for (const [broker, clientId] of [
      [one, "a"],
      [other, "b"],
    ] as const) {
      expect(await broker.act("client.read", { clientId })).toMatchObject({ queued: 0, inflight: 0 });
    }
  });

  it("[MQTT-213] messages that a lost member did not acknowledge go to a member at the other broker", async () => {
    const [one, other] = await startPair(nextUrl());
    const silent = await connectWire(one, 5, kept("silent"));
    await silent.subscribe(filter, { qos: 1 });
    const publisher = await connectWire(one, 5);
    for (const job of jobs(5)) await publishAcknowledged(publisher, "jobs/x", job);
    const { inbox } = await member(other, "there");
    silent.destroy();
    await expect.poll(() => inbox.payloads.toSorted()).toEqual(jobs(5));
  });

  it("[MQTT-213] while all members move from broker to broker nothing is lost, and QoS 2 is never duplicated", async () => {
    const [one, other] = await startPair(nextUrl());
    const names = ["a", "b"];
    const receivers = names.map(() => new Receiver());
    for (const name of names) await leave((await member(one, name)).client);
    const publishers = [await connectWire(one, 5), await connectWire(other, 5)];
    let sent = 0;
    let moving = true;
    const load = publishers.map(async (publisher) => {
      while (moving) await publishAcknowledged(publisher, "jobs/x", String(sent++), { qos: 2 });
    });
    for (let move = 0; move < 20; move++) {
      const broker = move % 2 === 0 ? other : one;
      const clients = await Promise.all(names.map((name) => connectWire(broker, 5, kept(name))));
      const taken = clients.map((client, index) => receivers[index]?.take(client));
      const target = sent + 20;
      await expect.poll(() => sent, { interval: 1 }).toBeGreaterThan(target);
      for (const client of clients) client.destroy();
      await Promise.all(taken);
    }
    moving = false;
    await Promise.all(load);
    for (const [index, name] of names.entries()) void receivers[index]?.take(await connectWire(one, 5, kept(name)));
    const all = () => receivers.flatMap(({ received }) => received).sort((left, right) => Number(left) - Number(right));
    await expect.poll(all).toEqual(jobs(sent));
  });

  it("[MQTT-214] messages assigned to a killed broker go to a member elsewhere", async () => {
    const url = nextUrl();
    const dying = await spawnMember(url);
    const living = await startMember(url);
    const silent = await connectWire(dying, 5, kept("silent"));
    await silent.subscribe(filter, { qos: 1 });
    const publisher = await connectWire(living, 5);
    for (const job of jobs(5)) await publishAcknowledged(publisher, "jobs/x", job);
    await dying.kill();
    for (const job of jobs(10).slice(5)) await publishAcknowledged(publisher, "jobs/x", job);
    const { inbox } = await member(living, "there");
    await expect.poll(() => inbox.payloads.toSorted()).toEqual(jobs(10));
  });
});

import { expect, it } from "vitest";
import { FlushScheduler } from "../../servers/mqtt/engine/delivery/flush-scheduler.ts";
import { Output } from "../../servers/mqtt/engine/delivery/output.ts";
import { writePublish } from "../../servers/mqtt/engine/delivery/write-publish.ts";
import { Message } from "../../servers/mqtt/engine/routing/message.ts";
import { createClientFaults } from "../../servers/mqtt/inspector/client-faults.ts";
import { findClients } from "../../servers/mqtt/inspector/client-list.ts";
import { MemoryClient, startEngine } from "./memory-client.ts";
import { owner, Receiver, slowlyWritten } from "./receiver.ts";

/** The same numbers each time. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** PUBLISH of 3.1.1 as the standard has it. */
function expected({ topic, payload }: Message, qos: number, packetId: number): Buffer {
  const name = Buffer.from(topic);
  const body = Buffer.concat([
    Buffer.from([name.length >> 8, name.length & 0xff]),
    name,
    ...(qos > 0 ? [Buffer.from([packetId >> 8, packetId & 0xff])] : []),
    payload,
  ]);
  const length: number[] = [];
  for (let rest = body.length; ; rest >>= 7) {
    length.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    if (rest <= 0x7f) break;
  }
  return Buffer.concat([Buffer.from([0x30 | (qos << 1), ...length]), body]);
}

it.each(["without a store", "with a store"])("every client gets its packets complete and in order, also with shared bytes, %s", (how) => {
  const random = randomFrom(7);
  const sizes = [0, 10, 100, 1_000, 5_000, 20_000, 70_000];
  for (let run = 0; run < 30; run++) {
    let now = 0;
    // Now and then a turn is too short for all outputs.
    const scheduler = new FlushScheduler(() => (now += random(3)));
    if (how === "with a store") scheduler.beforeWrite = () => true;
    const clients = Array.from({ length: 5 }, (_, index) => {
      const receiver = new Receiver(index === 1);
      const output = new Output(receiver, scheduler, 1 << 30, owner);
      const target = { output, v5: false, maximumPacketSize: 0, sentAliases: undefined };
      return { receiver, output, target, wanted: [] as Buffer[], frozen: false };
    });
    for (let tick = 0; tick < 20; tick++) {
      for (let step = random(30); step > 0; step--) {
        const payload = Buffer.alloc(sizes[random(random(4) === 0 ? sizes.length : 4)] ?? 0, random(256));
        const message = new Message({ topic: `topic/${random(1_000)}`, payload, qos: 1, retain: false });
        message.fannedOut = random(5) > 0;
        if (random(20) === 0) scheduler.expectMuch();
        for (const client of clients) {
          const choice = random(10);
          if (choice === 0) {
            const own = Buffer.from([0xd0, 0]);
            client.output.put(own);
            client.wanted.push(own);
          }
          if (choice < 3) continue;
          const qos = choice < 9 ? 0 : 1;
          const packetId = qos * (1 + random(65_535));
          expect(writePublish(client.target, message, qos, false, undefined, packetId, false)).toBe("sent");
          client.wanted.push(expected(message, qos, packetId));
        }
        message.routed();
      }
      const client = clients[2];
      if (client && random(4) === 0) {
        client.frozen = !client.frozen;
        if (client.frozen) client.output.faults.freeze();
        else client.output.faults.thaw();
      }
      scheduler.flush();
      if (random(3) === 0) clients[1]?.receiver.take();
      if (random(3) === 0) scheduler.trim();
    }
    do scheduler.flush();
    while (scheduler.isBehind);
    clients[1]?.receiver.take();
    clients[2]?.output.faults.thaw();
    for (const { receiver, wanted } of clients) expect(Buffer.concat(receiver.received).equals(Buffer.concat(wanted))).toBe(true);
  }
});

it.each([0, 1] as const)(
  "[MQTT-240] what is for many clients is written in slices, complete and in order, whatever is sent meanwhile, QoS %s",
  async (qos) => {
    let now = 0;
    let written = 0;
    const scheduler = new FlushScheduler(() => now);
    const clients = Array.from({ length: 200 }, () =>
      slowlyWritten(scheduler, () => {
        now++;
        written++;
      }),
    );
    const sent: Buffer[] = [];
    function send(payload: Buffer): void {
      const message = new Message({ topic: "t", payload, qos, retain: false });
      message.fannedOut = true;
      if (payload.length > 10_000) scheduler.expectMuch();
      sent.push(expected(message, qos, qos));
      for (const { target } of clients) writePublish(target, message, qos, false, undefined, qos, false);
      message.routed();
    }
    send(Buffer.alloc(100_000, "large"));
    send(Buffer.alloc(50_000, "second"));
    let isResumed = false;
    scheduler.whenWritten(() => {
      isResumed = true;
    });
    expect(written).toBe(0);
    scheduler.flush();
    expect([scheduler.isBehind, isResumed]).toEqual([true, false]);
    send(Buffer.from("small"));
    send(Buffer.alloc(50_000, "third"));
    const other = slowlyWritten(scheduler, () => {});
    other.target.output.put(Buffer.from("for another client"));
    scheduler.flush();
    expect(other.receiver.received).toEqual([Buffer.from("for another client")]);
    const slices: number[] = [];
    while (scheduler.isBehind) {
      const before = written;
      await new Promise((resolve) => setImmediate(resolve));
      slices.push(written - before);
    }
    // Up to seven writes for one output, and three slices in a turn.
    expect(Math.max(...slices)).toBeLessThanOrEqual(33);
    expect(isResumed).toBe(true);
    for (const { receiver } of clients) expect(Buffer.concat(receiver.received).equals(Buffer.concat(sent))).toBe(true);
  },
);

it("[MQTT-240] many small packets for many clients are written in slices too", async () => {
  let now = 0;
  let written = 0;
  const scheduler = new FlushScheduler(() => now);
  const clients = Array.from({ length: 100 }, () =>
    slowlyWritten(scheduler, () => {
      now++;
      written++;
    }),
  );
  for (const { target } of clients) target.output.put(Buffer.from("a"));
  scheduler.flush();
  expect(written).toBe(4);
  for (const { target } of clients.toReversed()) target.output.put(Buffer.from("b"));
  while (scheduler.isBehind) await new Promise((resolve) => setImmediate(resolve));
  for (const { receiver } of clients) expect(Buffer.concat(receiver.received).toString()).toBe("ab");
});

it("a message for many clients is in memory once, however many have not read it yet", () => {
  const scheduler = new FlushScheduler(() => 0);
  const memories = new Set<ArrayBufferLike>();
  class Noting extends Receiver {
    override write(bytes: Buffer): boolean {
      memories.add(bytes.buffer);
      return super.write(bytes);
    }
  }
  for (const payloadBytes of [100, 1 << 20]) {
    const message = new Message({ topic: "t", payload: Buffer.alloc(payloadBytes), qos: 0, retain: false });
    message.fannedOut = true;
    for (let client = 0; client < 100; client++) {
      const output = new Output(new Noting(true), scheduler, 1 << 30, owner);
      writePublish({ output, v5: true, maximumPacketSize: 0, sentAliases: undefined }, message, 0, false, undefined, 0, false);
    }
    scheduler.flush();
    expect(memories.size).toBe(1);
    memories.clear();
  }
});

it("few waiting bytes for a slow client use little memory", () => {
  const scheduler = new FlushScheduler();
  const memories = new Set<ArrayBufferLike>();
  class Noting extends Receiver {
    override write(bytes: Buffer): boolean {
      memories.add(bytes.buffer);
      return super.write(bytes);
    }
  }
  const slow = new Noting(true);
  const targets = [slow, new Receiver(false)].map((receiver) => {
    const output = new Output(receiver, scheduler, 1 << 30, owner);
    return { output, v5: true, maximumPacketSize: 0, sentAliases: undefined };
  });
  for (let tick = 0; tick < 1_000; tick++) {
    const message = new Message({ topic: "t", payload: Buffer.alloc(100), qos: 0, retain: false });
    message.fannedOut = tick % 2 === 0;
    for (const target of targets) writePublish(target, message, 0, false, undefined, 0, false);
    scheduler.flush();
  }
  const held = [...memories].reduce((sum, { byteLength }) => sum + byteLength, 0);
  expect(held).toBeLessThan(slow.pendingBytes * 2 + 65_536);
});

it("output of several ticks is sent in one write, when no more arrives or the time is up", async () => {
  let now = 0;
  const scheduler = new FlushScheduler(() => now);
  const receiver = new Receiver(false);
  const output = new Output(receiver, scheduler, 1 << 30, owner);
  const tick = () => new Promise((resolve) => setImmediate(resolve));
  const put = (text: string) => {
    scheduler.arrivals++;
    output.put(Buffer.from(text));
  };
  put("a");
  await tick();
  put("b");
  await tick();
  expect(receiver.received).toEqual([]);
  await tick();
  expect(receiver.received.map(String)).toEqual(["ab"]);

  put("c");
  await tick();
  now = 1;
  put("d");
  await tick();
  expect(receiver.received.map(String)).toEqual(["ab", "cd"]);

  // Nobody sent anything: the broker's own does not wait.
  output.put(Buffer.from("e"));
  await tick();
  expect(receiver.received.map(String)).toEqual(["ab", "cd", "e"]);
});

it("[MQTT-326] the search for clients by a text takes a step for some of their filters, and finds them", async () => {
  const { engine } = await startEngine();
  const options = { qos: 0, noLocal: false, retainAsPublished: false, retainHandling: 0 } as const;
  const filters = Array.from({ length: 5_000 }, (_, index) => `Filter/${index}`);
  for (const name of ["one", "other"]) {
    const client = new MemoryClient(engine, name);
    client.send({ type: "subscribe", packetId: 1, subscriptions: filters.map((filter) => ({ filter, ...options })) });
  }
  await expect.poll(() => engine.counters.subscriptions).toBe(10_001);
  const find = (text: string) => {
    const search = findClients(engine, createClientFaults(), { text, offset: 0, limit: 10 });
    for (let steps = 0; ; steps++) {
      const { done, value } = search.next();
      if (done) return { steps, found: value.clients.map(({ clientId }) => clientId).sort(), matching: value.matching };
    }
  };
  expect(find("nowhere")).toMatchObject({ found: [], matching: 0 });
  expect(find("nowhere").steps).toBeGreaterThan(70);
  expect(find("filter/4999")).toMatchObject({ found: ["one", "other"], matching: 2 });
  expect(find("OTHER").found).toEqual(["other"]);
});

import { expect, it } from "vitest";
import { FlushScheduler, type TurnLine } from "../../servers/mqtt/engine/delivery/flush-scheduler.ts";
import { Output, type OutputOwner, type Transport } from "../../servers/mqtt/engine/delivery/output.ts";
import { writePublish } from "../../servers/mqtt/engine/delivery/write-publish.ts";
import { Message } from "../../servers/mqtt/engine/routing/message.ts";
import { createClientFaults } from "../../servers/mqtt/inspector/client-faults.ts";
import { findClients } from "../../servers/mqtt/inspector/client-list.ts";
import { MemoryClient, startEngine } from "./memory-client.ts";

/** The same numbers each time. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Whatever fails fails the test. */
const owner: OutputOwner = {
  congestionEnded() {},
  run: (step) => step(),
  fault(error) {
    throw error;
  },
};

/** Takes bytes at once, or as slow systems do: it looks at them only later, and they must still be there. */
class Receiver implements Transport {
  readonly received: Buffer[] = [];
  private readonly slow: boolean;
  private waiting: Buffer[] = [];

  constructor(slow: boolean) {
    this.slow = slow;
  }

  get pendingBytes(): number {
    return this.waiting.reduce((sum, { length }) => sum + length, 0);
  }

  write(bytes: Buffer): boolean {
    if (this.slow) this.waiting.push(bytes);
    else this.received.push(Buffer.from(bytes));
    return !this.slow;
  }

  take(): void {
    this.received.push(...this.waiting.map((bytes) => Buffer.from(bytes)));
    this.waiting = [];
  }

  end(): void {}
  destroy(): void {}
  pause(): void {}
  resume(): void {}
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

/** A client whose writes take a millisecond each. */
function slowlyWritten(scheduler: FlushScheduler, onWrite: () => void) {
  class Counted extends Receiver {
    override write(bytes: Buffer): boolean {
      onWrite();
      return super.write(bytes);
    }
  }
  const receiver = new Counted(false);
  const output = new Output(receiver, scheduler, 1 << 30, owner);
  return { receiver, target: { output, v5: false, maximumPacketSize: 0, sentAliases: undefined } };
}

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

it("[MQTT-440] an answer for a client that asks for little is written before what is for others, however many there are", () => {
  let now = 0;
  const scheduler = new FlushScheduler(() => now);
  const others = Array.from({ length: 100 }, () => slowlyWritten(scheduler, () => now++));
  const [calm, large] = [slowlyWritten(scheduler, () => now++), slowlyWritten(scheduler, () => now++)];
  for (const { target } of others) target.output.put(Buffer.from("a"));
  scheduler.flush();
  for (const { target } of [calm, large]) target.output.answers(true);
  calm.target.output.put(Buffer.from("answer"));
  large.target.output.put(Buffer.alloc(20_000));
  scheduler.flush();
  expect([calm, large].map(({ receiver }) => receiver.received.length)).toEqual([1, 1]);
  expect(others.filter(({ receiver }) => receiver.received.length > 0).length).toBeLessThan(20);
  // Only the answers are so.
  calm.target.output.put(Buffer.from("message"));
  for (const { target } of others) target.output.put(Buffer.from("b"));
  scheduler.flush();
  expect(calm.receiver.received).toHaveLength(2);
});

it("[MQTT-440] those that wait take turns by their addresses, and those that ask for little go on while there is much to write", async () => {
  let now = 0;
  const scheduler = new FlushScheduler(() => now);
  const outputs = Array.from({ length: 30 }, () => slowlyWritten(scheduler, () => now++));
  for (const { target } of outputs) target.output.put(Buffer.from("a"));
  const resumed: string[] = [];
  const wait = (name: string, line: TurnLine, address: string) => scheduler.whenWritten(() => void resumed.push(name), line, address);
  for (const name of ["a1", "a2", "a3"]) wait(name, "usual", "a");
  wait("b1", "usual", "b");
  wait("m1", "much", "c");
  wait("c1", "calm", "a");
  scheduler.flush();
  expect([scheduler.isBehind, scheduler.isCrowded]).toEqual([true, true]);
  expect(resumed).toEqual(["c1"]);
  while (resumed.length < 6) await new Promise((resolve) => setImmediate(resolve));
  expect(resumed).toEqual(["c1", "a1", "b1", "a2", "a3", "m1"]);
  expect([scheduler.isBehind, scheduler.isCrowded]).toEqual([false, false]);
});

it("[MQTT-443] CONNECTs come before what others wait for, for some of each turn, also while there is much to write", async () => {
  let now = 0;
  const scheduler = new FlushScheduler(() => now);
  const outputs = Array.from({ length: 30 }, () => slowlyWritten(scheduler, () => now++));
  for (const { target } of outputs) target.output.put(Buffer.from("a"));
  const resumed: string[] = [];
  const takesTime = (name: string) => () => {
    now++;
    resumed.push(name);
  };
  for (let count = 0; count < 5; count++) scheduler.whenWritten(takesTime("fresh"), "fresh", "a");
  for (let count = 0; count < 3; count++) scheduler.whenWritten(takesTime("usual"), "usual", "b");
  scheduler.flush();
  expect([scheduler.isBehind, resumed.length]).toEqual([true, 2]);
  while (resumed.length < 8) await new Promise((resolve) => setImmediate(resolve));
  expect(resumed).toEqual([...Array(5).fill("fresh"), ...Array(3).fill("usual")]);
});

it("[MQTT-551] after a connection was accepted clients have little time in a turn, and then connections are accepted for as long as it took", async () => {
  let now = 0;
  const scheduler = new FlushScheduler(() => now);
  const outputs = Array.from({ length: 40 }, () => slowlyWritten(scheduler, () => now++));
  const tick = () => new Promise((resolve) => setImmediate(resolve));
  const written = () => outputs.filter(({ receiver }) => receiver.received.length > 0).length;
  /** What is done in each of so many turns, in each of which a connection is accepted. */
  const turnsOf = async (count: number) => {
    const done: number[] = [];
    for (let turn = 0; turn < count; turn++) {
      const before = written();
      scheduler.accepted();
      await tick();
      now += 0.5;
      done.push(written() - before);
    }
    return done;
  };
  for (const { target } of outputs) target.output.put(Buffer.from("a"));
  await tick();
  expect(written()).toBe(4);
  expect(scheduler.isBehind).toBe(true);
  // A millisecond of writing in a turn, and three turns of half a millisecond in which nothing is written.
  expect(await turnsOf(8)).toEqual([1, 0, 0, 0, 1, 0, 0, 0]);
  while (scheduler.isBehind) await tick();
  expect(written()).toBe(40);
});

it("[MQTT-551] what is written at the end of the service is written at once, also after a connection was accepted", async () => {
  let now = 0;
  const scheduler = new FlushScheduler(() => now);
  const { receiver, target } = slowlyWritten(scheduler, () => now++);
  scheduler.accepted();
  await new Promise((resolve) => setImmediate(resolve));
  scheduler.accepted();
  target.output.put(Buffer.from("a"));
  scheduler.flush();
  expect(receiver.received).toHaveLength(1);
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

it("[MQTT-326] work for the page goes on in later turns when clients have had their time, and an error in it is the answer", async () => {
  let now = 0;
  const scheduler = new FlushScheduler(() => now++);
  const turns: number[] = [];
  function* work() {
    for (let step = 0; step < 100; step++) {
      turns.push(scheduler.turns);
      yield;
    }
    return "done";
  }
  expect(await scheduler.inTurns(work())).toBe("done");
  expect(new Set(turns).size).toBeGreaterThan(3);
  function* fails() {
    yield;
    throw new RangeError("boom");
  }
  await expect(scheduler.inTurns(fails())).rejects.toThrow("boom");
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

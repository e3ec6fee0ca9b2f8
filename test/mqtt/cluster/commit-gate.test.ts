import { expect, it } from "vitest";
import { CommitGate } from "../../../servers/mqtt/cluster/commit-gate.ts";
import type { Transport } from "../../../servers/mqtt/engine/delivery/output.ts";

/** A clock by which each write takes a millisecond. */
function openGate() {
  let now = 0;
  const written: string[] = [];
  const ended: string[] = [];
  const gate = new CommitGate(() => now);
  const open = (name: string, { fails = false, key = "10.0.0.1" } = {}): Transport => {
    const transport: Transport = {
      pendingBytes: 0,
      arrivingBytes: name.length,
      write(bytes) {
        now++;
        if (fails) throw new Error("no");
        written.push(`${name} ${bytes}`);
        return true;
      },
      end: () => ended.push(name),
      destroy: () => ended.push(`${name} destroyed`),
      pause() {},
      resume() {},
    };
    const run = (step: () => void) => {
      try {
        step();
      } catch {
        ended.push(`${name} failed`);
      }
    };
    return gate.wrap(transport, { key, drained() {}, run });
  };
  return { gate, written, ended, open };
}
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

it("[MQTT-471] what a commit has held up for thousands is written over several turns, and answers for clients that ask for little do not wait for it", async () => {
  const { gate, written, open } = openGate();
  const commit = gate.begin();
  const many = Array.from({ length: 100 }, (_, index) => open(`${index}`));
  for (const transport of many) transport.write(Buffer.from("x"));
  const asking = open("asking");
  asking.write(Buffer.from("pong"), true);
  gate.end(commit);
  expect(written.length).toBeLessThan(20);
  expect(written).toContain("asking pong");
  // Behind what it waits for, and in one write with it.
  many[99]?.write(Buffer.from("y"));
  await expect.poll(() => written.length).toBe(101);
  expect(written.filter((text) => !text.startsWith("asking"))).toEqual(many.map((_, index) => `${index} ${index === 99 ? "xy" : "x"}`));
  many[0]?.write(Buffer.from("z"));
  expect(written.at(-1)).toBe("0 z");
});

it("[MQTT-471] bytes for one client stay in order, whatever each part waits for", async () => {
  const { gate, written, open } = openGate();
  const one = gate.begin();
  const client = open("a");
  const others = Array.from({ length: 30 }, (_, index) => open(`${index}`));
  for (const transport of others) transport.write(Buffer.from("x"), true);
  client.write(Buffer.from("1"), true);
  const two = gate.begin();
  client.write(Buffer.from("2"));
  client.write(Buffer.from("3"), true);
  gate.end(one);
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  const ofClient = () => written.filter((text) => text.startsWith("a "));
  expect(ofClient()).toEqual(["a 1"]);
  gate.end(two);
  await expect.poll(ofClient).toEqual(["a 1", "a 23"]);
});

it("[MQTT-540] clients of other addresses do not wait for what many of one address are sent, which is written together for each", async () => {
  const { gate, written, open } = openGate();
  const many = Array.from({ length: 1_000 }, (_, index) => open(`${index}`));
  for (let round = 0; round < 20; round++) {
    gate.begin();
    for (const transport of many) transport.write(Buffer.from(`${round},`));
  }
  const other = open("other", { key: "10.0.0.2" });
  other.write(Buffer.from("ack"));
  gate.open();
  await expect.poll(() => many.every(({ pendingBytes }) => pendingBytes === 0)).toBe(true);
  // Its address comes second, behind all of the first client.
  expect(written.findIndex((text) => !text.startsWith("0 "))).toBe(written.indexOf("other ack"));
  const ofFirst = written.filter((text) => text.startsWith("0 "));
  expect(ofFirst.map((text) => text.slice(2)).join("")).toBe(Array.from({ length: 20 }, (_, round) => `${round},`).join(""));
});

it("[MQTT-471] a client that is gone, or fails, holds up nobody, and at the stop all is written at once", async () => {
  const { gate, written, ended, open } = openGate();
  const first = gate.begin();
  const [gone, failing, leaving] = [open("gone"), open("failing", { fails: true }), open("leaving")];
  for (const transport of [gone, failing, leaving]) transport.write(Buffer.from("x"));
  expect([gone.pendingBytes, gone.arrivingBytes]).toEqual([1, 4]);
  gone.destroy();
  leaving.end();
  gate.end(first);
  await expect.poll(() => written).toEqual(["leaving x"]);
  expect(ended).toEqual(["gone destroyed", "failing destroyed", "failing failed", "leaving"]);
  gate.begin();
  const many = Array.from({ length: 50 }, (_, index) => open(`${index}`));
  for (const transport of many) transport.write(Buffer.from("x"));
  gate.close();
  expect(written.length).toBe(51);
  gate.begin();
  many[0]?.write(Buffer.from("refused"));
  gate.discard();
  gate.open();
  expect([written.length, many[0]?.pendingBytes]).toEqual([51, 0]);
});

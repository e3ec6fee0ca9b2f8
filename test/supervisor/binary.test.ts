import { describe, expect, it, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import type { BinaryItem } from "../../contract/binary.ts";
import { type BinaryFrame, controlProtocol, type DownFrame, linkFragment, tokenProtocol, type UpFrame } from "../../contract/wire.ts";
import { createBinarySubscriptions } from "../../renderer/src/control/binary-subscriptions.ts";
import { decodeBinaryFrame } from "../../renderer/src/control/websocket-transport.ts";
import { startControlServer } from "../../servers/control-server.ts";
import { createCreditGate } from "../../servers/core/streams/credit-gate.ts";
import type { Supervisor } from "../../servers/supervisor/supervisor.ts";
import { createEventLog } from "../support/event-log.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { streamFixtures } from "./fixture-streams.ts";
import { supervise } from "./supervise.ts";

const startStreams = async () => {
  const supervised = await supervise({ services: streamFixtures });
  await supervised.supervisor.start("rtsp");
  const publish = async (params: Record<string, unknown>) =>
    (await supervised.dashboard.call("service.action", { id: "rtsp", action: "publish", params })) as {
      wanted: boolean;
      changes: [string, number][];
    };
  return { ...supervised, publish };
};

/** A page's end of the control WebSocket, with the page's own client of binary topics. */
async function openPage(supervisor: Supervisor) {
  const server = await startControlServer({
    port: 0,
    dashboardDir: temporaryDir(),
    secret: "the secret",
    attach: supervisor.attach,
    claimExport: supervisor.claimExport,
  });
  onTestFinished(() => server.close());
  const { origin, host, hash } = new URL(server.url);
  const socket = new WebSocket(`ws://${host}/control`, [controlProtocol, tokenProtocol(hash.slice(linkFragment.length))], { origin });
  onTestFinished(() => socket.terminate());
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const post = (frame: UpFrame) => socket.send(JSON.stringify(frame));
  const binary = createBinarySubscriptions({ post, isOpen: () => true });
  const text: string[] = [];
  socket.on("message", (data: Buffer, isBinary) => {
    if (!isBinary) text.push(data.toString());
    const frame = isBinary ? decodeBinaryFrame(new Uint8Array(data).buffer) : (JSON.parse(data.toString()) as DownFrame);
    if (frame.type === "binary" || frame.type === "binaryDropped" || frame.type === "binaryRefused") binary.receive(frame);
  });
  return { socket, binary, text };
}

/** What a page got of a source, and how many it was told that it did not get. */
function collect() {
  const items = createEventLog<BinaryItem<{ n: number }>>();
  const counts = { dropped: 0 };
  return {
    items,
    counts,
    all: () => items.items.length + counts.dropped,
    ns: () => items.items.map(({ header }) => header.n),
    listener: {
      item: (item: never) => items.add(item),
      dropped: (count: number) => {
        counts.dropped += count;
      },
    },
  };
}

describe("binary items", () => {
  it("[BL-140] go from the service's process to the page as bytes, with their header, over a WebSocket", async () => {
    const { supervisor, publish } = await startStreams();
    const { binary, text } = await openPage(supervisor);
    const got = collect();
    binary.open({ service: "rtsp", topic: "samples", source: "/cam1" }, got.listener);
    await expect.poll(async () => (await publish({ topic: "samples", source: "/cam1", items: 0, bytes: 0 })).wanted).toBe(true);
    // Of a buffer that is larger: only the part goes.
    await publish({ topic: "samples", source: "/cam1", items: 3, bytes: 2_000, from: 5_000 });
    await expect.poll(() => got.items.items.length).toBe(3);
    expect(got.ns()).toEqual([1, 2, 3]);
    expect(got.items.items[0]).toEqual({ header: { n: 1 }, payload: new Uint8Array(2_000).fill(1), isKey: true });
    expect(text).toEqual([]);
  });

  it("[BL-141] leave the process only while a page requests their source, also after a restart of the service", async () => {
    const { supervisor, dashboard, publish } = await startStreams();
    const { binary } = await openPage(supervisor);
    expect((await publish({ topic: "samples", source: "a", items: 1_000, bytes: 1_000 })).wanted).toBe(false);
    const got = collect();
    const close = binary.open({ service: "rtsp", topic: "samples", source: "a" }, got.listener);
    await expect.poll(async () => (await publish({ topic: "samples", source: "b", items: 5, bytes: 10 })).changes).toEqual([["a", 1]]);
    await dashboard.call("service.restart", { id: "rtsp" });
    await expect.poll(async () => (await publish({ topic: "samples", source: "a", items: 0, bytes: 0 })).wanted).toBe(true);
    await publish({ topic: "samples", source: "a", items: 1, bytes: 10 });
    await expect.poll(() => got.ns()).toEqual([1]);
    close();
    await expect.poll(async () => (await publish({ topic: "samples", source: "a", items: 1, bytes: 10 })).wanted).toBe(false);
    expect(got.ns()).toEqual([1]);
  });

  it("[BL-142] that a page does not acknowledge are dropped and counted, and not queued: delivered + dropped = all", async () => {
    const { dashboard, publish } = await startStreams();
    dashboard.send({ type: "binarySubscribe", subscription: 1, service: "rtsp", topic: "samples", source: "a" });
    await expect.poll(async () => (await publish({ topic: "samples", source: "a", items: 0, bytes: 0 })).wanted).toBe(true);
    const frames = () => dashboard.frames.items.filter((frame): frame is BinaryFrame => frame.type === "binary");
    const counted = () =>
      dashboard.frames.items.reduce(
        (sum, frame) => sum + (frame.type === "binary" || frame.type === "binaryDropped" ? frame.dropped : 0),
        0,
      );
    const before = process.memoryUsage().arrayBuffers;
    // 200 MB for a page that does not read: at most ten items, or 100,000 bytes, are on their way.
    for (let round = 0; round < 20; round++) await publish({ topic: "samples", source: "a", items: 500, bytes: 20_000 });
    await expect.poll(() => frames().length).toBe(5);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000);
    dashboard.send({ type: "binaryAck", subscription: 1, seq: 5 });
    await expect.poll(() => frames().length + counted()).toBe(10_000);
    // An acknowledgement of what was never sent opens nothing.
    dashboard.send({ type: "binaryAck", subscription: 1, seq: 1_000_000 });
    await publish({ topic: "samples", source: "a", items: 50, bytes: 20_000 });
    await expect.poll(() => frames().length).toBe(10);
    dashboard.send({ type: "binaryAck", subscription: 1, seq: 10 });
    await expect.poll(() => frames().length + counted()).toBe(10_050);
    // One that is larger than the window goes alone.
    await publish({ topic: "samples", source: "a", items: 2, bytes: 300_000 });
    await expect.poll(() => frames().at(-1)?.payload.length).toBe(300_000);
  });

  it("[BL-143] begin with a key item and continue with one after a gap, if a decoder needs it", async () => {
    const { supervisor, publish } = await startStreams();
    const { binary } = await openPage(supervisor);
    const got = collect();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { item, dropped } = got.listener;
    binary.open(
      { service: "rtsp", topic: "picture", source: "a" },
      {
        dropped,
        // Takes nothing until it is released.
        item: (given) => {
          item(given as never);
          return held;
        },
      },
    );
    await expect.poll(async () => (await publish({ topic: "picture", source: "a", items: 0, bytes: 0 })).wanted).toBe(true);
    // Key items are 4, 8, 12 and so on; ten items are the window.
    await publish({ topic: "picture", source: "a", items: 30, bytes: 10, keyEvery: 4 });
    await expect.poll(() => got.ns()).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
    release();
    await expect.poll(() => got.all()).toBe(30);
    await publish({ topic: "picture", source: "a", items: 9, bytes: 10, keyEvery: 4 });
    await expect.poll(() => got.ns().slice(10)).toEqual([4, 5, 6, 7, 8, 9]);
    expect(got.all()).toBe(39);
  });

  it("[BL-140] of an unknown topic, or of too many, are refused", async () => {
    const { dashboard } = await startStreams();
    dashboard.send({ type: "binarySubscribe", subscription: 0, service: "rtsp", topic: "smell", source: "" });
    dashboard.send({ type: "binarySubscribe", subscription: 1, service: "http", topic: "samples", source: "" });
    for (let n = 2; n < 67; n++)
      dashboard.send({ type: "binarySubscribe", subscription: n, service: "rtsp", topic: "samples", source: `${n}` });
    const refused = dashboard.frames.items.flatMap((frame) =>
      frame.type === "binaryRefused" ? [[frame.subscription, frame.failure.code]] : [],
    );
    expect(refused).toEqual([
      [0, "CALL_UNKNOWN"],
      [1, "CALL_UNKNOWN"],
      [66, "CALL_INVALID"],
    ]);
  });

  it("[BL-142] a gate's counts are complete for any sequence of operations", () => {
    const random = seededRandom(7);
    for (const resume of ["any", "key"] as const) {
      const gate = createCreditGate({ windowBytes: 100, windowItems: 5, resume });
      let [passed, dropped, all, lastSeq, gap] = [0, 0, 0, 0, true];
      for (let step = 0; step < 20_000; step++) {
        const chance = random.below(100);
        if (chance < 60) {
          all++;
          const isKey = random.chance(0.2);
          const admission = gate.admit(random.below(60), isKey);
          if (admission) {
            if (resume === "key" && (gap || admission.dropped > 0)) expect(isKey).toBe(true);
            gap = false;
            passed++;
            dropped += admission.dropped;
            expect(admission.seq).toBe(++lastSeq);
          }
        } else if (chance < 65) {
          all += 3;
          gate.addDropped(3);
        } else {
          gate.ack(lastSeq - random.below(3));
          const taken = gate.takeDropped();
          dropped += taken;
          if (taken > 0) gap = true;
        }
      }
      gate.ack(lastSeq);
      dropped += gate.takeDropped();
      expect(passed + dropped).toBe(all);
      expect(passed).toBeGreaterThan(500);
    }
  });
});

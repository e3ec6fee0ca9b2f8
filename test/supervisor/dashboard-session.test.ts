import { describe, expect, it } from "vitest";
import type { TrafficRow } from "../../contract/traffic/row.ts";
import { ServiceError } from "../../servers/core/service/service-error.ts";
import { createBinaryHub } from "../../servers/supervisor/binary-hub.ts";
import { type CallHandler, serveDashboard } from "../../servers/supervisor/dashboard-session.ts";
import { createTopicHub } from "../../servers/supervisor/topic-hub.ts";
import { createTurns } from "../../servers/supervisor/traffic/turns.ts";
import { createTestDashboard } from "./dashboard.ts";

const binary = createBinaryHub({ services: [], post: () => {} });
function open(call: CallHandler = async () => null, hub = createTopicHub()) {
  return {
    hub,
    dashboard: createTestDashboard((port, reject) => serveDashboard({ port, hub, binary, turns: createTurns(), call, reject })),
  };
}
const row = (id: number) => ({ id }) as TrafficRow;

describe("dashboard session", () => {
  it("[BL-54] answers calls by their id, whatever order they end in", async () => {
    const ends: (() => void)[] = [];
    const { dashboard } = open((name) => new Promise((resolve) => ends.push(() => resolve({ name }))));
    for (const id of [1, 2]) dashboard.send({ type: "call", id, name: `call ${id}`, params: {} });
    await expect.poll(() => ends.length).toBe(2);
    ends[1]?.();
    await dashboard.frames.next();
    ends[0]?.();
    await dashboard.frames.until((frame) => frame.type === "result" && frame.id === 1);
    expect(dashboard.frames.items).toEqual([
      { type: "result", id: 2, value: { name: "call 2" } },
      { type: "result", id: 1, value: { name: "call 1" } },
    ]);
  });

  it("[BL-54] answers an internal error with a failure, and continues", async () => {
    const { dashboard } = open(async (name) => {
      if (name === "known") throw new ServiceError("CALL_INVALID", "no", "try yes");
      throw new TypeError("surprise");
    });
    expect(await dashboard.refusal("known", {})).toEqual({ code: "CALL_INVALID", message: "no", hint: "try yes" });
    expect(await dashboard.refusal("other", {})).toMatchObject({ code: "INTERNAL", message: "surprise" });
  });

  it.each([
    undefined,
    null,
    7,
    "call",
    [[]],
    {},
    { type: "dance" },
    { type: "call", id: -1, name: "x", params: {} },
    { type: "call", id: 1, name: "x".repeat(101), params: {} },
    { type: "ack", topic: "log", seq: 1.5 },
    { type: "subscribe", topic: "log", more: true },
  ])("[BL-54] rejects %j, which is not a frame", (frame) => {
    const { dashboard } = open();
    dashboard.send(frame);
    expect(dashboard.rejected()).toBe(1);
    expect(dashboard.frames.items).toEqual([]);
  });

  it("[BL-321] refuses a call whose parameters have more than 200 levels, however many they have", async () => {
    const { dashboard } = open(async () => "done");
    const nested = (levels: number) => JSON.parse(`${'{"a":['.repeat(levels / 2)}1${"]}".repeat(levels / 2)}`) as object;
    for (const levels of [202, 20_000, 200_000]) {
      expect(await dashboard.refusal("service.action", nested(levels))).toEqual({
        code: "CALL_INVALID",
        message: "The parameters of service.action have more than 200 levels",
        hint: "Send fewer levels.",
      });
    }
    expect(await dashboard.call("service.action" as never, nested(200) as never)).toBe("done");
  });

  it("[BL-54] an unknown topic is ignored, also one named like an inherited property", () => {
    const { dashboard } = open();
    for (const topic of ["nothing", "constructor", "__proto__"]) {
      for (const type of ["subscribe", "unsubscribe"]) dashboard.send({ type, topic });
      dashboard.send({ type: "ack", topic, seq: 1 });
    }
    expect([dashboard.rejected(), dashboard.frames.items]).toEqual([0, []]);
  });

  it("[BL-55] refuses more than 256 calls at once, until some have ended", async () => {
    const ends: (() => void)[] = [];
    const { dashboard } = open(() => new Promise((resolve) => ends.push(() => resolve("done"))));
    for (let id = 1_001; id <= 1_256; id++) dashboard.send({ type: "call", id, name: "slow", params: {} });
    expect(await dashboard.refusal("slow", {})).toMatchObject({ code: "CALL_INVALID", message: "Too many calls are in progress" });
    await expect.poll(() => ends.length).toBe(256);
    for (const end of ends) end();
    await dashboard.frames.until((frame) => frame.type === "result" && frame.id === 1_256);
    dashboard.send({ type: "call", id: 2_000, name: "slow", params: {} });
    await expect.poll(() => ends.length).toBe(257);
    ends.at(-1)?.();
    await dashboard.frames.until((frame) => frame.type === "result" && frame.id === 2_000);
  });

  it("[BL-127] many calls of one dashboard do not delay another's", async () => {
    const turns = createTurns();
    const answered: string[] = [];
    const call = async (name: string) => {
      for (const until = performance.now() + 1; performance.now() < until; );
      answered.push(name);
    };
    const attach = () =>
      createTestDashboard((port, reject) => serveDashboard({ port, hub: createTopicHub(), binary, turns, call, reject }));
    const [busy, other] = [attach(), attach()];
    for (let id = 1; id <= 250; id++) busy.send({ type: "call", id, name: "busy", params: {} });
    await other.call("app.info", {});
    expect(answered.indexOf("app.info")).toBeLessThan(20);
    await busy.frames.until((frame) => frame.type === "result" && frame.id === 250);
  });

  it("[BL-56] two dashboards get the same, each at its own pace", async () => {
    const hub = createTopicHub();
    const [quick, slow] = [open(undefined, hub).dashboard, open(undefined, hub).dashboard];
    const rows = quick.follow("traffic/http");
    slow.subscribe("traffic/http");
    for (let id = 1; id <= 5; id++) {
      hub.publish("traffic/http", row(id));
      await rows.until((item) => item.id === id);
    }
    expect(rows.items.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5]);
    expect(slow.batches("traffic/http")).toHaveLength(2);
    slow.send({ type: "ack", topic: "traffic/http", seq: 2 });
    await slow.frames.until((frame) => frame.type === "batch" && frame.seq === 3);
    const told = slow.batches("traffic/http");
    expect(told.flatMap(({ items }) => items)).toEqual(rows.items);
    expect(told.map(({ dropped }) => dropped)).toEqual([0, 0, 0]);
    quick.close();
    slow.close();
  });

  it("sends nothing after it was closed, and subscribing twice sends nothing twice", async () => {
    const { hub, dashboard } = open();
    const rows = dashboard.follow("traffic/http");
    dashboard.subscribe("traffic/http");
    hub.publish("traffic/http", row(1));
    await rows.until(({ id }) => id === 1);
    dashboard.send({ type: "unsubscribe", topic: "traffic/http" });
    hub.publish("traffic/http", row(2));
    dashboard.subscribe("traffic/http");
    hub.publish("traffic/http", row(3));
    dashboard.close();
    dashboard.subscribe("traffic/http");
    hub.publish("traffic/http", row(4));
    expect(rows.items.map(({ id }) => id)).toEqual([1]);
  });
});

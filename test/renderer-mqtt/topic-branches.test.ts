import { describe, expect, it } from "vitest";
import type { MqttTopicNode } from "../../contract/services/mqtt.ts";
import { createTopicBranches, firstWithMessage, type TopicQuery } from "../../renderer/src/services/mqtt/tree/topic-branches.ts";

const settled = () => new Promise((resolve) => setTimeout(resolve, 0));
const node = (topic: string, hasChildren = false, count = 1): MqttTopicNode => ({
  name: topic.split("/").at(-1) ?? "",
  topic,
  count,
  hasChildren,
  retained: false,
});

/** A broker with these children by topic; the top is under "". */
function setUp(children: Record<string, readonly MqttTopicNode[]>, most = Number.POSITIVE_INFINITY) {
  const asked: TopicQuery[] = [];
  const branches = createTopicBranches({
    read: async (query) => {
      asked.push(query);
      const all = query.filter === undefined ? (children[query.topic ?? "top"] ?? []) : Object.values(children).flat();
      return { nodes: all.slice(query.offset, query.offset + Math.min(most, query.limit)), matching: all.length };
    },
  });
  const rows = () =>
    Array.from({ length: branches.view().count }, (_, index) => {
      const row = branches.view().rowAt(index);
      return row ? `${"  ".repeat(row.depth)}${row.node.name}` : "?";
    });
  return { branches, asked, rows };
}

const house = {
  top: [node("$SYS", true), node("a", true), node("b")],
  a: [node("a/x", true), node("a/y")],
  "a/x": [node("a/x/1")],
  $SYS: [node("$SYS/up")],
};

describe("the topic tree", () => {
  it("is expanded as far as it fits on a screen, except the broker's own topics", async () => {
    const { branches, rows } = setUp(house);
    branches.reset();
    await settled();
    expect(rows()).toEqual(["$SYS", "a", "  x", "    1", "  y", "b"]);
  });

  it("notifies once per refresh, and keeps the rows that did not change", async () => {
    const { branches } = setUp(house);
    branches.reset();
    await settled();
    const before = branches.view().rowAt(2)?.node;
    let told = 0;
    branches.subscribe(() => told++);
    await branches.refresh();
    expect([told, branches.view().rowAt(2)?.node === before, before?.topic]).toEqual([1, true, "a/x"]);
    expect([branches.nodeOf("a/y")?.topic, branches.nodeOf("a/z")]).toEqual(["a/y", undefined]);
  });

  it("lists only topics with a retained message on request", async () => {
    const { branches, asked, rows } = setUp(house);
    branches.reset();
    await settled();
    branches.setRetained(true);
    await settled();
    expect(asked.at(-1)).toEqual({ filter: "#", retained: true, offset: 0, limit: 100 });
    expect([branches.view().retained, rows().every((row) => !row.startsWith(" "))]).toEqual([true, true]);
    branches.setRetained(false);
    await settled();
    expect(rows()).toEqual(["$SYS", "a", "  x", "    1", "  y", "b"]);
  });

  it("collapses and expands, and finds its rows", async () => {
    const { branches, rows } = setUp(house);
    branches.reset();
    await settled();
    branches.toggle("a");
    expect(rows()).toEqual(["$SYS", "a", "b"]);
    branches.toggle("$SYS");
    await settled();
    expect(rows()).toEqual(["$SYS", "  up", "a", "b"]);
    expect([branches.indexOf("b"), branches.indexOf("a/x")]).toEqual([3, -1]);
  });

  it("of a branch with 100,000 topics reads only the pages in view", async () => {
    const many = Array.from({ length: 100_000 }, (_, index) => node(`d${index}`));
    const { branches, asked } = setUp({ top: many });
    branches.reset();
    await settled();
    expect([branches.view().count, asked.length]).toEqual([100_000, 1]);
    branches.look(70_990, 71_010);
    await settled();
    expect(asked.slice(1).map(({ offset }) => offset)).toEqual([70_900, 71_000]);
    expect(branches.view().rowAt(71_001)?.node.topic).toBe("d71001");
    expect(branches.view().rowAt(50_000)).toBeUndefined();
    asked.length = 0;
    await branches.refresh();
    expect(asked.map(({ offset }) => offset)).toEqual([70_900, 71_000]);
  });

  it("[MQTT-504] reads on behind a page that long topics have ended early, as far as it is in view", async () => {
    const { branches, asked, rows } = setUp({ top: Array.from({ length: 250 }, (_, index) => node(`d${index}`)) }, 7);
    branches.reset();
    await settled();
    expect(rows().slice(0, 41)).toEqual(Array.from({ length: 41 }, (_, index) => `d${index}`));
    expect(asked.map(({ offset, limit }) => [offset, limit])).toEqual([0, 7, 14, 21, 28, 35].map((offset) => [offset, 100 - offset]));
    asked.length = 0;
    branches.look(50, 60);
    await settled();
    expect(asked.map(({ offset }) => offset)).toEqual([50, 57]);
    branches.look(96, 103);
    await settled();
    expect(rows().slice(96, 104)).toEqual(Array.from({ length: 8 }, (_, index) => `d${96 + index}`));
    branches.setFilter("d");
    await settled();
    expect(rows().slice(96, 104)).toEqual(Array.from({ length: 8 }, (_, index) => `d${96 + index}`));
  });

  it("shows the matches of a filter as a list, and then the tree again", async () => {
    const { branches, rows } = setUp(house);
    branches.reset();
    await settled();
    branches.setFilter("a/#");
    await settled();
    expect(rows()).toHaveLength(7);
    expect(branches.view()).toMatchObject({ filter: "a/#", matching: 7 });
    branches.setFilter("");
    await settled();
    expect(rows()).toEqual(["$SYS", "a", "  x", "    1", "  y", "b"]);
  });

  it("updates when topics come and go", async () => {
    const changing: Record<string, readonly MqttTopicNode[]> = { top: [node("a"), node("b")] };
    const { branches, rows } = setUp(changing);
    branches.reset();
    await settled();
    changing.top = [node("0"), node("b", false, 5)];
    await branches.refresh();
    expect(rows()).toEqual(["0", "b"]);
    expect(branches.view().rowAt(1)?.node.count).toBe(5);
  });
});

describe("the topic that is selected at first", () => {
  const row = (topic: string, hasMessage = false) => ({
    node: {
      name: topic,
      topic,
      count: 1,
      hasChildren: false,
      retained: false,
      ...(hasMessage && { last: { at: 0, bytes: 0, qos: 0, preview: "" } }),
    },
  });
  const first = (settled: boolean, ...rows: ReturnType<typeof row>[]) =>
    firstWithMessage({ count: rows.length, settled, rowAt: (index) => rows[index] });
  const system = row("$SYS/broker/uptime", true);

  it("is the topmost with a message, but none of the broker's own", () => {
    expect(first(true, system, row("a"), row("a/b", true), row("c", true))).toEqual({ topic: "a/b", below: false });
    expect(first(true, system)).toBeUndefined();
  });

  it("is a branch with all its topics if no topic is in view", () => {
    expect(first(true, system, row("a"), row("a/b"))).toEqual({ topic: "a", below: true });
  });

  it("is waited for while the branches are being read", () => {
    expect(first(false, row("test/topic", true))).toBeUndefined();
  });
});

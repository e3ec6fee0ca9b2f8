import { describe, expect, it } from "vitest";
import type { MqttMessageSummary } from "../../contract/traffic/mqtt.ts";
import { createMessageHistory } from "../../renderer/src/services/mqtt/history/message-history.ts";

const settled = () => new Promise((resolve) => setTimeout(resolve, 0));
const message = (id: number, acknowledged = 0): MqttMessageSummary => ({
  id,
  at: id,
  topic: "t",
  qos: 1,
  retain: false,
  publisher: "",
  bytes: 0,
  start: "",
  matched: 1,
  delivered: 1,
  acknowledged,
  acknowledgeable: 1,
  dropped: 0,
});

/** A broker that keeps these messages, oldest first. */
async function setUp(kept: MqttMessageSummary[]) {
  const history = createMessageHistory({
    read: async ({ before = Number.POSITIVE_INFINITY, limit }) => {
      const older = kept.filter(({ id }) => id < before).toReversed();
      return { messages: older.slice(0, limit), hasOlder: older.length > limit };
    },
    pageRows: 3,
    followRows: 6,
    mostRows: 7,
    nextFrame: (run) => run(),
  });
  await history.setFilter({ filter: "t", text: "", withoutSample: false });
  const ids = () => history.toArray().map(({ id }) => id);
  const publish = async (...more: number[]) => {
    kept.push(...more.map((id) => message(id)));
    await history.refresh();
  };
  return { history, ids, publish, kept };
}
const upTo = (last: number) => Array.from({ length: last }, (_, index) => message(index + 1));

describe("the history of a topic", () => {
  it("shows the newest page, older messages on request, and new ones on top", async () => {
    const { history, ids, publish } = await setUp(upTo(5));
    expect([ids(), history.view().hasOlder]).toEqual([[5, 4, 3], true]);
    await history.loadOlder();
    expect([ids(), history.view().hasOlder]).toEqual([[5, 4, 3, 2, 1], false]);
    await publish(6);
    expect(ids()).toEqual([6, 5, 4, 3, 2, 1]);
    await publish(7);
    expect([ids(), history.view().hasOlder]).toEqual([[7, 6, 5, 4, 3, 2], true]);
  });

  it("[MQTT-275] holds a bounded number of messages, however far one scrolls, and says so", async () => {
    const { history, ids } = await setUp(upTo(12));
    for (let step = 0; step < 5; step++) await history.loadOlder();
    expect([ids(), history.view().isFull]).toEqual([[12, 11, 10, 9, 8, 7, 6], true]);
    await history.refresh();
    expect([ids(), history.view().isFull]).toEqual([[12, 11, 10, 9, 8, 7], false]);
  });

  it("is read again if messages arrived faster than it read", async () => {
    const { history, ids, publish } = await setUp(upTo(3));
    await publish(4, 5, 6, 7, 8);
    expect([ids(), history.view().hasOlder]).toEqual([[8, 7, 6], true]);
  });

  it("is read again if the service was restarted", async () => {
    const { ids, publish, kept } = await setUp(upTo(3));
    kept.length = 0;
    await publish(1);
    expect(ids()).toEqual([1]);
  });

  it("while scrolled, counts what arrives and updates what is shown", async () => {
    const { history, ids, publish, kept } = await setUp(upTo(3));
    history.scrolled(true);
    kept[2] = message(3, 1);
    await publish(4);
    expect([ids(), history.view().arrived, history.rowAt(0)?.acknowledged]).toEqual([[3, 2, 1], 1, 1]);
    history.scrolled(false);
    await settled();
    expect([ids(), history.view().arrived]).toEqual([[4, 3, 2, 1], 0]);
  });

  it("while paused, shows the current history of another topic and stays paused", async () => {
    const { history, ids, publish } = await setUp(upTo(3));
    history.pause();
    await publish(4);
    expect(ids()).toEqual([3, 2, 1]);
    await history.setFilter({ filter: "u", text: "", withoutSample: false });
    expect([ids(), history.view().mode]).toEqual([[4, 3, 2], "paused"]);
    history.resume();
    await settled();
    await publish(5);
    expect(ids()).toEqual([5, 4, 3, 2]);
  });

  it("[MQTT-484] goes on behind a page that is shorter than it asked for", async () => {
    const kept = upTo(5);
    const history = createMessageHistory({
      read: async ({ before = Number.POSITIVE_INFINITY }) => {
        const older = kept.filter(({ id }) => id < before).toReversed();
        return { messages: older.slice(0, 1), hasOlder: older.length > 1 };
      },
      pageRows: 3,
      nextFrame: (run) => run(),
    });
    await history.setFilter({ filter: "t", text: "", withoutSample: false });
    const state = () => [history.toArray().map(({ id }) => id), history.view().hasOlder];
    expect(state()).toEqual([[5], true]);
    await history.loadOlder();
    kept.push(message(6));
    await history.refresh();
    expect(state()).toEqual([[6], true]);
    for (let step = 0; step < 5; step++) await history.loadOlder();
    expect(state()).toEqual([[6, 5, 4, 3, 2, 1], false]);
  });

  it("[MQTT-309] counts the messages of which a part was searched, over the pages that were read", async () => {
    const kept = upTo(9);
    // Of each page two between those that match.
    const history = createMessageHistory({
      read: async ({ text, before = Number.POSITIVE_INFINITY, limit }) => {
        const older = kept.filter(({ id }) => id < before).toReversed();
        return { messages: older.slice(0, limit), hasOlder: older.length > limit, ...(text !== "" && { searchedInPart: 2 }) };
      },
      pageRows: 3,
      nextFrame: (run) => run(),
    });
    const inPart = () => history.view().searchedInPart;
    await history.setFilter({ filter: "t", text: "", withoutSample: false });
    expect(inPart()).toBe(0);
    await history.setFilter({ filter: "t", text: "x", withoutSample: false });
    expect(inPart()).toBe(2);
    await history.loadOlder();
    expect(inPart()).toBe(4);
    await history.refresh();
    expect(inPart()).toBe(4);
    await history.setFilter({ filter: "t", text: "xy", withoutSample: false });
    expect(inPart()).toBe(2);
  });

  it("without a filter reads nothing", async () => {
    const { history, ids } = await setUp(upTo(3));
    await history.setFilter({ filter: "", text: "", withoutSample: false });
    expect([ids(), history.view().loaded]).toEqual([[], false]);
  });
});

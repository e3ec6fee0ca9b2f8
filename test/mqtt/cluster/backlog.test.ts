import { expect, it } from "vitest";
import { Backlog } from "../../../servers/mqtt/cluster/backlog.ts";

it("[MQTT-248] publishers wait until every broker has read so much that there is room, and no longer than Redis is there", async () => {
  let positions = ["0-0", "0-0"];
  let connected = true;
  let sent = 0;
  const backlog = new Backlog({
    sentBytes: () => sent,
    brokers: () => 2,
    isConnected: () => connected,
    positions: () => Promise.resolve(positions),
  });
  const resumed: string[] = [];
  for (let number = 1; number <= 6; number++) backlog.received({ id: number % 2 === 0 ? `${number}-0` : "" }, 500_000);
  expect(backlog.isAbove).toBe(false);
  sent = 1_000_000;
  expect(backlog.isAbove).toBe(true);
  backlog.whenBelow(() => resumed.push("first"));
  positions = ["9-0", "1-0"];
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect([resumed, backlog.isAbove]).toEqual([[], true]);
  positions = ["9-0", "2-0"];
  await expect.poll(() => resumed).toEqual(["first"]);
  expect(backlog.isAbove).toBe(false);
  sent = 4_000_000;
  backlog.whenBelow(() => resumed.push("second"));
  expect(resumed).toEqual(["first"]);
  connected = false;
  backlog.clear();
  expect([resumed, backlog.isAbove]).toEqual([["first", "second"], false]);
});

import { expect, it, onTestFinished, vi } from "vitest";
import { startSysTopics } from "../../servers/mqtt/sys-topics.ts";
import { MemoryClient, startEngine } from "./memory-client.ts";

it("[MQTT-349] the $SYS topics are published over several turns of the event loop where many clients have subscribed to them", async () => {
  const { engine } = await startEngine();
  const client = new MemoryClient(engine, "reader");
  client.subscribe("$SYS/#");
  await expect.poll(() => client.received.length).toBe(2);
  const published = vi.spyOn(engine, "publish");
  const isTurnOver = vi.spyOn(engine.scheduler, "isTurnOver").mockReturnValue(true);
  onTestFinished(startSysTopics(engine, { intervalSeconds: 3_600, version: "test" }));
  expect(published).toHaveBeenCalledTimes(1);
  isTurnOver.mockRestore();
  await expect.poll(() => published.mock.calls.length).toBeGreaterThan(12);
  const topics = published.mock.calls.map(([{ topic }]) => topic);
  expect(topics[0]).toBe("$SYS/broker/version");
  expect(topics).toContain("$SYS/broker/publish/messages/dropped");
  expect(new Set(topics).size).toBe(topics.length);
});

import { expect, it } from "vitest";
import { seededRandom } from "../support/seeded-random.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { versions } from "./harness.ts";
import { KeptPublisher, KeptSubscriber, numbered } from "./kept-client.ts";
import { spawnBroker } from "./spawned-broker.ts";

const rounds = Number(process.env.KILL_ROUNDS ?? 5);
const perRound = 300;

it.each(versions)("[MQTT-143] killed under load, version %s: nothing acknowledged is lost, QoS 2 is never doubled", async (version) => {
  const random = seededRandom(version);
  const dataDir = temporaryDir();
  const publisher = new KeptPublisher("publisher", version);
  const alone = [1, 2, 3].map((number) => new KeptSubscriber(`alone-${number}`, version));
  const members = [1, 2].map((number) => new KeptSubscriber(`member-${number}`, version));
  // Some are larger than what an output gathers at once.
  const next = (id: number) =>
    numbered(`load/${id % 7}`, id, id % 2 === 0 ? 1 : 2, random.chance(0.2) ? random.below(60_000) : random.below(200));
  for (let round = 1; ; round++) {
    const broker = await spawnBroker(dataDir, { persistence: true, logLevel: "error" });
    const running = [
      ...(await Promise.all(alone.map((subscriber) => subscriber.run(broker.port, "load/+")))),
      ...(await Promise.all(members.map((member) => member.run(broker.port, "$share/group/load/+")))),
    ];
    const isLast = round > rounds;
    const published = publisher.run(broker.port, isLast ? publisher.published.length : Number.POSITIVE_INFINITY, 20, next);
    if (isLast) {
      expect(await published).toBe(true);
      const missing = (received: readonly string[]) => publisher.published.filter((one) => !received.includes(one));
      for (const { received } of alone) await expect.poll(() => missing(received)).toEqual([]);
      await expect.poll(() => missing(members.flatMap(({ received }) => received))).toEqual([]);
      for (const { client } of running) client.destroy();
    } else {
      const enough = publisher.acknowledged.length + perRound / 2 + random.below(perRound);
      while (publisher.acknowledged.length < enough) await new Promise((resolve) => setTimeout(resolve, 1));
      broker.child.kill("SIGKILL");
      expect(await published).toBe(false);
    }
    await Promise.all(running.map(({ ended }) => ended));
    if (isLast) break;
  }
  const doubled = (received: readonly string[]) => received.filter((one, index) => one.startsWith("2:") && received.indexOf(one) !== index);
  for (const { received } of alone) expect(doubled(received)).toEqual([]);
  expect(doubled(members.flatMap(({ received }) => received))).toEqual([]);
});

import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import type { PeerFault } from "../../contract/services/webrtc-faults.ts";
import type { LadderAnswer } from "../../contract/services/webrtc-signals.ts";
import { FaultRegistry } from "../../servers/core/faults/fault-registry.ts";
import { SignalFaults } from "../../servers/webrtc/faults/signal-faults.ts";
import { onEnd } from "../support/start-service.ts";
import { until } from "../support/until.ts";
import { itemsOfTurn, workTime } from "../support/work-time.ts";
import { startWebrtc } from "./webrtc-harness.ts";

it("[WEBRTC-561] of thousands whose sender leaves it is told over several turns of the event loop, and at once at the end", async () => {
  const faults = new FaultRegistry<string, PeerFault>();
  onEnd(() => faults.stopAll());
  const { turns, pass } = workTime();
  const signals = new SignalFaults({ faults, mostHeldBytes: 16 << 20, work: turns.connection("") });
  faults.start("ada", { fault: { kind: "delay", delayMs: 60_000, signals: "all" } });
  let lost = 0;
  const lose = () => {
    lost++;
    pass();
  };
  const hold = (count: number) => {
    for (let one = 0; one < count; one++) signals.pass({ from: "ada", to: `${one % 50}`, kind: "offer", bytes: () => 9 }, () => {}, lose);
  };
  hold(2_000);
  signals.forget("ada");
  expect(lost).toBeLessThanOrEqual(itemsOfTurn);
  while (lost < 2_000) await nextTurn();
  hold(1_000);
  signals.forget("ada");
  hold(1_000);
  signals.stop();
  expect(lost).toBe(4_000);
});

it("[WEBRTC-464] how much is held of signals is configured", async () => {
  const service = await startWebrtc({ faultBytes: 1 << 16 });
  const [ada, bob] = [await service.connect(), await service.connect()];
  for (const client of [ada, bob]) await client.join("test");
  await service.act("peer.fault", { peer: bob.id, fault: { kind: "delay", delayMs: 60_000, signals: "all" } });
  const sent = 60;
  for (let number = 0; number < sent; number++) ada.send({ type: "candidate", to: bob.id, candidate: { candidate: `${number}` } });
  const outcomes = await until(async () => {
    const { signals }: LadderAnswer = await service.act("signals.list");
    const candidates = signals.filter(({ kind }) => kind === "candidate");
    return candidates.length === sent && candidates.map(({ outcome }) => outcome);
  });
  expect(new Set(outcomes)).toEqual(new Set(["delayed", "dropped by a fault"]));
  const delayed = outcomes.filter((outcome) => outcome === "delayed").length;
  await service.act("peer.release", { peer: bob.id });
  await until(() => bob.all("candidate").length >= delayed);
  expect(bob.all("candidate")).toHaveLength(delayed);
});

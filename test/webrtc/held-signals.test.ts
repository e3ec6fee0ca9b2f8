import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import type { PeerFault } from "../../contract/services/webrtc-faults.ts";
import { FaultRegistry } from "../../servers/core/faults/fault-registry.ts";
import { SignalFaults } from "../../servers/webrtc/faults/signal-faults.ts";
import { onEnd } from "../support/start-service.ts";
import { itemsOfTurn, workTime } from "../support/work-time.ts";

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

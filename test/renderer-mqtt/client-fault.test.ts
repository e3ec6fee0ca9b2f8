import { expect, it } from "vitest";
import { mqttActions } from "../../contract/services/mqtt.ts";
import { firstClientFault, parseClientFault } from "../../renderer/src/services/mqtt/clients/client-fault-draft.ts";

it("[MQTT-126] a custom time is accepted within the broker's limits only", () => {
  const { "client.freeze": freeze, "client.delay": delay } = mqttActions;
  for (const forSeconds of [0.1, "0.5", 1, 45.5, 3_600, 0, "", "x", -1, 3_600.1, 0.0001]) {
    const parsed = parseClientFault({ ...firstClientFault, forSeconds });
    expect([forSeconds, !("problem" in parsed)]).toEqual([
      forSeconds,
      freeze.params.safeParse({ clientId: "c", forMs: forSeconds === "" ? undefined : Math.round(Number(forSeconds) * 1_000) }).success,
    ]);
  }
  for (const delayMs of [1, "250", 60_000, 0, "", "x", 60_001, 1.5]) {
    const parsed = parseClientFault({ ...firstClientFault, how: "delay", delayMs });
    expect([delayMs, !("problem" in parsed)]).toEqual([
      delayMs,
      delay.params.safeParse({ clientId: "c", forMs: 1_000, delayMs: delayMs === "" ? undefined : Number(delayMs) }).success,
    ]);
  }
  expect(parseClientFault({ ...firstClientFault, forSeconds: "45.5" })).toEqual({ forMs: 45_500 });
  expect(parseClientFault({ how: "delay", forSeconds: 1, delayMs: "" })).toEqual({ field: "delayMs", problem: "1 to 60,000 ms" });
});

import { writeFileSync } from "node:fs";
import path from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { mqttService } from "../../servers/mqtt/mqtt-service.ts";
import { startService } from "../support/start-service.ts";
import { temporaryDir } from "../support/temporary-dir.ts";

const linesOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `user${index}:secret${index}`);

function passwordFile(count: number): string {
  const file = path.join(temporaryDir(), "passwords");
  writeFileSync(file, linesOf(count).join("\n"));
  return file;
}

const config = (passwords: string) => ({ port: 0, webSocket: false, tls: false, sysIntervalSeconds: 0, passwordFile: passwords });
const tooMany = { code: "CONFIG_INVALID", message: "10,001 users have a password that is not hashed: at most 10,000 are hashed here" };

it("[MQTT-549] a start says that it hashes the passwords of a file, and has its time anew", async () => {
  // Seconds pass as the test says, and not as fast as this machine hashes.
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const said: string[] = [];
  let hasStarted = false;
  const starting = startService(mqttService, { config: config(passwordFile(20)), onProgress: (doing) => said.push(doing) }).finally(() => {
    hasStarted = true;
  });
  while (said.length === 0 && !hasStarted) {
    await nextTurn();
    vi.advanceTimersByTime(1_000);
  }
  await starting;
  expect(said[0]).toBe("hashing passwords");
});

it("[MQTT-549] more passwords than can be hashed in reasonable time are refused, in a file and where they are saved", async () => {
  await expect(startService(mqttService, { config: config(passwordFile(10_001)) })).rejects.toMatchObject(tooMany);
  await expect(mqttService.hashSecrets?.({ users: linesOf(10_001) })).rejects.toMatchObject(tooMany);
});

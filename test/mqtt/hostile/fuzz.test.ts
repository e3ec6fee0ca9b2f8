import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { temporaryDir } from "../../support/temporary-dir.ts";
import { versions } from "../harness.ts";
import { spawnBroker } from "../spawned-broker.ts";
import { fuzz, Witness } from "./fuzz.ts";

/** A long run: `FUZZ_SECONDS=600 npm test -- test/mqtt/fuzz.test.ts`; FUZZ_SEED for other streams than the usual ones. */
const seconds = Number(process.env.FUZZ_SECONDS ?? 0);
const seed = Number(process.env.FUZZ_SEED ?? 1);
const shortRun = 1_500;
const reportEveryMs = 30_000;

/** What it may keep is soon full, so that memory which still grows then is a leak. */
const config = {
  webSocket: true,
  persistence: true,
  connectTimeoutMs: 1_000,
  sessionExpirySeconds: 5,
  retainedMessages: 500,
  topics: 2_000,
  recordedMessages: 2_000,
  queueMessages: 100,
};

it(
  "[MQTT-158] broken byte streams, over TCP and WebSocket, do no harm and leave nothing behind",
  async () => {
    const broker = await spawnBroker(temporaryDir(), config);
    const pid = broker.child.pid ?? 0;
    const target = { port: broker.port, webSocketPort: Number(new URL(broker.urls.WS ?? "").port) };
    const witnesses = await Promise.all(versions.map((version) => Witness.join(target, version)));
    const look = () => Promise.all(witnesses.map((witness) => witness.look()));
    await look();
    const filesBefore = openFiles(pid);
    const endAt = performance.now() + seconds * 1_000;
    let sent = 0;
    let bytes = 0;
    const report = () =>
      console.log(`${sent} streams of ${bytes} bytes with seed ${seed}: ${residentMebibytes(pid)} MiB, ${openFiles(pid)} open files`);
    let reportAt = performance.now() + reportEveryMs;
    do {
      const until = () => seconds > 0 && performance.now() > endAt;
      const part = await fuzz({ ...target, seed, from: sent, to: sent + shortRun / 5, atOnce: 16, until });
      sent += part.streams;
      bytes += part.bytes;
      await look();
      if (seconds === 0 || performance.now() < reportAt) continue;
      reportAt += reportEveryMs;
      report();
    } while (seconds > 0 ? performance.now() < endAt : sent < shortRun);

    expect(broker.child.exitCode).toBeNull();
    expect(broker.logs.filter((line) => line.includes("An error"))).toEqual([]);
    // Where the system tells: all sockets but the witnesses' are closed.
    await expect.poll(() => openFiles(pid)).toBe(filesBefore);
    if (seconds > 0) report();
    expect(residentMebibytes(pid)).toBeLessThan(300);
    await look();
  },
  (seconds + 60) * 1_000,
);

const isLinux = process.platform === "linux";
const openFiles = (pid: number) => (isLinux ? readdirSync(`/proc/${pid}/fd`).length : 0);
const residentMebibytes = (pid: number) =>
  isLinux ? Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024) : 0;

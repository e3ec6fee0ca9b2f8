/**
 * What recording costs without the network: `node record-exchanges.ts EXCHANGES`. Entries are written by the outbox, cross a process
 * boundary's serialization, and are stored. Prints JSON: `RecordingCost[]`.
 */
import { deserialize, serialize } from "node:v8";
import { HttpEntry, type HttpEntryHead } from "../../servers/core/http/record/http-entry.ts";
import { createOutbox } from "../../servers/core/traffic/outbox.ts";
import { createTrafficMemory } from "../../servers/supervisor/traffic/traffic-memory.ts";
import { createTrafficStore } from "../../servers/supervisor/traffic/traffic-store.ts";
import { createTurns } from "../../servers/supervisor/traffic/turns.ts";
import { percentile } from "../harness.ts";
import type { RecordingCost } from "../streams-bench.ts";

const exchanges = Number(process.argv[2]);
const warmUp = Math.min(exchanges, 20_000);
const perTurn = 200;

/** µs of this thread; where Node cannot tell, of the clock. */
const micros = (): number => {
  if (typeof process.threadCpuUsage !== "function") return performance.now() * 1_000;
  const { user, system } = process.threadCpuUsage();
  return user + system;
};

const responseHead =
  "HTTP/1.1 200 OK\r\nServer: backlot\r\nAccess-Control-Allow-Origin: *\r\nX-Content-Type-Options: nosniff\r\n" +
  "Content-Type: application/json; charset=utf-8\r\nContent-Length: 51\r\nDate: Sun, 22 Nov 2026 01:00:00 GMT\r\n" +
  "Connection: keep-alive\r\nKeep-Alive: timeout=5\r\n\r\n";

async function measure(name: string, method: string, requestBody: Buffer | undefined): Promise<RecordingCost> {
  const store = createTrafficStore({
    service: "http",
    decoders: {},
    memory: createTrafficMemory(192 << 20),
    turns: createTurns(),
    rows: 50_000,
  });
  let [write, stored, bytes, done, begunAt, batchAt] = [0, 0, 0, 0, 0, 0];
  const batches: number[] = [];
  const outbox = createOutbox({
    post(batch) {
      const message = serialize(batch);
      const posted = micros();
      write += posted - begunAt;
      batches.push(performance.now() - batchAt);
      store.add(deserialize(message) as typeof batch);
      stored += micros() - posted;
      bytes += message.length;
      setImmediate(() => outbox.ack(batch.seq));
      begunAt = micros();
      batchAt = performance.now();
    },
  });
  const head: Omit<HttpEntryHead, "id"> = {
    kind: "http",
    method,
    target: "/api/echo",
    httpVersion: "1.1",
    client: "curl",
    bodyLimit: 8_192,
    rawHeaders: ["Host", "127.0.0.1:8080", "User-Agent", "curl/8.9.1", "Accept", "*/*", "Content-Type", "application/json"],
    connection: {
      id: 1,
      remote: "127.0.0.1:51234",
      local: "127.0.0.1:8080",
      openedAt: 0,
      tls: undefined,
      requests: 7,
      latest: undefined,
      unlogged: 0,
    },
  };
  while (done < warmUp + exchanges) {
    if (done === warmUp) {
      [write, stored, bytes] = [0, 0, 0];
      batches.length = 0;
    }
    const entries = Array.from({ length: perTurn }, () => {
      const entry = new HttpEntry({ id: outbox.nextId(), ...head });
      if (requestBody) entry.received(requestBody);
      entry.receivedAll();
      entry.answeredRaw(200, responseHead, '{"status":"success","received":{"a":1,"text":"hello"}}');
      entry.end();
      return entry;
    });
    begunAt = micros();
    batchAt = performance.now();
    for (const entry of entries) outbox.touch(entry);
    outbox.flush();
    done += perTurn;
    await new Promise((resolve) => setImmediate(resolve));
  }
  outbox.close();
  return {
    name,
    writeMicros: write / exchanges,
    storeMicros: stored / exchanges,
    bytes: bytes / exchanges,
    p50BatchMs: percentile(batches, 0.5),
    p99BatchMs: percentile(batches, 0.99),
  };
}

const costs = [await measure("GET, no body", "GET", undefined), await measure("POST with 1 KiB", "POST", Buffer.alloc(1_024, '{"a":1}'))];
process.stdout.write(JSON.stringify(costs));
process.exit(0);

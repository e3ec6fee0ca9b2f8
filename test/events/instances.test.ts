import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { connectRedisRateLimits } from "../../servers/core/limits/rate-limit-redis.ts";
import { createLog } from "../../servers/core/service/log.ts";
import { Forwarder } from "../support/forwarder.ts";
import { createDatabase, hasPostgres, hasRedis, missing, type RealServer, startPostgres, startRedis } from "../support/real-servers.ts";
import { device, eventBody, getPage, getStats, onEnd, post, startEvents, startProcess } from "./harness.ts";

const log = createLog({ level: () => "error", write: () => {} });

describe.skipIf(missing("PostgreSQL", "postgresql", hasPostgres()))("two instances on PostgreSQL", () => {
  let server: RealServer;
  let database = "";
  let databases = 0;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    database = await createDatabase(server, `instances${++databases}`);
  });

  it("[EV-80] migrate once, share data, and count correctly under load on both", async () => {
    const config = { database, rateLimits: false };
    const [one, two] = await Promise.all([startProcess("unused", config), startProcess("unused", config)]);
    await Promise.all([getStats(one.url), getStats(two.url)]);
    const posts = Array.from({ length: 600 }, (_, index) => async () => {
      const body = eventBody({ device_id: device(index % 40), outcome: ["accepted", "rejected", "ignored"][index % 3], edit_count: index });
      const answer = await post((index % 2 ? one : two).url, body);
      return [answer.status, await answer.text()];
    });
    const answers = [];
    for (let index = 0; index < posts.length; index += 60)
      answers.push(...(await Promise.all(posts.slice(index, index + 60).map((send) => send()))));
    expect(answers.filter(([status]) => status !== 201)).toEqual([]);
    const stats = { total_events: 600, unique_devices: 40, accepted: 200, rejected: 200, ignored: 200 };
    expect([await getStats(one.url), await getStats(two.url)]).toEqual([stats, stats]);
    const { data, total } = await getPage(one.url, "?limit=1000");
    expect([total, new Set(data.map(({ edit_count }) => edit_count)).size]).toEqual([600, 600]);
    expect(data.map(({ id }) => id)).toEqual(Array.from({ length: 600 }, (_, index) => 600 - index));
    expect((await getPage(two.url, "?outcome=rejected&limit=3&offset=150")).data.map(({ id }) => id)).toEqual(
      data
        .filter(({ outcome }) => outcome === "rejected")
        .slice(150, 153)
        .map(({ id }) => id),
    );
  });

  it("[EV-81] what one stores the other's page shows, and text that PostgreSQL cannot store is corrected", async () => {
    const one = await startEvents({ database });
    const two = await startEvents({ database });
    await getStats(two.url);
    expect((await post(one.url, eventBody({ last_char: "\0" }))).status).toBe(201);
    await expect.poll(() => two.view("totals")?.events).toBe(1);
    expect((await getPage(two.url)).data[0]?.last_char).toBe("\ufffd");
    expect(two.view("storage")).toMatchObject({
      kind: "postgres",
      place: expect.stringMatching(/^PostgreSQL 127\.0\.0\.1:\d+\/instances\d+$/),
    });
    const generated = await one.act("sample.generate", { count: 1_500, days: 2 });
    await expect.poll(() => one.view("jobs").find(({ id }) => id === generated.id)?.state).toBe("done");
    expect(await two.act("plot", { range: "7d" })).toMatchObject({ total: 1_501 });
  });

  it("[EV-82] an unreachable database is 503, also with a wrong password, and the password is never shown", async () => {
    const events = await startEvents({ database: "postgres://backlot:secret-word@127.0.0.1:9/postgres" });
    const answer = await fetch(`${events.url}/stats`);
    expect([answer.status, await answer.text()]).toEqual([503, '{"error":"Storage cannot be reached: postgres"}']);
    await expect.poll(() => events.view("storage").failure?.code).toBe("STORE_UNREACHABLE");
    expect(JSON.stringify([events.view("storage"), events.logs])).not.toContain("secret-word");
  });
});

describe.skipIf(missing("Redis", "redis-server", hasRedis()))("two instances on Redis", () => {
  let server: RealServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server?.stop());

  it("[EV-83] share their limits exactly, also for simultaneous requests", async () => {
    const limit = { name: "simultaneous", requests: 30, windowMs: 600_000 };
    // However long the machine keeps Redis from answering: an instance that limits by itself is EV-84.
    const connect = () => connectRedisRateLimits({ url: server.url, log, answerTimeoutMs: 60_000 });
    const connections = [await connect(), await connect()];
    for (const { close } of connections) onEnd(close);
    const limiters = connections.map((connection) => connection.limiter(limit));
    const takes = Array.from({ length: 50 }, (_, index) => limiters[index % 2]?.take("10.0.0.1"));
    const decisions = (await Promise.all(takes)).flatMap((decision) => decision ?? []);
    const allowed = decisions.filter((decision) => decision.allowed);
    expect(allowed.map(({ remaining }) => remaining).sort((left, right) => right - left)).toEqual(
      Array.from({ length: 30 }, (_, index) => 29 - index),
    );
    expect(decisions.filter((decision) => !decision.allowed).map(({ remaining }) => remaining)).toEqual(Array(20).fill(0));
    for (const { resetMs } of decisions) expect(resetMs).toBeLessThanOrEqual(limit.windowMs);
    expect((await limiters[1]?.take("10.0.0.2"))?.remaining).toBe(29);
  });

  it("[EV-83] refuse what another one has counted, until the window ends or the limits are reset", async () => {
    const config = { rateLimitRedis: server.url, statsRequests: 1, statsSeconds: 8 };
    const [one, two] = [await startEvents(config), await startEvents(config)];
    let refused: Response | undefined;
    // Once Redis has answered both in time: until then each limits by itself.
    await expect
      .poll(async () => {
        await one.act("limits.reset");
        await two.act("limits.reset");
        const first = await fetch(`${one.url}/stats`);
        refused = await fetch(`${two.url}/stats`);
        return [first.status, refused.status];
      })
      .toEqual([200, 429]);
    expect([Number(refused?.headers.get("retry-after")) <= 8, refused?.headers.get("ratelimit-remaining")]).toEqual([true, "0"]);
    await expect.poll(async () => (await fetch(`${two.url}/stats`)).status, { interval: 200 }).toBe(200);
    expect(one.view("limits")).toMatchObject({ on: true, shared: true });
  });

  it("[EV-83] share them in the database of their URL, also if Redis refuses it once", async () => {
    const forwarder = new Forwarder(Number(new URL(server.url).port));
    await forwarder.listen();
    forwarder.refuseDatabases(1);
    const limit = { name: "in a database", requests: 30, windowMs: 600_000 };
    const urls = [`redis://127.0.0.1:${forwarder.port}/5`, `${server.url}/5`];
    const connections = await Promise.all(urls.map((url) => connectRedisRateLimits({ url, log, answerTimeoutMs: 60_000 })));
    for (const { close } of connections) onEnd(close);
    const [one, other] = connections.map((connection) => connection.limiter(limit));
    // Until it is connected the first one limits by itself.
    await expect
      .poll(async () => {
        await other?.reset();
        await one?.take("10.0.0.1");
        return (await other?.take("10.0.0.1"))?.remaining;
      })
      .toBe(28);
    expect(forwarder.refused).toBe(1);
  });

  it("[EV-84] an answer that arrived while the process was busy is in time", async () => {
    const connection = await connectRedisRateLimits({ url: server.url, log, answerTimeoutMs: 2_000 });
    onEnd(connection.close);
    const own = connection.limiter({ name: "busy", requests: 30, windowMs: 600_000 });
    await own.take("10.0.0.1");
    const other = await connectRedisRateLimits({ url: server.url, log, answerTimeoutMs: 60_000 });
    onEnd(other.close);
    await other.limiter(own.limit).take("10.0.0.1");
    const decision = own.take("10.0.0.1");
    // Longer than the command may take.
    await new Promise((resolve) => setImmediate(resolve));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_000);
    // By itself it would have counted two.
    expect((await decision).remaining).toBe(27);
  });

  it("[EV-84] while Redis does not answer, each instance limits by itself, and logs it once", async () => {
    const own = await startRedis();
    const events = await startEvents({ rateLimitRedis: own.url, statsRequests: 3 });
    expect((await fetch(`${events.url}/stats`)).status).toBe(200);
    await own.stop();
    const statuses = [];
    for (let index = 0; index < 3; index++) statuses.push((await fetch(`${events.url}/stats`)).status);
    expect(statuses).toEqual([200, 200, 429]);
    await expect.poll(() => events.logs.filter(({ text }) => text.startsWith("Redis does not answer")).length).toBe(1);
  });

  it("[EV-84] only requests in progress wait for a Redis that hangs, and it is used again once it answers", async () => {
    const own = await startRedis();
    const events = await startEvents({ rateLimitRedis: own.url, statsRequests: 1_000 });
    expect((await fetch(`${events.url}/stats`)).status).toBe(200);
    process.kill(own.pid, "SIGSTOP");
    try {
      await fetch(`${events.url}/stats`);
      // Each would wait for half a second: more than the test has.
      for (let index = 0; index < 50; index++) expect((await fetch(`${events.url}/stats`)).status).toBe(200);
    } finally {
      process.kill(own.pid, "SIGCONT");
    }
    const said = (start: string) => events.logs.filter(({ text }) => text.startsWith(start)).length;
    await expect.poll(() => said("Redis answers again")).toBe(1);
    expect(said("Redis does not answer")).toBe(1);
    await own.stop();
  });

  it("[EV-84] an invalid Redis URL is refused", async () => {
    await expect(startEvents({ rateLimitRedis: "nonsense" })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      field: { name: "rateLimitRedis" },
    });
  });
});

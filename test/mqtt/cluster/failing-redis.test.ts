import { describe, expect, it, onTestFinished } from "vitest";
import { ClusterScripts, replyList, replyText } from "../../../servers/mqtt/cluster/cluster-scripts.ts";
import { packOperations } from "../../../servers/mqtt/cluster/redis-operation.ts";
import { Forwarder } from "../../support/forwarder.ts";
import { hasRedis, missing, startRedis } from "../../support/real-servers.ts";
import { type Broker, connectWire } from "../harness.ts";
import { Inbox, kept, leave, openRedis, publishAcknowledged, startMember } from "./cluster-harness.ts";

async function startOwnRedis() {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  return { ...redis, port: Number(new URL(redis.url).port) };
}

const logged = (broker: Broker, text: string) => broker.logs.filter((line) => line.includes(text)).length;

describe.skipIf(missing("Redis", "redis-server", hasRedis()))("a Redis that refuses or answers nonsense", () => {
  /** A broker with an absent session that is subscribed, and a client that publishes. */
  async function startWithSession(url: string) {
    const broker = await startMember(url);
    const client = await connectWire(broker, 5, kept("c"));
    await client.subscribe("t", { qos: 1 });
    await leave(client);
    const publisher = await connectWire(broker, 5);
    return { broker, publish: (payload: string) => publishAcknowledged(publisher, "t", payload) };
  }
  /** Another broker, which knows only what Redis has, gives it to the client. */
  async function expectKept(broker: Broker, url: string, payloads: readonly string[]): Promise<void> {
    await broker.stop();
    const inbox = new Inbox(await connectWire(await startMember(url), 5, kept("c")));
    await expect.poll(() => inbox.payloads).toEqual(payloads);
  }

  it("[MQTT-436] Redis has no memory: the log says so once, the page that it is lost, and what is acknowledged is written when there is some", async () => {
    const { url } = await startOwnRedis();
    const { broker, publish } = await startWithSession(url);
    const redis = await openRedis(url);
    await publish("before");
    await redis.config("SET", "maxmemory", "1");
    await publish("meanwhile");
    await expect.poll(() => logged(broker, "Redis is lost (OOM command not allowed")).toBe(1);
    await expect.poll(() => broker.counters.at(-1)?.note).toBe("Redis lost");
    await publish("still");
    await redis.config("SET", "maxmemory", "0");
    await expect.poll(() => logged(broker, "Redis is back"), { timeout: 20_000 }).toBe(1);
    expect([logged(broker, "Redis is lost"), logged(broker, "cannot be used yet")]).toEqual([1, 0]);
    await expectKept(broker, url, ["before", "meanwhile", "still"]);
  });

  it("[MQTT-436] Redis refuses what sessions need and nothing else: it counts as lost, and is tried again after pauses that grow", async () => {
    const { url } = await startOwnRedis();
    const { broker, publish } = await startWithSession(url);
    const redis = await openRedis(url);
    await redis.set("backlot:mqtt:messages", "no hash");
    await publish("meanwhile");
    await expect.poll(() => logged(broker, "Redis is lost (WRONGTYPE")).toBe(1);
    const evaluated = async () => Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.info("commandstats"))?.[1] ?? 0);
    const before = await evaluated();
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect((await evaluated()) - before).toBeLessThan(20);
    expect([logged(broker, "Redis is back"), logged(broker, "Redis is lost")]).toEqual([0, 1]);
    await redis.del("backlot:mqtt:messages");
    await expect.poll(() => logged(broker, "Redis is back"), { timeout: 20_000 }).toBe(1);
    await expectKept(broker, url, ["meanwhile"]);
  });

  it("[MQTT-437] Redis becomes a replica: the broker connects again, to the master that the address leads to", async () => {
    const [former, master] = [await startOwnRedis(), await startOwnRedis()];
    const forwarder = new Forwarder(former.port);
    await forwarder.listen();
    const { broker, publish } = await startWithSession(`redis://127.0.0.1:${forwarder.port}`);
    await publish("before");
    const [formerClient, masterClient] = [await openRedis(former.url), await openRedis(master.url)];
    await formerClient.config("SET", "repl-diskless-sync-delay", "0");
    await masterClient.replicaof("127.0.0.1", former.port);
    await expect.poll(async () => await masterClient.info("replication"), { timeout: 20_000 }).toContain("master_link_status:up");
    await masterClient.replicaof("NO", "ONE");
    forwarder.target = master.port;
    await formerClient.replicaof("127.0.0.1", master.port);
    await publish("meanwhile");
    await expect.poll(() => logged(broker, "Redis is back"), { timeout: 20_000 }).toBe(1);
    await publish("after");
    await expectKept(broker, master.url, ["before", "meanwhile", "after"]);
  });

  it("[MQTT-531] Redis refuses the database of the address when the broker connects again: it is used when it is granted, and no other one", async () => {
    const { url, port } = await startOwnRedis();
    const forwarder = new Forwarder(port);
    await forwarder.listen();
    const { broker, publish } = await startWithSession(`redis://127.0.0.1:${forwarder.port}/1`);
    await publish("before");
    const redis = await openRedis(`${url}/0`);
    forwarder.refuseDatabases(4);
    await redis.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    await redis.call("CLIENT", "KILL", "TYPE", "pubsub");
    await expect.poll(() => logged(broker, "Redis is back"), { timeout: 20_000 }).toBe(1);
    expect(forwarder.refused).toBe(4);
    await publish("after");
    expect(await redis.dbsize()).toBe(0);
    await expectKept(broker, `${url}/1`, ["before", "after"]);
  });

  it("[MQTT-438] a commit that comes late, after the broker has begun anew by another connection, changes nothing", async () => {
    const redis = await openRedis((await startOwnRedis()).url);
    const scripts = new ClusterScripts(redis);
    const commit = async (term: number, value: string) => {
      const { argument } = packOperations([{ type: "call", values: ["SET", "what", value] }]);
      return replyText(replyList(await scripts.run("commit", "me", ["0-0", 1, 1_000, term, argument]))[0]);
    };
    await scripts.load();
    await scripts.run("join", "me", [10_000, scripts.term]);
    expect(await commit(1, "first")).toBe("done");
    await scripts.load();
    await scripts.run("rejoin", "me", [10_000, "0-0", scripts.term]);
    expect([await commit(2, "second"), await commit(1, "late"), await redis.get("what")]).toEqual(["done", "outdated", "second"]);
  });

  it("[MQTT-439] the changes of 50,000 sessions are one commit", async () => {
    const redis = await openRedis((await startOwnRedis()).url);
    const scripts = new ClusterScripts(redis);
    await scripts.load();
    await scripts.run("join", "me", [10_000, scripts.term]);
    const operations = Array.from({ length: 50_000 }, (_, index) => ({
      type: "call" as const,
      values: ["HSET", "changed", `field ${index}`, "x"],
    }));
    const reply = await scripts.run("commit", "me", ["0-0", 1, 1_000, scripts.term, packOperations(operations).argument]);
    expect([replyText(replyList(reply)[0]), await redis.hlen("changed")]).toEqual(["done", 50_000]);
  });

  it("[MQTT-439] values of a commit come to Redis as they are: text of any kind and length, bytes and numbers", async () => {
    const redis = await openRedis((await startOwnRedis()).url);
    const scripts = new ClusterScripts(redis);
    await scripts.load();
    await scripts.run("join", "me", [10_000, scripts.term]);
    const allBytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const values = [
      "",
      "a",
      "\u0000",
      "é",
      "日本語".repeat(20),
      "😀",
      "x".repeat(40),
      "x".repeat(41),
      "ü".repeat(70_000),
      allBytes,
      7,
      2 ** 40,
    ];
    const operations = values.map((value) => ({ type: "call" as const, values: ["RPUSH", "values", value] }));
    const { argument, bytes } = packOperations(operations);
    const reply = await scripts.run("commit", "me", ["0-0", 1, 1_000, scripts.term, argument]);
    expect(replyText(replyList(reply)[0])).toBe("done");
    const expected = values.map((value) => (typeof value === "object" ? value : Buffer.from(String(value))));
    expect(await redis.lrangeBuffer("values", 0, -1)).toEqual(expected);
    const lengths = values.map((value) => "RPUSHvalues".length + (typeof value === "number" ? 0 : value.length));
    expect(bytes).toBe(lengths.reduce((sum, length) => sum + length, 0));
  });

  it.each([
    ["no reply of Redis", "garbage \u0000\u0001\r\n\r\n$-7\r\n"],
    ["a reply to something else", "+OK\r\n"],
    ["another reply to something else", "*2\r\n$1\r\na\r\n*0\r\n"],
  ])("[MQTT-438] it answers with %s: it counts as lost, and what is acknowledged meanwhile is written later", async (_name, answer) => {
    const { url, port } = await startOwnRedis();
    const forwarder = new Forwarder(port);
    await forwarder.listen();
    const { broker, publish } = await startWithSession(`redis://127.0.0.1:${forwarder.port}`);
    await publish("before");
    forwarder.answerWith(answer);
    await publish("meanwhile");
    await expect.poll(() => logged(broker, "Redis is lost")).toBe(1);
    forwarder.answerWith(undefined);
    await expect.poll(() => logged(broker, "Redis is back"), { timeout: 30_000 }).toBe(1);
    await publish("after");
    await expectKept(broker, url, ["before", "meanwhile", "after"]);
  });
});

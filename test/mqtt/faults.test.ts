import { connect as connectTcp, type Socket } from "node:net";
import path from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryDir } from "../support/temporary-dir.ts";
import { connectPacket, connectWire, openWire, startBroker } from "./harness.ts";
import { spawnBroker } from "./spawned-broker.ts";

/** A socket that says this and nothing more; `ended` resolves with what it was answered, once it is closed. */
async function openSilent(url: string, says: string | Buffer = ""): Promise<{ socket: Socket; ended: Promise<string> }> {
  const socket = connectTcp(Number(new URL(url).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk.toString("latin1");
  });
  socket.on("error", () => {});
  const ended = new Promise<string>((resolve) => socket.once("close", () => resolve(answer)));
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.write(says);
  return { socket, ended };
}

const upgrade = "GET /mqtt HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
const key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n";
/** The first half of a TLS ClientHello. */
const halfHello = Buffer.from("1603010200010001fc0303", "hex");

describe("a store that fails", () => {
  it("[MQTT-159] while sessions cannot be written nothing is acknowledged; afterwards everything is, and nothing is lost", async () => {
    const dataDir = temporaryDir();
    const broker = await startBroker({ persistence: true, sysIntervalSeconds: 1 }, dataDir);
    const kept = { cleanStart: false, properties: { sessionExpiryInterval: 600 } };
    const subscriber = await connectWire(broker, 5, { clientId: "subscriber", ...kept });
    await subscriber.subscribe("t", { qos: 2 });
    const publisher = await connectWire(broker, 5, { clientId: "publisher", ...kept });

    const other = new Database(path.join(dataDir, "sessions.sqlite"));
    onTestFinished(() => void other.close());
    other.exec("BEGIN IMMEDIATE");
    for (let packetId = 1; packetId <= 20; packetId++)
      publisher.publish("t", String(packetId), { qos: packetId % 2 === 0 ? 1 : 2, packetId });
    await expect.poll(() => broker.logs).toContainEqual(expect.stringContaining("clients wait, and nothing is acknowledged"));
    const late = await openWire(broker, 5);
    late.send(connectPacket(5, "late"));
    await expect(broker.act("publish", { topic: "t" })).rejects.toMatchObject({ code: "STORE_UNREACHABLE" });
    // Longer than a retry.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect([publisher, subscriber, late].map(({ received }) => received.length)).toEqual([1, 2, 0]);

    other.exec("ROLLBACK");
    await late.expect("connack");
    for (let count = 0; count < 20; count++) expect((await publisher.next())?.type).toMatch(/^puback|^pubrec/);
    const got: string[] = [];
    while (got.length < 20) got.push((await subscriber.expect("publish")).payload.toString());
    expect(got).toEqual(Array.from({ length: 20 }, (_, index) => String(index + 1)));
    await expect.poll(() => broker.logs).toContain("The sessions can be written again: clients are served.");
    expect(broker.logs.filter((line) => line.includes("clients wait"))).toHaveLength(1);
    await broker.stop();
    expect(other.prepare("SELECT count(*) AS count FROM delivery").get()).toEqual({ count: 20 });
  });
});

describe("connections that fail early", () => {
  it("[MQTT-156] a connection without a CONNECT is closed after the connect timeout, at any stage", async () => {
    const broker = await startBroker({ webSocket: true, tls: true, connectTimeoutMs: 300 });
    const { MQTT, WS, MQTTS, WSS } = broker.urls as Record<"MQTT" | "WS" | "MQTTS" | "WSS", string>;
    const silent = await Promise.all([
      openSilent(MQTT),
      openSilent(MQTT, Buffer.from("10", "hex")),
      openSilent(MQTT, Buffer.from("102000044d515454", "hex")),
      openSilent(WS),
      openSilent(WS, "GET /mqtt HT"),
      openSilent(WS, upgrade),
      openSilent(WS, `${upgrade}${key}Sec-WebSocket-Protocol: mqtt\r\n\r\n`),
      // The WebSocket stands, and half a frame of a CONNECT comes.
      openSilent(WS, `${upgrade}${key}Sec-WebSocket-Protocol: mqtt\r\n\r\n\u0082\u0090`),
      openSilent(MQTTS),
      openSilent(MQTTS, halfHello),
      openSilent(WSS),
      openSilent(WSS, halfHello),
    ]);
    const answers = await Promise.all(silent.map(({ ended }) => ended));
    expect(answers.map((answer) => answer.slice(0, 12).replace(/[^ -~]/g, "."))).toEqual([
      ...["", "", "", "HTTP/1.1 408", "HTTP/1.1 408", "HTTP/1.1 408", "HTTP/1.1 101", "HTTP/1.1 101"],
      ...["", "", "", ""],
    ]);
    await expect
      .poll(() => broker.logs.filter((line) => line.endsWith("connections were closed: no CONNECT came in time.")))
      .not.toEqual([]);
    await (await connectWire(broker)).expectNothing();
  });

  it("[MQTT-156] a request without the subprotocol is answered and closed, even if the client keeps the socket open", async () => {
    const broker = await startBroker({ webSocket: true });
    const { ended } = await openSilent(broker.urls.WS ?? "", `${upgrade}${key}\r\n`);
    expect(await ended).toMatch(/^HTTP\/1\.1 400/);
  });

  it("[MQTT-157] if the system allows too few open files, clients are refused with a reason, and later accepted again", async () => {
    const broker = await spawnBroker(temporaryDir(), {}, 200);
    await expect
      .poll(() => broker.logs)
      .toContain("At most 129 clients can be connected at the same time: the system allows 200 open files (raise it with ulimit -n).");
    const attempt = async (index: number) => {
      const client = await openWire(broker, 5);
      client.send(connectPacket(5, `client-${index}`));
      const answer = await client.next();
      return { client, reason: answer?.type === "connack" ? answer.reason : "closed" };
    };
    const attempts = [];
    for (let index = 0; index < 132; index++) attempts.push(await attempt(index));
    expect(attempts.filter(({ reason }) => reason === 0)).toHaveLength(129);
    expect(attempts.filter(({ reason }) => reason === 0x97)).toHaveLength(3);
    // Nobody says a word any more: the sockets themselves run out.
    const more = await Promise.all(Array.from({ length: 100 }, () => openWire(broker, 5)));
    await expect.poll(() => more.filter(({ closed }) => closed).length).toBeGreaterThan(80);
    await expect
      .poll(() => broker.logs.some((line) => line.endsWith("connections were closed: the limit of open connections is reached.")))
      .toBe(true);
    await attempts[0]?.client.expectNothing();
    for (const { client } of attempts) client.destroy();
    for (const client of more) client.destroy();
    await expect.poll(async () => (await attempt(1_000)).reason).toBe(0);
  });

  it("[MQTT-157] unfinished TLS handshakes that use up the open files do not affect connected clients", async () => {
    const broker = await spawnBroker(temporaryDir(), { tls: true, connectTimeoutMs: 3_000 }, 150);
    const client = await connectWire(broker, 5);
    const halves = await Promise.all(Array.from({ length: 150 }, () => openSilent(broker.urls.MQTTS ?? "", halfHello)));
    await client.expectNothing();
    await Promise.all(halves.map(({ ended }) => ended));
    await (await connectWire(broker, 4)).expectNothing();
  });
});

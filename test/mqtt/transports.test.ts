import { execFile } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { connect, type Socket } from "node:net";
import path from "node:path";
import { connect as connectTls } from "node:tls";
import { promisify } from "node:util";
import { generate } from "selfsigned";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import WebSocket from "ws";
import { firstDraft } from "../../renderer/src/services/mqtt/publish/publish-draft.ts";
import { mosquittoPubOf } from "../../renderer/src/services/mqtt/try/mqtt-commands.ts";
import type { WorkConnection } from "../../servers/core/turns/work-connection.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { encodePacket } from "../../servers/mqtt/codec/encode-packet.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { connectMqttJs, connectPacket, openWireWebSocket, publishPacket, startBroker, versions } from "./harness.ts";

const everything = { webSocket: true, tls: true };
const labels = ["MQTT", "WS", "MQTTS", "WSS"];
const insecure = { rejectUnauthorized: false };

describe("transports", () => {
  it.each(versions.flatMap((version) => labels.map((label) => [label, version] as const)))(
    "[MQTT-110] MQTT.js over %s, version %s",
    async (label, version) => {
      const broker = await startBroker(everything);
      const client = await connectMqttJs(broker.urls[label] ?? "", { protocolVersion: version, ...insecure });
      await client.subscribeAsync("t/#", { qos: 2 });
      const received = new Promise<string>((resolve) => {
        client.once("message", (topic, payload) => resolve(`${topic} ${payload}`));
      });
      await client.publishAsync("t/x", "hello".repeat(50_000), { qos: 2 });
      expect(await received).toBe(`t/x ${"hello".repeat(50_000)}`);
    },
  );

  it("[MQTT-111] WebSocket: any path, the subprotocol mqtt or mqttv3.1 answered", async () => {
    const broker = await startBroker(everything);
    const url = broker.urls.WS ?? "";
    for (const [suffix, protocol] of [
      ["", "mqtt"],
      ["/mqtt", "mqtt"],
      ["/any/path?x=1", "mqttv3.1"],
    ] as const) {
      const socket = new WebSocket(url + suffix, protocol);
      await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
      expect(socket.protocol).toBe(protocol);
      socket.terminate();
    }
  });

  it.each([[], ["chat"]])("[MQTT-111] WebSocket: refused with 400 without the subprotocol %s", async (...protocols) => {
    const broker = await startBroker(everything);
    const socket = new WebSocket(broker.urls.WS ?? "", protocols);
    const error = await new Promise<Error>((resolve) => socket.once("error", resolve));
    expect(error.message).toContain("400");
  });

  it.each(["WS", "WSS"])("[MQTT-111] requests behind a plain HTTP request are not read, over %s", async (label) => {
    const broker = await startBroker(everything);
    let begun = 0;
    const onBegun = () => begun++;
    subscribe("http.server.request.start", onBegun);
    onTestFinished(() => void unsubscribe("http.server.request.start", onBegun));
    const { hostname, port } = new URL(broker.urls[label] ?? "");
    const request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    for (const requests of [
      request.repeat(5_000),
      `${request}GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    ]) {
      begun = 0;
      const socket = label === "WS" ? connect(Number(port), hostname) : connectTls({ port: Number(port), host: hostname, ...insecure });
      socket.on("error", () => {}).resume();
      socket.write(requests);
      await new Promise((resolve) => socket.once("close", resolve));
      expect(begun).toBe(1);
    }
  });

  it("[MQTT-111] a plain HTTP request is answered with what the port is for", async () => {
    const broker = await startBroker(everything);
    const url = (broker.urls.WS ?? "").replace("ws:", "http:");
    const status = await new Promise((resolve) => {
      get(url, { agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
    });
    expect(status).toBe(426);
  });

  /** The status of the answer to an upgrade that a page of this origin asks for. */
  async function upgradeStatus(url: string, origin: string | undefined): Promise<number> {
    const socket = new WebSocket(url, "mqtt", { ...insecure, ...(origin !== undefined && { origin }) });
    const status = await new Promise<number>((resolve) => {
      socket.once("upgrade", () => resolve(101));
      socket.once("unexpected-response", (_request, response) => resolve(response.statusCode ?? 0));
    });
    socket.on("error", () => {});
    socket.terminate();
    return status;
  }

  it("[MQTT-230] pages from this computer may connect over WebSocket, others may not, and the log names the setting", async () => {
    const broker = await startBroker(everything);
    for (const url of [broker.urls.WS ?? "", broker.urls.WSS ?? ""]) {
      const mine = [undefined, "http://localhost:5173", "https://127.0.0.1", "http://[::1]:8080"];
      const others = ["https://evil.example", "http://localhost.evil.example", "http://127.0.0.1.evil.example", "null", "file://", "x"];
      expect(await Promise.all(mine.map((origin) => upgradeStatus(url, origin)))).toEqual(mine.map(() => 101));
      expect(await Promise.all(others.map((origin) => upgradeStatus(url, origin)))).toEqual(others.map(() => 403));
    }
    await expect.poll(() => broker.logs.filter((line) => line.includes("MQTT_ALLOWED_ORIGINS"))).toHaveLength(2);
  });

  it("[MQTT-230] only exactly listed origins may connect; * allows any", async () => {
    const listed = await startBroker({ ...everything, allowedOrigins: ["https://App.example.com", "http://192.168.1.5:8080/"] });
    const url = listed.urls.WS ?? "";
    const origins = [
      "https://app.example.com",
      "http://192.168.1.5:8080",
      "http://app.example.com",
      "http://192.168.1.5",
      "http://localhost",
    ];
    expect(await Promise.all(origins.map((origin) => upgradeStatus(url, origin)))).toEqual([101, 101, 403, 403, 101]);
    const open = await startBroker({ ...everything, allowedOrigins: ["*"] });
    expect(await upgradeStatus(open.urls.WS ?? "", "https://any.example")).toBe(101);
    expect(await upgradeStatus(open.urls.WS ?? "", "null")).toBe(101);
    await expect(startBroker({ ...everything, allowedOrigins: ["app.example.com"] })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });

  it("[MQTT-112] packets may be split across WebSocket frames or share one", async () => {
    const broker = await startBroker(everything);
    const client = await openWireWebSocket(broker.urls.WS ?? "", 5);
    const bytes = Buffer.concat([
      encodePacket(connectPacket(5, "ws"), 5),
      encodePacket({ ...publishPacket("t", "x"), qos: 1, packetId: 1 }, 5),
      encodePacket({ type: "pingreq" }, 5),
    ]);
    for (const byte of bytes) client.write(Buffer.from([byte]));
    await client.expect("connack");
    await client.expect("puback");
    await client.expect("pingresp");
    client.write(Buffer.concat([encodePacket({ type: "pingreq" }, 5), encodePacket({ type: "pingreq" }, 5)]));
    await client.expect("pingresp");
    await client.expect("pingresp");
  });

  it("[MQTT-310] thousands of WebSocket messages that come together are handled in turns", async () => {
    const broker = await startBroker(everything);
    const client = await openWireWebSocket(broker.urls.WS ?? "", 5);
    client.send(connectPacket(5, "c"));
    await client.expect("connack");
    // Masked with zeros: a PINGREQ each.
    const frame = Buffer.from([0x82, 0x82, 0, 0, 0, 0, 0xc0, 0]);
    const count = 8_000;
    const later = vi.spyOn(WorkTurns.prototype, "later");
    onTestFinished(() => later.mockRestore());
    const socket = (client.socket as unknown as { readonly _socket: Socket })._socket;
    socket.write(Buffer.concat(Array.from({ length: count }, () => frame)));
    await expect.poll(() => client.received.filter(({ type }) => type === "pingresp").length).toBe(count);
    // One of its turns has a few milliseconds.
    expect(later.mock.calls.length).toBeGreaterThan(0);
  });

  it("[MQTT-354] a request for a WebSocket is answered in a turn of its connection", async () => {
    const accepted = vi.spyOn(WorkTurns.prototype, "accepted");
    onTestFinished(() => accepted.mockRestore());
    const broker = await startBroker(everything);
    const socket = connect(Number(new URL(broker.urls.WS ?? "").port), "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    await expect.poll(() => accepted.mock.results.length).toBe(1);
    const run = vi.spyOn(accepted.mock.results[0]?.value as WorkConnection, "run");
    const fields = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==";
    socket.write(`GET / HTTP/1.1\r\nHost: localhost\r\n${fields}\r\nSec-WebSocket-Protocol: mqtt\r\n\r\n`);
    const [answer] = await once(socket, "data");
    expect(String(answer)).toContain("101 Switching Protocols");
    expect(run).toHaveBeenCalled();
  });

  it("[MQTT-112] a text frame closes the WebSocket", async () => {
    const broker = await startBroker(everything);
    const client = await openWireWebSocket(broker.urls.WS ?? "", 5);
    const code = new Promise((resolve) => client.socket.once("close", resolve));
    (client.socket as WebSocket).send("hello");
    expect(await code).toBe(1003);
  });

  it("[MQTT-113] the page provides the installation's authority, and a client that trusts it connects, also after a restart", async () => {
    const dataDir = temporaryDir();
    const first = await startBroker(everything, dataDir);
    const file = path.join(dataDir, "certificates/backlot-authority.crt");
    const ca = readFileSync(file, "utf8");
    await connectMqttJs(first.urls.MQTTS ?? "", { ca });
    expect(await first.act("tls.certificate", {})).toEqual({ file, pem: ca, isSelfMade: true });
    await first.stop();
    const second = await startBroker(everything, dataDir);
    await connectMqttJs((second.urls.MQTTS ?? "").replace("127.0.0.1", "localhost"), { ca });
  });

  it("[MQTT-348] what begins like another protocol, and a TLS handshake that fails, is a refused connection with its reason", async () => {
    const broker = await startBroker(everything);
    const send = async (label: string, bytes: string | Buffer) => {
      const socket = connect(Number(new URL(broker.urls[label] ?? "").port), "127.0.0.1");
      socket.on("error", () => {}).resume();
      await new Promise((resolve) => {
        socket.once("close", resolve);
        socket.write(bytes);
      });
    };
    // The begin of a ClientHello.
    await send("MQTT", Buffer.from("160301020001000000", "hex"));
    await send("MQTT", "GET / HTTP/1.1\r\n\r\n");
    await send("MQTT", Buffer.from("3000", "hex"));
    await send("MQTTS", encodePacket(connectPacket(4, "plain"), 4));
    const refused = () => broker.rows.filter(({ tone }) => tone === "refused");
    await expect.poll(() => refused().length).toBe(4);
    expect(refused().map(({ verb, target, outcome }) => [verb, target, outcome])).toEqual([
      ["CONNECT", "tcp", expect.stringMatching(/^The client began TLS on a port without it: /)],
      ["CONNECT", "tcp", expect.stringMatching(/^The client sent HTTP to a port of plain MQTT: /)],
      ["CONNECT", "tcp", "The first packet is not a CONNECT. (protocol error)"],
      ["CONNECT", "tls", "the client sent bytes that are not TLS"],
    ]);
  });

  it("[MQTT-114] client certificates: used as the user name, and required if configured", async () => {
    const folder = temporaryDir();
    const issuer = await generate([{ name: "commonName", value: "device-7" }], {
      keyType: "ec",
      extensions: [{ name: "basicConstraints", cA: true, critical: true }],
    });
    const clientCaFile = path.join(folder, "ca.pem");
    writeFileSync(clientCaFile, issuer.cert);
    const broker = await startBroker({ ...everything, anonymous: false, clientCaFile, requireClientCertificate: true });
    const url = broker.urls.MQTTS ?? "";
    const client = await connectMqttJs(url, { ...insecure, clientId: "c", cert: issuer.cert, key: issuer.private });
    expect(client.connected).toBe(true);
    expect(await broker.act("client.read", { clientId: "c" })).toMatchObject({ username: "device-7", transport: "tls" });
    // The certificate's name is the one that is proven.
    await connectMqttJs(url, { ...insecure, clientId: "d", cert: issuer.cert, key: issuer.private, username: "device-8", password: "x" });
    expect(await broker.act("client.read", { clientId: "d" })).toMatchObject({ username: "device-7" });
    await expect(connectMqttJs(url, insecure)).rejects.toThrow();
  });
});

const run = promisify(execFile);
const hasMosquitto = await run("mosquitto_pub", ["--version"]).then(
  () => true,
  (error: { code?: unknown }) => error.code !== "ENOENT",
);

describe.skipIf(!hasMosquitto)("mosquitto's clients", () => {
  it.each(["mqttv31", "mqttv311", "mqttv5"])("[MQTT-115] mosquitto_sub receives what mosquitto_pub sends, %s", async (version) => {
    const broker = await startBroker();
    const common = ["-h", "127.0.0.1", "-p", String(broker.port), "-V", version];
    const subscriber = run("mosquitto_sub", [...common, "-i", "sub", "-t", "sensors/#", "-q", "2", "-C", "3", "-v"], { timeout: 15_000 });
    onTestFinished(() => void subscriber.child.kill());
    await expect.poll(async () => (await broker.act("client.read", { clientId: "sub" }))?.subscriptionCount).toBe(1);
    for (const qos of ["0", "1", "2"]) await run("mosquitto_pub", [...common, "-t", `sensors/${qos}`, "-m", `with ${qos}`, "-q", qos]);
    expect((await subscriber).stdout).toBe("sensors/0 with 0\nsensors/1 with 1\nsensors/2 with 2\n");
  });

  it("[BL-468] a copied message that is too long for one argument arrives whole", async () => {
    const broker = await startBroker();
    const client = await connectMqttJs(broker.urls.MQTT ?? "");
    await client.subscribeAsync("t");
    const received = new Promise<string>((resolve) => client.once("message", (_, payload) => resolve(payload.toString())));
    const payload = `it's ${"ü".repeat(100_000)}\n`;
    const address = { transport: "mqtt", host: "127.0.0.1", port: String(broker.port) } as const;
    const shell = run("bash", [], { timeout: 15_000 });
    shell.child.stdin?.end(`${mosquittoPubOf({ ...firstDraft, topic: "t", payload }, address, true)}\n`);
    await shell;
    expect(await received).toBe(payload);
  });

  it("[MQTT-115] user properties, expiry and response topic are transferred", async () => {
    const broker = await startBroker();
    const common = ["-h", "127.0.0.1", "-p", String(broker.port), "-V", "mqttv5"];
    const subscriber = run("mosquitto_sub", [...common, "-i", "sub", "-t", "t", "-C", "1", "-F", "%P %R %C %p"], { timeout: 15_000 });
    onTestFinished(() => void subscriber.child.kill());
    await expect.poll(async () => (await broker.act("client.read", { clientId: "sub" }))?.subscriptionCount).toBe(1);
    const property = (...words: string[]) => ["-D", "publish", ...words];
    await run("mosquitto_pub", [
      ...common,
      "-t",
      "t",
      "-m",
      "x",
      ...property("user-property", "k", "v"),
      ...property("response-topic", "r"),
      ...property("content-type", "c"),
    ]);
    expect((await subscriber).stdout.trim()).toBe("k:v r c x");
  });
});

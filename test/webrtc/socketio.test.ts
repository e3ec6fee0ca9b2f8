import { EventEmitter, once } from "node:events";
import { createConnection } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { SocketIoConnection } from "../../servers/webrtc/dialects/socketio/socketio-connection.ts";
import { onEnd } from "../support/start-service.ts";
import { joinJson, scriptOf, startWebrtc, type Webrtc } from "./dialect-harness.ts";
import { connect, openPolling } from "./socketio-client.ts";

/** Speaks the protocol by hand, and is closed. The messages it got. */
async function sendPackets({ host }: Webrtc, packets: readonly string[]): Promise<readonly string[]> {
  const socket = new WebSocket(`ws://${host}/socket.io/?EIO=4&transport=websocket`);
  onEnd(() => socket.terminate());
  const got: string[] = [];
  socket.on("message", (data) => got.push(String(data)));
  socket.on("error", () => {});
  await once(socket, "open");
  for (const packet of packets) socket.send(packet);
  // Behind them: whatever the service still answers has been answered.
  socket.ping();
  await Promise.race([once(socket, "pong"), once(socket, "close")]);
  socket.terminate();
  return got;
}

/** Long polling by hand: what a POST of these packets, and then a GET, are answered. */
async function postPackets({ host }: Webrtc, packets: readonly string[]) {
  const { url: target } = await openPolling(host);
  const body = packets.join("\x1e");
  const posted = await fetch(target, { method: "POST", body, headers: { "Content-Type": "text/plain" } }).then(
    ({ status }) => status,
    () => "closed",
  );
  const polled = await fetch(target);
  return { posted, polled: polled.status, text: await polled.text() };
}

const offer = { type: "offer", sdp: "v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\n" };

describe("Socket.IO", () => {
  it.each([{ transports: ["websocket"] }, { transports: ["polling"] }, { transports: ["polling", "websocket"] }])(
    "[WEBRTC-220] socket.io-client signals to all others, or to one, over $transports",
    async (options) => {
      const webrtc = await startWebrtc();
      const [one, other, third] = [await connect(webrtc, options), await connect(webrtc, options), await connect(webrtc, options)];
      one.socket.emit("signal", { sdp: offer, more: 1 });
      expect(await other.until("signal")).toEqual({ sdp: offer, more: 1, from: one.id });
      expect(await third.until("signal")).toEqual({ sdp: offer, more: 1, from: one.id });
      other.socket.emit("signal", { candidate: { candidate: "candidate:1" }, to: one.id });
      expect(await one.until("signal")).toEqual({ candidate: { candidate: "candidate:1" }, to: one.id, from: other.id });
      expect(third.log.items.filter(({ event }) => event === "signal").length).toBe(1);
    },
  );

  it("[WEBRTC-222] the default room has the limit of all peers, not that of a room", async () => {
    const webrtc = await startWebrtc({ roomPeers: 1 });
    const clients = [await connect(webrtc), await connect(webrtc), await connect(webrtc)];
    expect(clients.map(({ log }) => log.items.filter(({ event }) => event === "joined").length)).toEqual([1, 1, 1]);
  });

  it.each(["socket.io.js", "socket.io.min.js", "socket.io.esm.min.js"])(
    "[WEBRTC-228] the client for pages is at /socket.io/%s",
    async (name) => {
      const { host } = await startWebrtc();
      const response = await fetch(`http://${host}/socket.io/${name}`);
      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
      expect(await response.text()).toBe(scriptOf(`socket.io/client-dist/${name}`));
    },
  );

  it.each(["websocket", "polling"])(
    "[WEBRTC-221] a client gets ICE servers with credentials when it connects over %s",
    async (transport) => {
      const client = await connect(await startWebrtc(), { transports: [transport] });
      const [stun, turn] = (await client.until("ice-servers")) as { urls: string[]; username: string }[];
      expect(stun?.urls[0]).toMatch(/^stun:127\.0\.0\.1:/);
      expect(turn?.username).toMatch(new RegExp(`:${client.id}$`));
    },
  );

  it("[WEBRTC-222] clients without a room are in one; the first room that a client names takes its place", async () => {
    const webrtc = await startWebrtc();
    const [one, other] = [await connect(webrtc), await connect(webrtc)];
    expect(await other.until("joined")).toEqual({ room: "default", peers: [{ id: one.id, name: "" }] });
    expect(await one.until("peer-joined")).toEqual({ room: "default", id: other.id, name: "" });
    expect(await one.socket.emitWithAck("join", { room: "r1", name: "Anna" })).toEqual({ room: "r1", peers: [] });
    expect(await other.until("peer-left")).toEqual({ room: "default", id: one.id });
    expect(await other.socket.emitWithAck("join", { room: "r1", name: "Bert" })).toEqual({
      room: "r1",
      peers: [{ id: one.id, name: "Anna" }],
    });
    const third = await connect(webrtc, { auth: { room: "r1", name: "Carl" } });
    expect(await third.until("joined")).toMatchObject({ room: "r1", peers: [{ name: "Anna" }, { name: "Bert" }] });
    const byQuery = await connect(webrtc, { query: { room: "r1" } });
    expect(await byQuery.until("joined")).toMatchObject({ room: "r1" });
    expect(await third.socket.emitWithAck("leave", { room: "r1" })).toEqual({ room: "r1" });
    await one.log.until(({ event, data }) => event === "peer-left" && (data as { id: string }).id === third.id);
    byQuery.socket.disconnect();
    await one.log.until(({ event, data }) => event === "peer-left" && (data as { id: string }).id === byQuery.id);
  });

  it.each(["websocket", "polling"])("[WEBRTC-531] a join is acknowledged with what the event joined has, over %s", async (transport) => {
    const webrtc = await startWebrtc();
    const anna = await joinJson(webrtc, 'r "1"', { name: "Anna" });
    const one = await connect(webrtc, { transports: [transport] });
    const expected = { room: 'r "1"', peers: [{ id: anna.id, name: "Anna" }] };
    expect(await one.socket.emitWithAck("join", { room: 'r "1"' })).toEqual(expected);
    expect(await one.socket.emitWithAck("join", { room: 'r "1"', name: "One" })).toEqual(expected);
    const joined = one.log.items.filter(({ event, data }) => event === "joined" && (data as { room: string }).room !== "default");
    expect(joined.map(({ data }) => data)).toEqual([expected, expected]);
    expect(await one.socket.emitWithAck("join", { room: "" })).toMatchObject({ error: { code: "bad-message" } });
  });

  it("[WEBRTC-223] rooms may have a password; a refusal is an error event and in the acknowledgement", async () => {
    const webrtc = await startWebrtc();
    await connect(webrtc, { auth: { room: "r1", password: "secret" } });
    const wrong = await connect(webrtc, { auth: { room: "r1", password: "wrong" } });
    expect(await wrong.until("error")).toMatchObject({ code: "wrong-password", re: "join" });
    expect(await wrong.socket.emitWithAck("join", { room: "r1" })).toMatchObject({ error: { code: "wrong-password" } });
    expect(await wrong.socket.emitWithAck("join", { room: "r1", password: "secret" })).toMatchObject({ room: "r1" });
    expect(JSON.stringify([webrtc.service.logs, webrtc.service.rows()])).not.toContain("secret");
  });

  it("[WEBRTC-224] chat goes to a room or to one client", async () => {
    const webrtc = await startWebrtc();
    const one = await connect(webrtc, { auth: { room: "r1", name: "Anna" } });
    const other = await connect(webrtc, { auth: { room: "r1" } });
    one.socket.emit("chat", { text: "to all" });
    expect(await other.until("chat")).toEqual({ from: one.id, name: "Anna", text: "to all", at: expect.any(Number), room: "r1" });
    other.socket.emit("chat", { text: "private", to: one.id });
    expect(await one.until("chat")).toEqual({ from: other.id, name: "", text: "private", at: expect.any(Number) });
    const late = await connect(webrtc, { auth: { room: "r1" } });
    expect(await late.until("chat")).toMatchObject({ text: "to all", history: true });
  });

  it("[WEBRTC-225] what is no event of the service is refused with an error, broken packets end the connection, and others go on", async () => {
    const webrtc = await startWebrtc();
    const [bystander, bad] = [await connect(webrtc), await connect(webrtc)];
    const deep = JSON.parse(`${"[".repeat(50)}${"]".repeat(50)}`);
    const refused: [string, unknown, string][] = [
      ["unknown", {}, "unknown-type"],
      ["signal", undefined, "bad-message"],
      ["signal", "text", "bad-message"],
      ["signal", { to: 7 }, "bad-message"],
      ["signal", { sdp: deep }, "bad-message"],
      ["signal", { sdp: Buffer.from([1, 2, 3]) }, "bad-message"],
      ["signal", { to: "nobody" }, "peer-unknown"],
      ["join", { room: 7 }, "bad-message"],
      ["join", { room: "x".repeat(300) }, "too-long"],
      ["leave", {}, "bad-message"],
      ["leave", { room: "other" }, "not-in-room"],
      ["chat", { text: "" }, "bad-message"],
      ["chat", { text: "x".repeat(10_000) }, "too-long"],
    ];
    for (const [event, data, code] of refused) {
      expect(await bad.socket.emitWithAck(event, data), event).toMatchObject({ error: { code } });
    }
    expect(bad.log.items.filter(({ event }) => event === "error").length).toBe(refused.length);
    const refusal = bad.log.next(({ event }) => event === "error");
    bad.socket.io.engine.write('2[7,{"to":"nobody"}]');
    expect((await refusal).data).toMatchObject({ code: "bad-message", message: "The name of an event is a text" });
    const ended = new Promise((resolve) => bad.socket.once("disconnect", resolve));
    bad.socket.io.engine.write("9 is no packet of Socket.IO");
    await ended;
    expect((await fetch(`http://${webrtc.host}/socket.io/?EIO=4&transport=none`)).status).toBe(400);
    expect((await fetch(`http://${webrtc.host}/socket.io/?EIO=4&transport=polling&sid=unknown`)).status).toBe(400);
    const json = await joinJson(webrtc, "default");
    await bystander.log.until(({ event, data }) => event === "peer-joined" && (data as { id: string }).id === json.id);
    await expect.poll(() => webrtc.service.logs.map(({ text }) => text).join("\n")).toContain("Socket.IO client");
  });

  it("[WEBRTC-529] of an event with bytes Socket.IO is given its name and the number of the bytes, of which it waits for the last ones", async () => {
    const engine = new EventEmitter();
    const limits = { messageBytes: 65_536, messagesPerSecond: 1_000 };
    const turns = new WorkTurns();
    new SocketIoConnection(engine as never, turns.connection(""), {} as never, limits, {} as never);
    const given = (data?: string | Buffer) => {
      const packet = { type: "message", data };
      engine.emit("packet", packet);
      return packet.data;
    };
    expect(given(Buffer.alloc(65_000))).toHaveLength(0);
    const start = (name: string) => `510-7["${name}",{"_placeholder":true,"num":0}]`;
    expect(given(`510-7["signal",{"sdp":"${"x".repeat(60_000)}"}]`)).toBe(start("signal"));
    expect(given('510-7["a \\" b"]')).toBe(start('a \\" b'));
    expect(given('61-/,3[5,"x"]')).toBe('61-/,3[5,{"_placeholder":true,"num":0}]');
    for (const broken of [`510-["${"x".repeat(60_000)}"]`, `5${"1".repeat(60_000)}-["a"]`, `51-/${"x".repeat(60_000)},["a"]`])
      expect(given(broken)).toBe("5");
    expect(given('2["signal",{"to":"x"}]')).toBe('2["signal",{"to":"x"}]');
    expect(given()).toBeUndefined();
    turns.close();
    const webrtc = await startWebrtc();
    const { socket } = await connect(webrtc);
    expect(await socket.emitWithAck("signal", { sdp: Buffer.alloc(9), more: Buffer.alloc(9) })).toMatchObject({
      error: { code: "bad-message" },
    });
  });

  it("[WEBRTC-225] what a client connects with is refused where it is too deep", async () => {
    const webrtc = await startWebrtc({ messageBytes: 256 << 10 });
    const bystander = await connect(webrtc, { auth: { room: "r1" } });
    for (const levels of [50, 100_000]) {
      const got = await sendPackets(webrtc, [`40{"room":"r1","name":${"[".repeat(levels)}${"]".repeat(levels)}}`]);
      expect(got.join("\n")).toContain("is deeper than");
    }
    await connect(webrtc, { auth: { room: "r1" } });
    await bystander.until("peer-joined");
    expect(webrtc.service.logs.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("[WEBRTC-227] a client that asks for another namespace is told so and disconnected, at once where it asks again", async () => {
    const webrtc = await startWebrtc({ messageBytes: 256 << 10 });
    const bystander = await connect(webrtc);
    const one = await postPackets(webrtc, ["40/other,"]);
    expect(one).toMatchObject({ posted: 200, polled: 200, text: expect.stringContaining("Invalid namespace") });
    const many = await postPackets(
      webrtc,
      Array.from({ length: 40_000 }, () => "40/a,"),
    );
    expect(many.polled).toBe(400);
    await expect.poll(() => webrtc.service.logs.map(({ text }) => text).join("\n")).toContain("namespace");
    await connect(webrtc);
    await bystander.until("peer-joined");
  });

  it("[WEBRTC-485] JSONP is refused: a script has no Origin", async () => {
    const { host } = await startWebrtc();
    const answer = await fetch(`http://${host}/socket.io/?EIO=4&transport=polling&j=0`);
    expect([answer.status, await answer.text()]).toEqual([403, expect.not.stringContaining("sid")]);
  });

  it("[WEBRTC-226] packets of every kind count", async () => {
    const webrtc = await startWebrtc({ messagesPerSecond: 50 });
    for (const packet of ["3", "6"])
      expect((await postPackets(webrtc, ["40", ...Array.from({ length: 5_000 }, () => packet)])).polled, packet).toBe(400);
    expect((await postPackets(webrtc, ["40", '42["signal",{}]'])).polled).toBe(200);
  });

  it("[WEBRTC-226] a client that sends more messages a second than the limit is read no faster", async () => {
    const webrtc = await startWebrtc({ messagesPerSecond: 50 });
    const [one, other] = [await connect(webrtc), await connect(webrtc)];
    for (let number = 0; number < 120; number++) one.socket.emit("signal", { number });
    const numbers = () => other.log.items.flatMap(({ event, data }) => (event === "signal" ? [(data as { number: number }).number] : []));
    await expect.poll(() => numbers().length).toBe(120);
    expect(numbers()).toEqual(Array.from({ length: 120 }, (_, number) => number));
    await expect.poll(() => webrtc.service.logs.map(({ text }) => text).join("\n")).toContain("it is read no faster");
  });

  it("[WEBRTC-226] the frames of its WebSockets are read in turns, and joined to messages", async () => {
    const webrtc = await startWebrtc();
    const frame = (opcode: number, text: string) =>
      Buffer.concat([Buffer.from([opcode, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]);
    const open = async () => {
      const socket = createConnection(Number(webrtc.host.split(":").at(-1)), "127.0.0.1").resume();
      onEnd(() => void socket.destroy());
      const upgrade = [
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
      ];
      socket.write(`GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: a\r\n${upgrade.join("\r\n")}\r\n\r\n`);
      await once(socket, "data");
      return socket;
    };
    const sockets = await Promise.all(Array.from({ length: 100 }, open));
    // Of a message that is an event in the end.
    const fragments = Buffer.concat([frame(1, "40{"), ...Array.from({ length: 9_000 }, () => frame(0, " "))]);
    for (const socket of sockets) socket.write(fragments);
    let longestMs = 0;
    const last = sockets.at(-1);
    last?.write(frame(0x80, "}"));
    let isAnswered = false;
    last?.once("data", () => {
      isAnswered = true;
    });
    while (!isAnswered) {
      const from = process.threadCpuUsage();
      await nextTurn();
      const { user, system } = process.threadCpuUsage(from);
      longestMs = Math.max(longestMs, (user + system) / 1_000);
    }
    expect(longestMs).toBeLessThan(120);
  });

  it("[WEBRTC-226] over long polling such a client is disconnected", async () => {
    const webrtc = await startWebrtc({ messagesPerSecond: 50 });
    const [one, other] = [await connect(webrtc, { transports: ["polling"] }), await connect(webrtc)];
    const ended = new Promise((resolve) => one.socket.once("disconnect", resolve));
    for (let number = 0; number < 120; number++) one.socket.emit("signal", { number });
    await ended;
    await other.until("peer-left");
  });
});

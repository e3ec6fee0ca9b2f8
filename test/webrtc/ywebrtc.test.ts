import { once } from "node:events";
import type { Socket } from "node:net";
import { describe, expect, it, vi } from "vitest";
import { WebSocket } from "ws";
import { Connection } from "../../servers/core/turns/work-connection.ts";
import { onEnd } from "../support/start-service.ts";
import { connectWire, startWebrtc } from "./dialect-harness.ts";

describe("y-webrtc", () => {
  it("[WEBRTC-240] what is published on a topic reaches all subscribers, the sender too, with their number", async () => {
    const webrtc = await startWebrtc();
    const clients = [
      await connectWire(webrtc, "/y-webrtc"),
      await connectWire(webrtc, "/y-webrtc"),
      await connectWire(webrtc, "/y-webrtc"),
    ];
    const [one, other, outside] = clients as [(typeof clients)[0], (typeof clients)[0], (typeof clients)[0]];
    one.send({ type: "subscribe", topics: ["t1", "t2"] });
    other.send({ type: "subscribe", topics: ["t1"] });
    outside.send({ type: "subscribe", topics: ["t2"] });
    for (const client of clients) client.send({ type: "ping" });
    for (const client of clients) await client.until("pong");
    one.send({ type: "publish", topic: "t1", data: "encrypted", more: 1 });
    const message = { type: "publish", topic: "t1", data: "encrypted", more: 1, clients: 2 };
    expect(await one.until("publish")).toEqual(message);
    expect(await other.until("publish")).toEqual(message);
    other.send({ type: "unsubscribe", topics: ["t1"] });
    other.send({ type: "ping" });
    await other.log.next(({ type }) => type === "pong");
    one.send({ type: "publish", topic: "t1", data: 2 });
    expect(await one.log.until(({ data }) => data === 2)).toEqual({ type: "publish", topic: "t1", data: 2, clients: 1 });
    outside.send({ type: "ping" });
    await outside.log.next(({ type }) => type === "pong");
    expect(other.log.items.map(({ type }) => type)).toEqual(["welcome", "pong", "publish", "pong"]);
    expect(outside.log.items.map(({ type }) => type)).toEqual(["welcome", "pong", "pong"]);
  });

  it("[WEBRTC-246] a WebSocket at / speaks y-webrtc, and GET / is the page", async () => {
    const webrtc = await startWebrtc();
    const [atRoot, beside] = [await connectWire(webrtc, "/"), await connectWire(webrtc, "/y-webrtc")];
    for (const client of [atRoot, beside]) {
      client.send({ type: "subscribe", topics: ["t"] });
      client.send({ type: "ping" });
      await client.until("pong");
    }
    beside.send({ type: "publish", topic: "t", data: 1 });
    expect(await atRoot.until("publish")).toEqual({ type: "publish", topic: "t", data: 1, clients: 2 });
    const page = await fetch(`http://${webrtc.host}/`);
    expect(page.status).toBe(200);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const foreign = new WebSocket(`ws://${webrtc.host}/`, { origin: "https://other.example" });
    const [error] = (await once(foreign, "error")) as [Error];
    expect(error.message).toContain("403");
  });

  it("[WEBRTC-247] the first message is a welcome with the ICE servers", async () => {
    const webrtc = await startWebrtc();
    for (const target of ["/y-webrtc", "/"]) {
      const client = await connectWire(webrtc, target);
      client.send({ type: "ping" });
      await client.until("pong");
      const at = (await (await fetch(`http://${webrtc.host}/ice-servers`)).json()) as readonly { urls: string[] }[];
      const [stun, turn] = at.map(({ urls }) => urls);
      const credentials = { username: expect.stringMatching(/^\d+:.+/), credential: expect.stringMatching(/^[\w+/]+=*$/) };
      expect(client.log.items).toEqual([
        { type: "welcome", id: expect.any(String), iceServers: [{ urls: stun }, { urls: turn, ...credentials }] },
        { type: "pong" },
      ]);
    }
  });

  it.each([
    ["both messages in a packet", true, false],
    ["each message in a packet", false, false],
    ["announcements that wait for their turn longer than the client has to announce itself", true, true],
  ])(
    "[WEBRTC-248] of two that subscribe and announce themselves at once, one hears of the other: %s",
    async (_case, isOnePacket, isLate) => {
      const webrtc = await startWebrtc();
      if (isLate)
        vi.spyOn(Connection.prototype, "wait").mockImplementation((_ms, act) => {
          const over = setImmediate(act);
          return () => clearImmediate(over);
        });
      // A share, or a turn, is over after each step: what may be divided by turns is.
      let ahead = 0;
      const now = performance.now.bind(performance);
      vi.spyOn(performance, "now").mockImplementation(() => now() + ++ahead * (isLate ? 5 : 0.3));
      onEnd(() => void vi.restoreAllMocks());
      const heard: unknown[] = [];
      const sockets = [1, 2].map(() => new WebSocket(`ws://${webrtc.host}/y-webrtc`));
      onEnd(() => sockets.forEach((socket) => void socket.terminate()));
      await Promise.all(sockets.map((socket) => once(socket, "open")));
      const streams = sockets.map((socket) => (socket as unknown as { readonly _socket: Socket })._socket);
      const topics = ["t1", "t2"];
      for (const [index, socket] of sockets.entries()) {
        socket.on("message", (text) => {
          const { type, topic, data } = JSON.parse(String(text));
          if (type === "publish" && data !== index) heard.push(topic);
          else if (type === "pong") socket.emit("answered");
        });
        if (isOnePacket) streams[index]?.cork();
        socket.send(JSON.stringify({ type: "subscribe", topics }));
        for (const topic of topics) socket.send(JSON.stringify({ type: "publish", topic, data: index }));
      }
      if (isOnePacket) for (const stream of streams) stream.uncork();
      // The first answers say that all was published, the second ones that it has arrived.
      for (let round = 0; round < 2; round++) {
        const answers = sockets.map((socket) => once(socket, "answered"));
        for (const socket of sockets) socket.send('{"type":"ping"}');
        await Promise.all(answers);
      }
      expect(heard.sort()).toEqual(topics);
    },
  );

  it("[WEBRTC-241] a signal for a client that the service knows by its id goes to that client", async () => {
    const webrtc = await startWebrtc();
    const [one, other, third] = [
      await connectWire(webrtc, "/y-webrtc"),
      await connectWire(webrtc, "/y-webrtc"),
      await connectWire(webrtc, "/y-webrtc"),
    ];
    for (const [client, from] of [
      [one, "id-1"],
      [other, "id-2"],
      [third, "id-3"],
    ] as const) {
      client.send({ type: "subscribe", topics: ["t"] });
      client.send({ type: "publish", topic: "t", data: { type: "announce", from } });
      for (const receiver of [one, other, third])
        if (receiver === client) await receiver.log.until(({ data }) => (data as { from?: string } | undefined)?.from === from);
    }
    const data = { type: "signal", from: "id-2", to: "id-1", token: 1, signal: { type: "offer", sdp: "v=0" } };
    one.send({ type: "publish", topic: "t", data: { type: "announce", from: "id-1" } });
    await other.log.until(({ data: said }) => (said as { from?: string } | undefined)?.from === "id-1");
    other.send({ type: "publish", topic: "t", data });
    expect(await one.log.until(({ data: said }) => (said as { type?: string } | undefined)?.type === "signal")).toEqual({
      type: "publish",
      topic: "t",
      data,
      clients: 3,
    });
    third.send({ type: "ping" });
    await third.until("pong");
    expect(third.log.items.some(({ data: said }) => (said as { type?: string } | undefined)?.type === "signal")).toBe(false);
    const { outcome } = await webrtc.service.ended((row) => row.verb.toLowerCase() === "offer");
    expect(outcome).toBe("delivered");
  });

  it("[WEBRTC-540] who says the id of another client, or the identifier of a peer, takes nothing that is for them", async () => {
    const webrtc = await startWebrtc();
    const [alice, bob, eve] = [
      await connectWire(webrtc, "/y-webrtc"),
      await connectWire(webrtc, "/y-webrtc"),
      await connectWire(webrtc, "/y-webrtc"),
    ];
    const json = await connectWire(webrtc, "/ws");
    const { id } = await json.until("welcome");
    json.send({ type: "join", room: "t" });
    await json.until("joined");
    const say = (client: typeof alice, data: object) => client.send({ type: "publish", topic: "t", data });
    const announces = async (client: typeof alice, from: string) => {
      say(client, { type: "announce", from });
      const pongs = client.log.items.filter(({ type }) => type === "pong").length;
      client.send({ type: "ping" });
      await vi.waitUntil(() => client.log.items.filter(({ type }) => type === "pong").length > pongs);
    };
    const hears = (client: typeof alice, from: string) =>
      client.log.until(({ data }) => (data as { from?: string } | undefined)?.from === from);
    for (const client of [alice, bob, eve]) {
      client.send({ type: "subscribe", topics: ["t"] });
      client.send({ type: "ping" });
      await client.until("pong");
    }
    await announces(alice, "ALICE");
    await announces(eve, "ALICE");
    say(bob, { type: "signal", from: "BOB", to: "ALICE", signal: { type: "offer", sdp: "v=0" } });
    await hears(alice, "BOB");
    await announces(eve, id as string);
    say(bob, { type: "signal", from: "BOB", to: id, signal: { type: "offer", sdp: "v=0" } });
    await json.until("offer");
  });

  it("[WEBRTC-244] of a client the newest id in a topic is known, of those that are not too long", async () => {
    const webrtc = await startWebrtc({ nameLength: 20 });
    const [one, other] = [await connectWire(webrtc, "/y-webrtc"), await connectWire(webrtc, "/y-webrtc")];
    const long = "x".repeat(21);
    for (const client of [one, other]) client.send({ type: "subscribe", topics: ["t"] });
    other.send({ type: "ping" });
    await other.until("pong");
    for (const from of ["old", "new", long]) one.send({ type: "publish", topic: "t", data: { type: "announce", from } });
    await other.log.until(({ data }) => (data as { from?: string } | undefined)?.from === long);
    for (const to of ["old", long, "new"])
      other.send({ type: "publish", topic: "t", data: { type: "signal", from: "other", to, signal: { type: "offer", sdp: "v=0" } } });
    // Whom nobody is known to be is sought by the clients: the signal goes to all in the topic.
    const { target } = await webrtc.service.ended((row) => row.verb.toLowerCase() === "offer");
    expect(target).not.toBe("#t");
    expect(webrtc.service.rows().filter(({ verb, target }) => verb.toLowerCase() === "other" && target === "#t").length).toBe(5);
  });

  it("[WEBRTC-245] a message with several topics is recorded with one of them in each row", async () => {
    const webrtc = await startWebrtc();
    const client = await connectWire(webrtc, "/y-webrtc");
    const topics = ["t1", "t2", "t1", "t3"];
    for (const type of ["subscribe", "unsubscribe"]) client.send({ type, topics });
    client.send({ type: "ping" });
    await client.until("pong");
    const rows = (verb: string) => webrtc.service.rows().filter((row) => row.verb.toLowerCase() === verb);
    await expect.poll(() => rows("leave").length).toBe(3);
    expect(rows("join").map(({ target, preview }) => `${target} ${preview}`)).toEqual(
      ["t1", "t2", "t3"].map((topic) => `#${topic} ${JSON.stringify({ type: "subscribe", topics: [topic] })}`),
    );
  });

  it("[WEBRTC-242] a message that is none of the protocol gets an error, bytes end the connection, and others go on", async () => {
    const webrtc = await startWebrtc();
    const [bad, bystander] = [await connectWire(webrtc, "/y-webrtc"), await connectWire(webrtc, "/y-webrtc")];
    bystander.send({ type: "subscribe", topics: ["t"] });
    const deep = `${"[".repeat(50)}${"]".repeat(50)}`;
    const texts = [
      "",
      "[]",
      "{}",
      '{"type":"none"}',
      '{"type":"subscribe","topics":[1]}',
      '{"type":"publish"}',
      `{"type":"publish","topic":"t","data":${deep}}`,
    ];
    for (const text of texts) bad.send(text);
    bad.send({ type: "publish", topic: "t", data: 1 });
    bad.send({ type: "subscribe", topics: Array.from({ length: 1_000 }, (_, number) => `room ${number}`) });
    bad.send({ type: "ping" });
    await bad.until("pong");
    const codes = bad.log.items.flatMap(({ type, code }) => (type === "error" ? [code] : []));
    expect(codes).toEqual([...texts.map(() => "bad-message"), "not-in-room", "too-many-rooms"]);
    bad.send(Buffer.from([1]));
    expect((await bad.closed).code).toBe(1_003);
    bystander.send({ type: "publish", topic: "t", data: 1 });
    expect(await bystander.until("publish")).toEqual({ type: "publish", topic: "t", data: 1, clients: 1 });
  });
});

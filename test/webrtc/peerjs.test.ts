import { describe, expect, it } from "vitest";
import { OfflineQueue } from "../../servers/webrtc/dialects/peerjs/offline-queue.ts";
import { listOf } from "../../servers/webrtc/dialects/peerjs/peerjs-dialect.ts";
import { onEnd } from "../support/start-service.ts";
import { until } from "../support/until.ts";
import { connectWire, joinJson, openPeerJs, startWebrtc } from "./dialect-harness.ts";

const offer = {
  sdp: { type: "offer", sdp: "v=0\r\nm=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n" },
  type: "data",
  connectionId: "dc_1",
};

const opened = { type: "OPEN", payload: { iceServers: expect.any(Array) } };

describe("PeerJS", () => {
  it("[WEBRTC-200] gives identifiers over HTTP, to pages too, on the paths that clients use", async () => {
    const webrtc = await startWebrtc();
    const ids = new Set<string>();
    for (const path of ["/peerjs/id", "/peerjs/peerjs/id", "/otherkey/id"]) {
      const response = await fetch(`http://${webrtc.host}${path}?ts=1&version=1.5.5`, { headers: { Origin: "http://localhost:3000" } });
      expect(response.headers.get("access-control-allow-origin")).toBe("http://localhost:3000");
      ids.add(await response.text());
    }
    expect(ids.size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^[\da-f-]{36}$/);
    // A path of WHEP with the name of such a request.
    expect((await fetch(`http://${webrtc.host}/whep/id`, { method: "POST", body: "v=0" })).status).not.toBe(405);
  });

  it("[WEBRTC-201] opens a WebSocket with key, id and token; without one of them it is closed with ERROR", async () => {
    const webrtc = await startWebrtc();
    const client = await openPeerJs(webrtc, "anna");
    expect(client.log.items).toEqual([opened]);
    for (const query of ["id=a&token=b", "key=peerjs&token=b", "key=peerjs&id=a", "key=peerjs&id=&token=b", ""]) {
      const refused = await connectWire(webrtc, `/peerjs?${query}`);
      const msg = "No id, token, or key supplied to websocket server";
      expect(await refused.until("ERROR")).toEqual({ type: "ERROR", payload: { msg } });
      expect(await refused.closed).toEqual({ code: 1_008, reason: msg });
    }
    const long = await connectWire(webrtc, `/peerjs?key=peerjs&id=${"a".repeat(300)}&token=b`);
    expect(await long.until("ERROR")).toEqual({ type: "ERROR", payload: { msg: "An id or token has at most 200 characters" } });
    expect(client.log.items.length).toBe(1);
  });

  it("[WEBRTC-202] an identifier in use gives ID-TAKEN; with the same token the new connection takes its place", async () => {
    const webrtc = await startWebrtc();
    const first = await openPeerJs(webrtc, "anna", { token: "one" });
    const other = await connectWire(webrtc, "/peerjs?key=peerjs&id=anna&token=two");
    expect(await other.until("ID-TAKEN")).toEqual({ type: "ID-TAKEN", payload: { msg: "ID is taken" } });
    await other.closed;
    // The sender of the dashboard's messages.
    const asService = await connectWire(webrtc, "/peerjs?key=peerjs&id=service&token=three");
    expect(await asService.until("ID-TAKEN")).toEqual({ type: "ID-TAKEN", payload: { msg: "ID is taken" } });
    await asService.closed;
    const again = await openPeerJs(webrtc, "anna", { token: "one" });
    expect((await first.closed).code).toBe(1_001);
    const bert = await openPeerJs(webrtc, "bert");
    bert.send({ type: "OFFER", dst: "anna", payload: offer });
    expect(await again.until("OFFER")).toEqual({ type: "OFFER", src: "bert", dst: "anna", payload: offer });
  });

  it("[WEBRTC-203] passes messages on to dst, unchanged but for src", async () => {
    const webrtc = await startWebrtc();
    const [anna, bert] = [await openPeerJs(webrtc, "anna"), await openPeerJs(webrtc, "bert")];
    for (const type of ["OFFER", "ANSWER", "CANDIDATE", "LEAVE", "EXPIRE"]) {
      anna.send({ type, dst: "bert", src: "somebody else", payload: { ...offer, more: [type] }, extra: 1 });
      expect(await bert.until(type)).toEqual({ type, dst: "bert", src: "anna", payload: { ...offer, more: [type] }, extra: 1 });
    }
    anna.send({ type: "HEARTBEAT" });
    anna.send({ type: "LEAVE" });
    await anna.closed;
    expect(anna.log.items).toEqual([opened]);
  });

  it("[WEBRTC-204] messages for a client that is not connected wait, in order; if it does not come, the sender gets EXPIRE once", async () => {
    const webrtc = await startWebrtc({ offlineSeconds: 1 });
    const anna = await openPeerJs(webrtc, "anna");
    const late = ["OFFER", "CANDIDATE", "CANDIDATE"].map((type, number) => ({ type, dst: "bert", payload: { number } }));
    for (const message of late) anna.send(message);
    anna.send({ type: "OFFER", dst: "nobody", payload: offer });
    anna.send({ type: "CANDIDATE", dst: "nobody", payload: {} });
    anna.send({ type: "LEAVE", dst: "nobody" });
    await webrtc.service.ended((row) => row.verb === "OTHER" || row.verb === "other");
    const bert = await openPeerJs(webrtc, "bert");
    await bert.log.until(({ payload }) => (payload as { number?: number } | undefined)?.number === 2);
    expect(bert.log.items).toEqual([opened, ...late.map((message) => ({ ...message, src: "anna" }))]);
    await anna.until("EXPIRE");
    bert.send({ type: "ANSWER", dst: "anna", payload: {} });
    await anna.until("ANSWER");
    expect(anna.log.items).toEqual([
      opened,
      { type: "EXPIRE", src: "nobody", dst: "anna" },
      { type: "ANSWER", src: "bert", dst: "anna", payload: {} },
    ]);
  });

  it("[WEBRTC-204] many messages that waited arrive in order, before those that follow", async () => {
    const webrtc = await startWebrtc({ offlineSeconds: 600 });
    const anna = await openPeerJs(webrtc, "anna");
    const send = (from: number, to: number) => {
      for (let number = from; number < to; number++) anna.send({ type: "OFFER", dst: "bert", payload: { number } });
    };
    send(0, 1_000);
    anna.send({ type: "LEAVE", dst: "nobody" });
    await webrtc.service.ended((row) => row.verb.toLowerCase() === "other");
    const bert = await openPeerJs(webrtc, "bert");
    send(1_000, 1_100);
    await bert.log.until(({ payload }) => (payload as { number?: number } | undefined)?.number === 1_099);
    expect(bert.log.items.slice(1).map(({ payload }) => (payload as { number: number }).number)).toEqual(
      Array.from({ length: 1_100 }, (_, number) => number),
    );
  });

  it("[WEBRTC-204] no more messages wait than the limits allow", async () => {
    const webrtc = await startWebrtc({ offlineMessages: 2, offlineSeconds: 600 });
    const anna = await openPeerJs(webrtc, "anna");
    for (let number = 0; number < 3; number++) anna.send({ type: "OFFER", dst: "bert", payload: { number } });
    expect(await anna.until("EXPIRE")).toEqual({ type: "EXPIRE", src: "bert", dst: "anna" });
    const bert = await openPeerJs(webrtc, "bert");
    await bert.log.until(({ payload }) => (payload as { number?: number } | undefined)?.number === 1);
    expect(bert.log.items.length).toBe(3);
  });

  it("[WEBRTC-204] what waits counts with its text, its identifiers and what waiting costs, until it is taken or its sender is told", async () => {
    const expired: string[] = [];
    const text = Buffer.alloc(500, "x");
    // Each counts 1,300 and 500 bytes, and twice the length of both identifiers.
    const one = 1_800 + 2 * (4 + 4);
    const queue = new OfflineQueue({ holdMs: 20, messages: 100, bytes: 3 * one, onExpired: ({ dst }) => void expired.push(dst) });
    onEnd(() => queue.close());
    for (const dst of ["ben1", "ben2", "ben2"]) queue.add(dst, "anna", text, "10.0.0.1");
    expect([queue.heldBytes, expired]).toEqual([3 * one, []]);
    queue.add("b", "anna", text, "10.0.0.1");
    expect([queue.heldBytes, expired]).toEqual([3 * one, ["b"]]);
    for (let taken = 0; taken < 2; taken++) expect(queue.take("ben2")).toEqual({ src: "anna", text });
    expect(queue.take("ben2")).toBe(undefined);
    expect(queue.heldBytes).toBe(one);
    // Long identifiers count too.
    queue.add("x".repeat(2_000), "anna", text, "10.0.0.1");
    expect([queue.heldBytes, expired.at(-1)?.length]).toEqual([one, 2_000]);
    queue.add("ben3", "anna", text, "10.0.0.1");
    await until(() => expired.includes("ben1") && expired.includes("ben3"));
    expect(queue.heldBytes).toBe(0);
  });

  it("[WEBRTC-538] where too many messages wait, who has most of them loses some, and not who comes with a few", () => {
    const expired: string[] = [];
    const queue = new OfflineQueue({
      ...{ holdMs: 600_000, messages: 10, bytes: 1 << 20 },
      onExpired: ({ src, text }) => void expired.push(`${src} ${text}`),
    });
    onEnd(() => queue.close());
    const add = (src: string, number: number, address: string) => queue.add("nobody", src, Buffer.from(String(number)), address);
    for (let number = 0; number < 12; number++) add("anna", number, "10.0.0.1");
    expect(expired).toEqual(["anna 10", "anna 11"]);
    // One client may have several connections.
    for (const src of ["adam", "ada"]) add(src, 0, "10.0.0.1");
    for (let number = 0; number < 3; number++) add("bert", number, "10.0.0.2");
    expect(expired.slice(2)).toEqual([9, 8, 7, 6, 5].map((number) => `anna ${number}`));
    const waiting = Array.from({ length: 11 }, () => queue.take("nobody")).flatMap((one) => (one ? [`${one.src} ${one.text}`] : []));
    expect(waiting).toEqual([...[0, 1, 2, 3, 4].map((number) => `anna ${number}`), "adam 0", "ada 0", "bert 0", "bert 1", "bert 2"]);
    expect(queue.heldBytes).toBe(0);
  });

  it("[WEBRTC-204] beyond the bytes that may wait, messages expire at once", async () => {
    const webrtc = await startWebrtc({ offlineBytes: 6_000, offlineSeconds: 600 });
    const anna = await openPeerJs(webrtc, "anna");
    for (let number = 0; number < 5; number++) anna.send({ type: "OFFER", dst: "bert", payload: { number } });
    expect(await anna.until("EXPIRE")).toEqual({ type: "EXPIRE", src: "bert", dst: "anna" });
    const bert = await openPeerJs(webrtc, "bert");
    await bert.log.until(({ payload }) => (payload as { number?: number } | undefined)?.number === 3);
    expect(bert.log.items.length).toBe(5);
  });

  it("[WEBRTC-205] a key is a room, with a password behind a colon; a wrong one gives INVALID-KEY", async () => {
    const webrtc = await startWebrtc();
    await openPeerJs(webrtc, "anna", { key: "r1:secret" });
    await openPeerJs(webrtc, "bert", { key: "r1:secret" });
    for (const key of ["r1", "r1:wrong"]) {
      const refused = await connectWire(webrtc, `/peerjs?key=${key}&id=carl&token=t`);
      expect(await refused.until("INVALID-KEY")).toMatchObject({
        type: "INVALID-KEY",
        payload: { msg: expect.stringContaining("password") },
      });
      await refused.closed;
    }
    await openPeerJs(webrtc, "dora");
    await openPeerJs(webrtc, "emil", { key: "r2" });
    const json = await joinJson(webrtc, "r2");
    const listed = async (path: string) => (await fetch(`http://${webrtc.host}${path}`)).json();
    expect(await listed("/peerjs/peers")).toEqual(["dora"]);
    expect(await listed("/r2/peers")).toEqual(["emil", json.id]);
    expect((await fetch(`http://${webrtc.host}/r1/peers`)).status).toBe(401);
    expect(await listed("/none/peers")).toEqual([]);
  });

  it("[WEBRTC-208] the room of clients without a key of their own has the limit of all peers, not that of a room", async () => {
    const webrtc = await startWebrtc({ roomPeers: 2 });
    for (const id of ["anna", "bert", "carl"]) await openPeerJs(webrtc, id);
    for (const id of ["dora", "emil"]) await openPeerJs(webrtc, id, { key: "r1" });
    const refused = await connectWire(webrtc, "/peerjs?key=r1&id=fritz&token=t");
    expect(await refused.until("INVALID-KEY")).toMatchObject({ payload: { msg: "A room has at most 2 peers" } });
    await refused.closed;
    // Who names that room has its limit.
    const json = await connectWire(webrtc, "/ws");
    json.send({ type: "join", room: "default" });
    expect(await json.until("error")).toMatchObject({ code: "room-full" });
  });

  it("[WEBRTC-209] the paths of WHEP and WHIP are no keys, also where they are switched off", async () => {
    for (const media of [true, false]) {
      const webrtc = await startWebrtc({ media });
      for (const path of ["/whep/peers", "/whip/peers", "/whep/id", "/whip/id"])
        expect((await fetch(`http://${webrtc.host}${path}`)).status).toBe(media ? 405 : 404);
    }
  });

  it("[WEBRTC-206] ICE servers with credentials are at /ice-servers", async () => {
    const webrtc = await startWebrtc();
    const response = await fetch(`http://${webrtc.host}/ice-servers`);
    expect(response.headers.get("cache-control")).toBe("no-store");
    const [stun, turn] = (await response.json()) as { urls: string[]; username?: string; credential?: string }[];
    expect(stun?.urls[0]).toMatch(/^stun:127\.0\.0\.1:\d+$/);
    expect(turn?.urls[0]).toMatch(/^turn:127\.0\.0\.1:\d+\?transport=udp$/);
    expect(turn?.username).toMatch(/^\d+:.+/);
    expect(turn?.credential).toMatch(/^[\w+/]+=*$/);
  });

  it("[WEBRTC-211] OPEN has the ICE servers with credentials of the client's name", async () => {
    const webrtc = await startWebrtc();
    const client = await openPeerJs(webrtc, "anna");
    const { iceServers } = (await client.until("OPEN")).payload as { iceServers: readonly { urls: string[]; username?: string }[] };
    const at = (await (await fetch(`http://${webrtc.host}/ice-servers`)).json()) as typeof iceServers;
    expect(iceServers.map(({ urls }) => urls)).toEqual(at.map(({ urls }) => urls));
    expect(iceServers[1]?.username).toMatch(/^\d+:anna$/);
    const without = await startWebrtc({ turn: false });
    expect(await (await openPeerJs(without, "anna")).until("OPEN")).toEqual({ type: "OPEN", payload: { iceServers: [] } });
  });

  it("[WEBRTC-207] a message that is no message of PeerJS gets ERROR, bytes end the connection, and others go on", async () => {
    const webrtc = await startWebrtc();
    const [anna, bert, bystander] = [
      await openPeerJs(webrtc, "anna"),
      await openPeerJs(webrtc, "bert"),
      await openPeerJs(webrtc, "bystander"),
    ];
    const deep = `${"[".repeat(50)}${"]".repeat(50)}`;
    const bad = [
      "",
      "null",
      "[]",
      "{",
      '"OFFER"',
      '{"type":"NONE"}',
      '{"type":"OFFER"}',
      '{"type":"OFFER","dst":7}',
      `{"type":"OFFER","dst":"bert","payload":${deep}}`,
    ];
    for (const text of bad) anna.send(text);
    anna.send({ type: "OFFER", dst: "bert", payload: "after" });
    expect(await bert.until("OFFER")).toMatchObject({ payload: "after" });
    expect(anna.log.items.filter(({ type }) => type === "ERROR").length).toBe(bad.length);
    anna.send(Buffer.from([1, 2, 3]));
    expect((await anna.closed).code).toBe(1_003);
    bert.send("x".repeat(300_000));
    expect((await bert.closed).code).toBe(1_009);
    bystander.send({ type: "OFFER", dst: "bystander", payload: offer });
    expect(await bystander.until("OFFER")).toMatchObject({ src: "bystander" });
  });
});

it("[WEBRTC-524] the list of peers is made in steps", () => {
  const ids = Array.from({ length: 1_000 }, (_, index) => `\u0001${index}`);
  const steps = listOf(ids);
  let count = 0;
  let text = "";
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) {
      text = step.value;
      break;
    }
    count++;
  }
  expect(count).toBe(20);
  expect(JSON.parse(text)).toEqual(ids);
  expect(listOf([]).next().value).toBe("[]");
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import os from "node:os";
import { describe, expect, it } from "vitest";
import { AddressPlaces } from "../../servers/core/limits/address-places.ts";
import { createLog } from "../../servers/core/service/log.ts";
import type { PeerServices } from "../../servers/core/streams/peer-client.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { createDtlsCertificate } from "../../servers/webrtc/media/dtls/dtls-certificate.ts";
import { MediaSessions } from "../../servers/webrtc/media/sessions/media-sessions.ts";
import { MediaPort } from "../../servers/webrtc/media/transport/media-port.ts";
import { onEnd } from "../support/start-service.ts";
import { until } from "../support/until.ts";
import { startMediaServices } from "./media-harness.ts";
import { playerOffer, publisherOffer } from "./media-offers.ts";
import { MediaPeer } from "./media-peer.ts";

/** Waits for so many packets more. */
async function more(peer: MediaPeer, packets = 20): Promise<void> {
  const before = peer.video.packets;
  await until(() => peer.video.packets >= before + packets);
}

describe("a session of media", () => {
  it("[WEBRTC-340] ends when its client is gone without a word, and one that still makes its checks plays on", async () => {
    const services = await startMediaServices({ webrtc: { consentSeconds: 5 } });
    const [gone, bystander] = [await MediaPeer.play(services, "stream"), await MediaPeer.play(services, "stream")];
    await more(gone);
    gone.vanish();
    expect(await services.ended(gone)).toMatchObject({
      outcome: "the client is gone: its consent has expired, with no check of ICE for 5 s",
      tone: "neutral",
    });
    await more(bystander);
    await until(() => services.webrtc.views.get("media")?.sessions.length === 1);
    expect((await gone.end()).status).toBe(404);
  });

  it("[WEBRTC-560] each player counts as a reader of its path at the RTSP service", async () => {
    const services = await startMediaServices();
    const readers = () => services.rtsp.views.get("paths")?.paths.find(({ name }) => name === "stream")?.readers;
    const frameRate = () => services.rtsp.views.get("paths")?.paths.find(({ name }) => name === "stream")?.frameRate;
    const peers = await Promise.all([1, 2, 3].map(() => MediaPeer.play(services, "stream")));
    await until(() => readers() === 3);
    await peers[0]?.end();
    await until(() => readers() === 2);
    await Promise.all([peers[1]?.end(), peers[2]?.end()]);
    await until(() => readers() === 0 && frameRate() === 0);
    const again = await MediaPeer.play(services, "stream");
    await more(again);
    await until(() => readers() === 1);
  });

  it("[WEBRTC-340] goes on after the service stood still for as long: what has come in the meantime counts", async () => {
    const services = await startMediaServices({ webrtc: { consentSeconds: 5 } });
    const peer = await MediaPeer.play(services, "stream");
    await more(peer);
    const sent: Buffer[] = [];
    const { send } = peer;
    peer.send = (datagram) => void sent.push(datagram);
    peer.check();
    peer.send = send;
    const script = `setTimeout(() => {
      const socket = require("node:dgram").createSocket("udp4");
      socket.send(Buffer.from("${sent[0]?.toString("hex")}", "hex"), ${peer.port}, "127.0.0.1", () => socket.close());
    }, 3_000); console.log("");`;
    const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    const ended = once(child, "exit");
    await once(child.stdout, "data");
    // Nothing happens in this process until then, neither timers nor sockets.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 6_000);
    await ended;
    await more(peer);
    await until(() => services.webrtc.views.get("media")?.sessions.length === 1);
  });

  it("[WEBRTC-341] goes on from another address of the client after an ICE restart; the earlier credentials end with it", async () => {
    const services = await startMediaServices();
    const peer = await MediaPeer.play(services, "stream");
    await more(peer);
    const before = peer.credentials;
    const restart = await peer.patch("a=ice-ufrag:efgh\r\na=ice-pwd:abcdefghijklmnopqrstuvwx\r\n", "*");
    expect([restart.status, restart.headers.get("etag") === peer.etag]).toEqual([200, false]);
    // Until it uses the new ones, the session is as it was.
    await more(peer);
    await peer.moveTo(await restart.text());
    expect(peer.credentials).not.toEqual(before);
    await more(peer);
    const [earlier, present] = [peer.check(before), peer.check()];
    await until(() => peer.hasAnswer(present));
    expect(peer.hasAnswer(earlier)).toBe(false);
    expect((await peer.patch("a=candidate:1 1 udp 2130706431 192.0.2.7 5000 typ host\r\n", peer.etag)).status).toBe(412);
    peer.close();
    expect(await services.ended(peer)).toMatchObject({ outcome: "the client has closed it", tone: "neutral" });
  });

  it("[WEBRTC-342] has the addresses of this computer where it is open to the LAN, the public one first; else loopback alone", async () => {
    const hosts = (answer: string) => [...answer.matchAll(/a=candidate:\S+ 1 udp (\d+) (\S+) \d+ typ host/g)];
    const closed = await startMediaServices({ webrtc: { relayAddress: "203.0.113.7" } });
    const inner = hosts(await (await closed.offer("/whep/stream", playerOffer())).text()).map(([, , address]) => address);
    expect(inner.every((address) => address === "127.0.0.1" || address === "::1")).toBe(true);
    const open = await startMediaServices({ webrtc: { relayAddress: "203.0.113.7", openToLan: true } });
    const found = hosts(await (await open.offer("/whep/stream", playerOffer())).text());
    const addresses = found.map(([, , address]) => address);
    const own = Object.values(os.networkInterfaces()).flatMap((list) => list ?? []);
    const outer = own.filter(({ internal, family }) => !internal && family === "IPv4").map(({ address }) => address);
    expect(addresses[0]).toBe("203.0.113.7");
    expect(addresses).toEqual(expect.arrayContaining([...outer, "127.0.0.1"]));
    const priorities = found.map(([, priority]) => Number(priority));
    expect(priorities).toEqual([...new Set(priorities)].sort((left, right) => right - left));
  });

  it("[WEBRTC-343] sixteen players of a path get its pictures from one stream of the RTSP service, each with numbers of its own", async () => {
    const services = await startMediaServices();
    // One after the other: all of them at once take longer for their handshakes than a busy machine has.
    const peers: MediaPeer[] = [];
    while (peers.length < 16) peers.push(await MediaPeer.play(services, "stream"));
    for (const peer of peers) await until(() => peer.video.packets > 30 && peer.audio.packets > 5);
    expect(new Set(peers.map(({ video }) => video.ssrc)).size).toBe(16);
    await until(() => services.webrtc.views.get("media")?.sessions.filter(({ state }) => state === "connected").length === 16);
    await until(() => services.rtsp.views.get("paths")?.paths.find(({ name }) => name === "stream")?.readers === 16);
    for (const peer of peers.slice(1)) peer.close();
    await until(() => services.webrtc.views.get("media")?.sessions.length === 1);
    await more(peers[0] as MediaPeer);
  });

  it("[WEBRTC-345] offers that never connect are bounded by the limit, end after their time, and then others play", async () => {
    const services = await startMediaServices({ webrtc: { viewers: 5, publishers: 2, mediaConnectSeconds: 8 } });
    const statuses = async (path: string, offer: string, count: number) => {
      const answers = await Promise.all(Array.from({ length: count }, () => services.offer(path, offer)));
      for (const answer of answers) if (answer.status === 503) expect(answer.headers.get("retry-after")).toBe("5");
      return answers.map(({ status }) => status).sort();
    };
    expect(await statuses("/whep/stream", playerOffer(), 8)).toEqual([...Array(5).fill(201), ...Array(3).fill(503)]);
    expect(await statuses("/whip/new", publisherOffer(), 4)).toEqual([...Array(2).fill(201), ...Array(2).fill(503)]);
    await until(() => services.webrtc.rows().filter(({ kind, tone }) => kind === "webrtc-media" && tone === "failed").length === 7);
    await until(() => services.webrtc.views.get("media")?.sessions.length === 0);
    // Nothing was published: nobody has the path.
    expect(services.rtsp.views.get("paths")?.paths.some(({ name }) => name === "new")).toBe(false);
    await more(await MediaPeer.play(services, "stream"));
  });

  it("[WEBRTC-491] where all places are taken, the address that has most gives way to another one: one that is not connected, else the newest", () => {
    const session = (address: string, state: "connected" | "waiting") => ({
      client: { remote: `${address}:1`, address, userAgent: "" },
      state,
    });
    const connected = Array.from({ length: 3 }, () => session("192.0.2.1", "connected"));
    const waiting = session("192.0.2.1", "waiting");
    const other = session("192.0.2.2", "connected");
    const givingWay = (address: string, ...sessions: readonly ReturnType<typeof session>[]) => {
      const places = new AddressPlaces<ReturnType<typeof session>>();
      // One that has left has no place any more.
      const gone = session("192.0.2.1", "waiting");
      for (const one of [gone, ...sessions, ...sessions]) places.add(one.client.address, one);
      for (const one of sessions) if (one.state === "connected") places.use(one);
      places.remove(gone);
      expect(places.size).toBe(sessions.length);
      return places.givingWay(address);
    };
    expect(givingWay("192.0.2.2", ...connected, waiting, other)).toBe(waiting);
    expect(givingWay("192.0.2.2", ...connected, other)).toBe(connected[2]);
    expect(givingWay("192.0.2.3", ...connected, other)).toBe(connected[2]);
    expect(givingWay("192.0.2.2", ...connected.slice(1), other)).toBeUndefined();
    expect(givingWay("192.0.2.1", ...connected, waiting)).toBeUndefined();
  });

  it("[WEBRTC-491] whoever may not play takes no place from anybody", async () => {
    const log = createLog({ level: () => "error", write: () => {} });
    const port = await MediaPort.listen({
      port: 0,
      openToLan: false,
      publicAddress: "",
      requestsPerSecond: 1_000,
      turns: new WorkTurns(),
      onStop: onEnd,
      log,
    });
    const track = { kind: "video", codec: "h264", clockRate: 90_000, channels: 1, format: "" };
    const services = {
      call: async (_provided: unknown, _name: string, { address }: { readonly address: string }) =>
        address === "192.0.2.9"
          ? { kind: "refused", status: 401, reason: "wrong password", challenges: [] }
          : { kind: "accepted", tracks: [track], leftOut: [] },
    } as never;
    const sessions = new MediaSessions({
      ...{ port, services, certificate: await createDtlsCertificate() },
      limits: {
        ...{ viewers: 2, publishers: 1, keptBytes: 0, allKeptBytes: 1, packetBytes: 1_200 },
        ...{ connectMs: 60_000, consentMs: 1_000, keyFrameMs: 1_000, publisherBitRate: 1_000 },
      },
      observer: { opened() {}, changed() {}, ended() {} },
      turns: new WorkTurns(),
    });
    onEnd(() => sessions.close("the test ends"));
    const play = (address: string) =>
      sessions.play({
        path: "a",
        offer: playerOffer(),
        authorization: undefined,
        inTurn: async (act) => act(),
        client: { remote: `${address}:1`, address, userAgent: "" },
      });
    const addresses = () => sessions.list().map(({ client }) => client.address);
    for (let count = 0; count < 2; count++) await play("192.0.2.1");
    await expect(play("192.0.2.1")).rejects.toMatchObject({ status: 503 });
    await expect(play("192.0.2.9")).rejects.toMatchObject({ status: 401 });
    expect(addresses()).toEqual(["192.0.2.1", "192.0.2.1"]);
    await play("192.0.2.2");
    expect(addresses()).toEqual(["192.0.2.1", "192.0.2.2"]);
    await expect(play("192.0.2.3")).rejects.toMatchObject({ status: 503 });
  });

  it("[WEBRTC-491] whoever may not publish takes no place from anybody, and the address with most publishers gives way", async () => {
    const log = createLog({ level: () => "error", write: () => {} });
    const port = await MediaPort.listen({
      port: 0,
      openToLan: false,
      publicAddress: "",
      requestsPerSecond: 1_000,
      turns: new WorkTurns(),
      onStop: onEnd,
      log,
    });
    const services = {
      call: async (_provided: unknown, _name: string, { address }: { readonly address: string }) =>
        address === "192.0.2.9" ? { kind: "refused", status: 401, reason: "wrong password", challenges: [] } : { kind: "accepted" },
    } as never;
    const ended: string[] = [];
    const sessions = new MediaSessions({
      ...{ port, services, certificate: await createDtlsCertificate() },
      limits: {
        ...{ viewers: 1, publishers: 2, keptBytes: 0, allKeptBytes: 1, packetBytes: 1_200 },
        ...{ connectMs: 60_000, consentMs: 1_000, keyFrameMs: 1_000, publisherBitRate: 1_000 },
      },
      observer: { opened() {}, changed() {}, ended: ({ client }) => void ended.push(client.address) },
      turns: new WorkTurns(),
    });
    onEnd(() => sessions.close("the test ends"));
    const publish = (address: string) =>
      sessions.publish({
        path: "a",
        offer: publisherOffer(),
        authorization: undefined,
        inTurn: async (act) => act(),
        client: { remote: `${address}:1`, address, userAgent: "" },
      });
    const addresses = () => sessions.list().map(({ client }) => client.address);
    for (let count = 0; count < 2; count++) await publish("192.0.2.1");
    await expect(publish("192.0.2.1")).rejects.toMatchObject({ status: 503 });
    await expect(publish("192.0.2.9")).rejects.toMatchObject({ status: 401 });
    expect(addresses()).toEqual(["192.0.2.1", "192.0.2.1"]);
    // Both ask before one has its place.
    const [first, second] = await Promise.allSettled([publish("192.0.2.2"), publish("192.0.2.3")]);
    expect([first.status, second.status]).toEqual(["fulfilled", "rejected"]);
    expect(addresses()).toEqual(["192.0.2.1", "192.0.2.2"]);
    expect(ended).toEqual(["192.0.2.1"]);
  });

  it("[WEBRTC-346] a publisher that the RTSP service ends before its offer is answered gets 503, and leaves nothing", async () => {
    const log = createLog({ level: () => "error", write: () => {} });
    const port = await MediaPort.listen({
      port: 0,
      openToLan: false,
      publicAddress: "",
      requestsPerSecond: 1_000,
      turns: new WorkTurns(),
      onStop: onEnd,
      log,
    });
    const services: PeerServices = {
      async call(_provided: unknown, _name: string, { session }: { readonly session: string }) {
        await sessions.handlers.calls.publishEnded({ session, reason: "the path is taken" });
        return { kind: "accepted" };
      },
    } as never;
    const sessions = new MediaSessions({
      ...{ port, services, certificate: await createDtlsCertificate() },
      limits: {
        ...{ viewers: 1, publishers: 1, keptBytes: 0, allKeptBytes: 1, packetBytes: 1_200 },
        ...{ connectMs: 1_000, consentMs: 1_000, keyFrameMs: 1_000, publisherBitRate: 1_000 },
      },
      observer: { opened() {}, changed() {}, ended() {} },
      turns: new WorkTurns(),
    });
    onEnd(() => sessions.close("the test ends"));
    const client = { remote: "127.0.0.1:1", address: "127.0.0.1", userAgent: "" };
    const opening = sessions.publish({
      path: "live",
      offer: publisherOffer(),
      authorization: undefined,
      client,
      inTurn: async (act) => act(),
    });
    await expect(opening).rejects.toMatchObject({ status: 503, message: expect.stringContaining("the path is taken") });
    expect(sessions.list()).toEqual([]);
  });

  it("[WEBRTC-522] an offer is read when it is the turn of its client", async () => {
    const log = createLog({ level: () => "error", write: () => {} });
    const port = await MediaPort.listen({
      port: 0,
      openToLan: false,
      publicAddress: "",
      requestsPerSecond: 1_000,
      turns: new WorkTurns(),
      onStop: onEnd,
      log,
    });
    const played = { kind: "playing", tracks: [], leftOut: [] };
    const sessions = new MediaSessions({
      ...{ port, services: { call: async () => played } as never, certificate: await createDtlsCertificate() },
      limits: {
        ...{ viewers: 1, publishers: 1, keptBytes: 0, allKeptBytes: 1, packetBytes: 1_200 },
        ...{ connectMs: 60_000, consentMs: 1_000, keyFrameMs: 1_000, publisherBitRate: 1_000 },
      },
      observer: { opened() {}, changed() {}, ended() {} },
      turns: new WorkTurns(),
    });
    onEnd(() => sessions.close("the test ends"));
    const client = { remote: "127.0.0.1:1", address: "127.0.0.1", userAgent: "" };
    for (const open of ["play", "publish"] as const) {
      const comes = Promise.withResolvers<void>();
      let isRefused = false;
      const opening = sessions[open]({
        path: "live",
        offer: "none",
        authorization: undefined,
        client,
        inTurn: (act) => comes.promise.then(act),
      });
      opening.catch(() => (isRefused = true));
      for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
      expect(isRefused).toBe(false);
      comes.resolve();
      await expect(opening).rejects.toMatchObject({ status: 400 });
    }
  });

  it("[WEBRTC-347] is found by its identifier, protocol and path alone: DELETE and PATCH of another get 404", async () => {
    const services = await startMediaServices();
    const peer = await MediaPeer.play(services, "stream");
    const headers = { "content-type": "application/trickle-ice-sdpfrag", "if-match": peer.etag };
    const body = "a=candidate:1 1 udp 2130706431 192.0.2.7 5000 typ host\r\n";
    const id = peer.url.split("/").at(-1) ?? "";
    const refusalOf = async (url: string, method: string) => {
      const answer = await fetch(url, { method });
      if (method !== "HEAD") expect(await answer.json()).toMatchObject({ status: 405, title: "Method Not Allowed" });
      return [answer.status, answer.headers.get("allow")];
    };
    const wrong = [
      peer.url.replace(/.$/, (last) => (last === "0" ? "1" : "0")),
      peer.url.replace("/whep/", "/whip/"),
      peer.url.replace("/stream/", "/test/"),
      `${services.url}/whep/${id}/${id}`,
    ];
    for (const url of wrong) {
      expect((await fetch(url, { method: "DELETE" })).status).toBe(404);
      expect((await fetch(url, { method: "PATCH", headers, body })).status).toBe(404);
    }
    // What is no identifier is a part of the path, where offers are sent.
    for (const url of [`${services.url}/whep/stream/other`, `${services.url}/whep/stream`])
      for (const method of ["DELETE", "PATCH", "GET", "HEAD", "PUT"]) expect(await refusalOf(url, method)).toEqual([405, "POST, OPTIONS"]);
    for (const method of ["GET", "HEAD", "PUT", "POST"]) expect(await refusalOf(peer.url, method)).toEqual([405, "PATCH, DELETE, OPTIONS"]);
    await more(peer);
    // RFC 9725 §4.3.1: DELETE ignores If-Match.
    expect((await fetch(peer.url, { method: "DELETE", headers: { "if-match": '"other"' } })).status).toBe(200);
    await until(() => peer.isClosed);
  });
});

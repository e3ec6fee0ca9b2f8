import { createSocket } from "node:dgram";
import { once } from "node:events";
import { expect, it } from "vitest";
import { until } from "../support/until.ts";
import { header, onEnd, type RawClient, startRtsp, tcpTransport } from "./harness.ts";

const statusOf = async (client: RawClient, ...request: Parameters<RawClient["request"]>) => (await client.request(...request)).status;

it("[RTSP-3] OPTIONS names the methods, for a stream, the server and *", async () => {
  const client = await (await startRtsp()).connect();
  for (const target of ["*", "/stream", "/", client.url]) {
    const answer = await client.request("OPTIONS", target);
    expect([answer.status, answer.version, header(answer, "CSeq")]).toEqual([200, "RTSP/1.0", String(client.responses.length)]);
    expect(header(answer, "Public").split(", ")).toEqual(
      expect.arrayContaining(["DESCRIBE", "SETUP", "PLAY", "PAUSE", "RECORD", "TEARDOWN"]),
    );
  }
});

it("[RTSP-4] DESCRIBE answers with the description of the stream and the base of its tracks", async () => {
  const client = await (await startRtsp()).connect();
  const answer = await client.request("DESCRIBE", "/stream", { Accept: "application/sdp" });
  expect([answer.status, header(answer, "Content-Type"), header(answer, "Content-Base")]).toEqual([
    200,
    "application/sdp",
    `${client.url}/stream/`,
  ]);
  const lines = answer.body.toString().split("\r\n");
  expect(lines).toEqual(
    expect.arrayContaining([
      "v=0",
      "m=video 0 RTP/AVP 96",
      "a=rtpmap:96 H264/90000",
      "a=control:trackID=0",
      "m=audio 0 RTP/AVP 97",
      "a=control:trackID=1",
    ]),
  );
  expect(lines.join("\n")).toMatch(/a=fmtp:96 packetization-mode=1;profile-level-id=[0-9a-f]{6};sprop-parameter-sets=[\w+/=]+,[\w+/=]+\n/);
  expect(lines.join("\n")).toMatch(/a=rtpmap:97 mpeg4-generic\/48000\/\d\na=fmtp:97 streamtype=5;.*mode=AAC-hbr;.*config=[0-9a-f]+\n/);
  expect(await statusOf(client, "DESCRIBE", "/stream?token=1")).toBe(200);
  expect(await statusOf(client, "DESCRIBE", "/stream", { Accept: "text/plain" })).toBe(406);
  expect(await statusOf(client, "DESCRIBE", "/nothing")).toBe(404);
  expect(await statusOf(client, "DESCRIBE", "http://127.0.0.1/stream")).toBe(400);
});

it("[RTSP-5] SETUP takes the first transport that can be served, and says what it chose", async () => {
  const client = await (await startRtsp()).connect();
  const answer = await client.request("SETUP", "/stream/trackID=0", {
    Transport:
      "RAW/RAW/UDP;unicast,RTP/SAVP;unicast;client_port=5000-5001,RTP/AVP/TCP;unicast;interleaved=6-7,RTP/AVP;unicast;client_port=5000-5001",
  });
  expect(answer.status).toBe(200);
  expect(header(answer, "Session")).toMatch(/^[0-9a-f]{32};timeout=60$/);
  expect(header(answer, "Transport")).toMatch(/^RTP\/AVP\/TCP;unicast;interleaved=6-7;ssrc=[0-9A-F]{8}$/);
  // Without channels the server picks free ones.
  const second = await client.request("SETUP", "/stream/trackID=1", {
    Session: header(answer, "Session"),
    Transport: "RTP/AVP/TCP;unicast",
  });
  expect(header(second, "Transport")).toContain("interleaved=0-1");
  const udp = await (await startRtsp()).connect();
  const chosen = await udp.request("SETUP", "/stream/trackID=0", {
    Transport: "RTP/AVP;unicast;client_port=5000-5001;destination=127.0.0.1",
  });
  const [, rtp, rtcp] = /^RTP\/AVP;unicast;client_port=5000-5001;server_port=(\d+)-(\d+);ssrc=/.exec(header(chosen, "Transport")) ?? [];
  expect(Number(rtp) % 2).toBe(0);
  expect(Number(rtcp)).toBe(Number(rtp) + 1);
});

it("[RTSP-6] SETUP is refused with 404, 459, 461, 400, 454 and 455, as RFC 2326 names them", async () => {
  const server = await startRtsp();
  const client = await server.connect();
  const Transport = tcpTransport(0);
  expect(await statusOf(client, "SETUP", "/stream/trackID=7", { Transport })).toBe(404);
  expect(await statusOf(client, "SETUP", "/nothing/trackID=0", { Transport })).toBe(404);
  expect(await statusOf(client, "SETUP", "/stream", { Transport })).toBe(459);
  expect(await statusOf(client, "SETUP", "/stream/trackID=0")).toBe(400);
  for (const wrong of [
    "RAW/RAW",
    "RTP/AVP;unicast",
    "RTP/AVP;unicast;client_port=1-2;destination=192.0.2.1",
    "RTP/AVP;multicast",
    "RTP/AVP/TCP;interleaved=300-301",
  ])
    expect([wrong, await statusOf(client, "SETUP", "/stream/trackID=0", { Transport: wrong })]).toEqual([wrong, 461]);
  expect(await statusOf(client, "SETUP", "/stream/trackID=0", { Transport, Session: "unknown" })).toBe(454);
  const Session = await client.setUp("/stream", [0]);
  expect(await statusOf(client, "SETUP", "/test/trackID=1", { Transport: tcpTransport(1), Session })).toBe(459);
  // The channels of the other track.
  expect(await statusOf(client, "SETUP", "/stream/trackID=1", { Transport, Session })).toBe(461);
  expect(await statusOf(client, "SETUP", "/stream/trackID=0", { Transport, Session })).toBe(200);
  // Its packets have a connection already.
  const other = await server.connect();
  expect(await statusOf(other, "SETUP", "/stream/trackID=1", { Transport, Session })).toBe(461);
  expect(await statusOf(client, "PLAY", "/stream", { Session })).toBe(200);
  expect(await statusOf(client, "SETUP", "/stream/trackID=1", { Transport: tcpTransport(1), Session })).toBe(455);
});

it("[RTSP-7] PLAY answers with the first sequence number and time of each track; what is wrong gets 454, 457, 460 and 404", async () => {
  const server = await startRtsp();
  const client = await server.connect();
  expect(await statusOf(client, "PLAY", "/stream")).toBe(454);
  const Session = await client.setUp("/stream");
  expect(await statusOf(client, "PLAY", "/stream", { Session, Range: "bytes=0-1" })).toBe(457);
  expect(await statusOf(client, "PLAY", "/stream/trackID=0", { Session })).toBe(460);
  expect(await statusOf(client, "PLAY", "/test", { Session })).toBe(404);
  expect(await statusOf(client, "RECORD", "/stream", { Session })).toBe(455);
  const answer = await client.request("PLAY", "/stream/", { Session, Range: "npt=0.000-" });
  expect([answer.status, header(answer, "Range"), header(answer, "Session")]).toEqual([200, "npt=now-", `${Session};timeout=60`]);
  const infos = header(answer, "RTP-Info")
    .split(",")
    .map((info) => /^url=(.*);seq=(\d+);rtptime=(\d+)$/.exec(info)?.slice(1) ?? []);
  expect(infos.map(([url]) => url)).toEqual([`${client.url}/stream/trackID=0`, `${client.url}/stream/trackID=1`]);
  await until(() => client.rtp(0).length > 0 && client.rtp(2).length > 0);
  for (const [track, [, sequence, timestamp]] of infos.entries()) {
    const first = client.rtp(2 * track)[0] as Buffer;
    expect([first.readUInt16BE(2), first.readUInt32BE(4)]).toEqual([Number(sequence), Number(timestamp)]);
  }
  // Again, it says that it is alive.
  expect(await statusOf(client, "PLAY", "/stream", { Session })).toBe(200);
});

it("[RTSP-8] PAUSE stops the packets of a session, and PLAY begins them again with a key frame", async () => {
  const client = await (await startRtsp()).connect();
  const { session: Session } = await client.play("/stream");
  await until(() => client.rtp(0).length > 5);
  expect(await statusOf(client, "PAUSE", "/stream", { Session })).toBe(200);
  const count = client.packets.length;
  expect(await statusOf(client, "OPTIONS", "/stream", { Session })).toBe(200);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(client.packets.length).toBe(count);
  client.packets.length = 0;
  expect(await statusOf(client, "PLAY", "/stream", { Session })).toBe(200);
  await until(() => client.rtp(0).length > 0);
  // STAP-A of the parameter sets.
  expect((client.rtp(0)[0]?.[12] ?? 0) & 0x1f).toBe(24);
});

it("[RTSP-9] TEARDOWN ends a session, or one of its tracks, before PLAY and while it plays", async () => {
  const client = await (await startRtsp()).connect();
  const first = await client.setUp("/stream");
  expect(await statusOf(client, "TEARDOWN", "/stream/trackID=1", { Session: first })).toBe(200);
  expect(await statusOf(client, "PLAY", "/stream", { Session: first })).toBe(200);
  await until(() => client.rtp(0).length > 5);
  expect(client.rtp(2).length).toBe(0);
  expect(await statusOf(client, "TEARDOWN", "/stream", { Session: first })).toBe(200);
  const count = client.packets.length;
  expect(await statusOf(client, "TEARDOWN", "/stream", { Session: first })).toBe(454);
  expect(await statusOf(client, "PLAY", "/stream", { Session: first })).toBe(454);
  expect(client.packets.length).toBe(count);
  // The connection and its channels are free for another one.
  const { session: second } = await client.play("/test");
  await until(() => client.packets.length > count);
  expect(await statusOf(client, "TEARDOWN", "/test/trackID=0", { Session: second })).toBe(200);
  const [pictures, sound] = [client.rtp(0).length, client.rtp(2).length];
  await until(() => client.rtp(2).length > sound + 10);
  expect(client.rtp(0).length).toBe(pictures);
  expect(await statusOf(client, "TEARDOWN", "/test/trackID=0", { Session: second })).toBe(404);
  expect(await statusOf(client, "TEARDOWN", "/test/trackID=1", { Session: second })).toBe(200);
  expect(await statusOf(client, "GET_PARAMETER", "/test", { Session: second })).toBe(454);
});

it("[RTSP-10] an empty GET_PARAMETER or SET_PARAMETER keeps a session; parameters there are none", async () => {
  const client = await (await startRtsp()).connect();
  const Session = await client.setUp("/stream");
  for (const method of ["GET_PARAMETER", "SET_PARAMETER"]) {
    const answer = await client.request(method, "/stream", { Session });
    expect([answer.status, header(answer, "Session")]).toEqual([200, `${Session};timeout=60`]);
    expect(await statusOf(client, method, "/stream")).toBe(200);
    expect(await statusOf(client, method, "/stream", { Session, "Content-Type": "text/parameters" }, "jitter\r\n")).toBe(451);
  }
});

it("[RTSP-11] other versions get 505, other methods 501, requests for clients 405, and features that are required 551", async () => {
  const client = await (await startRtsp()).connect();
  const answer = client.next();
  client.write("OPTIONS * RTSP/2.0\r\nCSeq: 1\r\n\r\n");
  expect((await answer).status).toBe(505);
  expect(await statusOf(client, "DANCE", "/stream")).toBe(501);
  const redirect = await client.request("REDIRECT", "/stream");
  expect([redirect.status, header(redirect, "Allow")]).toEqual([405, expect.stringContaining("DESCRIBE")]);
  const required = await client.request("SETUP", "/stream/trackID=0", { Require: "implicit-play", Transport: tcpTransport(0) });
  expect([required.status, header(required, "Unsupported")]).toEqual([551, "implicit-play"]);
});

it("[RTSP-12] every answer has the CSeq of its request, in the order of the requests; without one it is 400", async () => {
  const client = await (await startRtsp()).connect();
  client.write(
    [
      `DESCRIBE ${client.url}/stream RTSP/1.0\r\nCSeq: 7\r\n\r\n`,
      "OPTIONS * RTSP/1.0\r\nCSeq: 3\r\n\r\n",
      `DESCRIBE ${client.url}/nothing RTSP/1.0\r\nCSeq: 900\r\n\r\n`,
      "OPTIONS * RTSP/1.0\r\n\r\n",
      "OPTIONS * RTSP/1.0\r\nCSeq: many\r\n\r\n",
      "OPTIONS * RTSP/1.0\r\nCSeq: 4\r\n\r\n",
    ].join(""),
  );
  await until(() => client.responses.length === 6);
  expect(client.responses.map((response) => [response.status, header(response, "CSeq")])).toEqual([
    [200, "7"],
    [200, "3"],
    [404, "900"],
    [400, ""],
    [400, "many"],
    [200, "4"],
  ]);
});

it("[RTSP-13] garbage is answered 400 and ends its connection; another client plays on", async () => {
  const server = await startRtsp();
  const player = await server.connect();
  await player.play("/stream");
  for (const garbage of ["GARBAGE\r\n\r\n", Buffer.from([0x80, 0xc9, 0, 7]), `OPTIONS * RTSP/1.0\r\n${"X: y\r\n".repeat(1_000)}\r\n`]) {
    const client = await server.connect();
    const answer = client.next();
    client.write(garbage);
    expect((await answer).status).toBe(400);
    await client.ended();
  }
  // Packets of channels that were not set up, and one that is cut by the end of the connection.
  const client = await server.connect();
  client.write(Buffer.from([0x24, 9, 0, 2, 1, 2, 0x24, 0, 0xff, 0xff, 1]));
  expect(await statusOf(await server.connect(), "OPTIONS", "*")).toBe(200);
  client.socket.destroy();
  const count = player.packets.length;
  await until(() => player.packets.length > count + 20);
  expect(gaps(player.rtp(0))).toBe(0);
});

/** Missing sequence numbers. */
function gaps(packets: readonly Buffer[]): number {
  return packets.slice(1).filter((packet, index) => ((packets[index] as Buffer).readUInt16BE(2) + 1) % 65_536 !== packet.readUInt16BE(2))
    .length;
}

it("[RTSP-15] a session belongs to the computer that made it, and can be used by another connection of it", async () => {
  const server = await startRtsp();
  const client = await server.connect();
  const socket = createSocket("udp4").bind(0, "127.0.0.1");
  onEnd(() => socket.close());
  await once(socket, "listening");
  const { port } = socket.address();
  const Session = await client.setUp("/stream", [0], () => `RTP/AVP;unicast;client_port=${port}-${port + 1}`);
  client.socket.destroy();
  const stranger = await server.connect("127.0.0.2");
  expect(await statusOf(stranger, "PLAY", "/stream", { Session })).toBe(454);
  const other = await server.connect();
  const received = once(socket, "message");
  expect(await statusOf(other, "PLAY", "/stream", { Session })).toBe(200);
  await received;
  expect(await statusOf(other, "TEARDOWN", "/stream", { Session })).toBe(200);
});

it("[RTSP-17] requests in the forms that clients use: a path alone, small letters, timeouts, queries, ranges, scale and time", async () => {
  const server = await startRtsp();
  const client = await server.connect();
  const host = client.url.replace("rtsp://", "");
  const described = client.next();
  client.write("DESCRIBE /stream RTSP/1.0\r\ncseq: 1\r\naccept: application/sdp\r\ntimestamp: 12.5\r\n\r\n");
  const answer = await described;
  expect([answer.status, header(answer, "Content-Base"), header(answer, "Timestamp")]).toEqual([200, `rtsp://${host}/stream/`, "12.5"]);
  expect(await statusOf(client, "OPTIONS", "/")).toBe(200);
  for (const uri of [`RTSP://ada:pw@${host}/stream/`, `rtsp://${host}/stream?channel=1&subtype=0`, `rtspu://${host}/stream`])
    expect(await statusOf(client, "DESCRIBE", uri)).toBe(200);
  const setUp = await client.request("SETUP", `rtsp://${host}/stream?channel=1/trackID=0`, {
    transport: "RTP/SAVP;unicast,RTP/AVP;multicast",
    Transport: 'RTP/AVP/TCP;interleaved=0-1;mode="PLAY";ssrc=1234',
    session: "",
    blocksize: "1400",
  });
  expect(setUp.status).toBe(200);
  const Session = header(setUp, "Session");
  expect(Session).toMatch(/;timeout=60$/);
  for (const [headers, path] of [
    [{ Range: "npt=0.000-" }, "/stream/"],
    [{ Range: "smpte=0:10:20-" }, "/stream"],
    [{ Range: "clock=19961108T143720.25Z-" }, "/stream/trackID=0"],
    [{ Range: "npt=now-", Scale: "2.0", Speed: "1.5" }, "/stream?channel=1"],
  ] as const) {
    const played = await client.request("PLAY", path, { Session, ...headers });
    expect([played.status, header(played, "Range")]).toEqual([200, "npt=now-"]);
    expect([header(played, "Scale"), header(played, "Speed")]).toEqual("Scale" in headers ? ["1.0", "1.0"] : ["", ""]);
  }
  expect(await statusOf(client, "GET_PARAMETER", "/stream/", { Session, "Content-Type": "text/parameters", "Content-Length": "0" })).toBe(
    200,
  );
  expect(await statusOf(client, "TEARDOWN", "/stream/", { Session })).toBe(200);
});

it("[RTSP-20] a session is ended on the connection that uses it, which need not be the one that set it up", async () => {
  const server = await startRtsp();
  const first = await server.connect();
  const Session = await first.setUp("/stream", [0], () => "RTP/AVP;unicast;client_port=40000-40001");
  const second = await server.connect();
  expect(await statusOf(second, "GET_PARAMETER", "/stream", { Session })).toBe(200);
  first.socket.destroy();
  const { id } = await until(() => server.rows().find(({ verb }) => verb === "play"));
  expect(await server.act("session.kick", { row: id })).toEqual({ kicked: true });
  await second.ended();
});

it("[RTSP-20] a session without a request or report ends in time, and so does a connection without a session", async () => {
  const server = await startRtsp({ timeoutSeconds: 3 });
  const idle = await server.connect();
  const client = await server.connect();
  const kept = await server.connect();
  const Session = await client.setUp("/stream");
  const alive = await kept.setUp("/stream");
  const timer = setInterval(() => kept.request("GET_PARAMETER", "/stream", { Session: alive }), 200);
  onEnd(() => clearInterval(timer));
  const row = await server.ended(({ outcome }) => outcome.startsWith("no request for"));
  expect(row.tone).toBe("failed");
  await Promise.all([client.ended(), idle.ended()]);
  expect(kept.closed).toBe(false);
  expect(await statusOf(kept, "PLAY", "/stream", { Session })).toBe(454);
  expect(await statusOf(kept, "PLAY", "/stream", { Session: alive })).toBe(200);
  clearInterval(timer);
  // Who plays over TCP is there as long as the connection.
  await new Promise((resolve) => setTimeout(resolve, 4_500));
  expect(kept.closed).toBe(false);
});

it("[RTSP-21] sessions and connections beyond the limits are refused, of an address and in all", async () => {
  const server = await startRtsp({ sessionsPerAddress: 2, connectionsPerAddress: 4 });
  // All of 127.0.0.0/8 is one address.
  const clients = await Promise.all(["127.0.0.1", "127.0.0.1", "127.0.0.2"].map((address) => server.connect(address)));
  await clients[0]?.setUp("/stream");
  await clients[1]?.setUp("/stream");
  expect(await statusOf(clients[2] as RawClient, "SETUP", "/stream/trackID=0", { Transport: tcpTransport(0) })).toBe(503);
  clients[0]?.socket.destroy();
  await server.ended(({ outcome }) => outcome === "the client has disconnected");
  await clients[2]?.setUp("/stream");
  const more = await Promise.all(Array.from({ length: 6 }, () => server.connect()));
  await until(() => more.filter(({ closed }) => closed).length === 4);
  expect(await statusOf(await server.connect("::1"), "SETUP", "/stream/trackID=0", { Transport: tcpTransport(0) })).toBe(200);
});

it("[RTSP-229] a player that pauses when its publisher leaves is disconnected, and so is one that has not begun", async () => {
  const server = await startRtsp();
  const publisher = await server.connect();
  const body = "v=0\r\nm=audio 0 RTP/AVP 0\r\na=control:trackID=0\r\n";
  expect(await statusOf(publisher, "ANNOUNCE", "/mine", { "Content-Type": "application/sdp" }, body)).toBe(200);
  const published = await publisher.setUp("/mine", [0], (track) => `${tcpTransport(track)};mode=record`);
  expect(await statusOf(publisher, "RECORD", "/mine", { Session: published })).toBe(200);
  const [ready, paused] = [await server.connect(), await server.connect()];
  await ready.setUp("/mine", [0]);
  const { session: Session } = await paused.play("/mine", [0]);
  expect(await statusOf(paused, "PAUSE", "/mine", { Session })).toBe(200);
  publisher.socket.destroy();
  await Promise.all([ready.ended(), paused.ended()]);
  const left = () => server.rows().filter(({ outcome }) => outcome === "the publisher has left");
  await until(() => left().length === 2);
});

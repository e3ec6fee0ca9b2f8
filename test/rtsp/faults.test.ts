import { createHash } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { expect, it } from "vitest";
import type { DescriptionFlaw, FaultStatus, RtspFaultViews } from "../../contract/services/rtsp-faults.ts";
import { parseSdp } from "../../servers/core/rtp/sdp.ts";
import { httpRequest } from "../support/http-request.ts";
import { unchanged, until } from "../support/until.ts";
import { header, onEnd, type RawClient, type RtspUnderTest, startRtsp, tcpTransport } from "./harness.ts";
import { lacksFfmpeg, lacksGstreamer, playWithGstreamer, runProgram } from "./media-programs.ts";

const faultsOf = (server: RtspUnderTest) => server.views.get("faults") as RtspFaultViews["faults"];

/** Missing sequence numbers. */
const gaps = (packets: readonly Buffer[]): number =>
  packets.slice(1).filter((packet, index) => ((packets[index] as Buffer).readUInt16BE(2) + 1) % 65_536 !== packet.readUInt16BE(2)).length;

const rowOf = (server: RtspUnderTest, session: string): Promise<number> =>
  until(() => server.rows().find(({ id, outcome }) => outcome === "playing" && server.detail(id).session === session)?.id);

const management = async (server: RtspUnderTest, method: string, path: string, headers = {}) => {
  const { status, body } = await httpRequest(server.httpUrl + path, { method, headers });
  return { status, body: JSON.parse(body) as Record<string, unknown> };
};

it("[RTSP-170] faults of paths and sessions begin and end by the page and over HTTP, each for a time; of the same kind the newer one counts", async () => {
  const server = await startRtsp();
  const client = await server.connect();
  const { session } = await client.play("/stream");
  const row = await rowOf(server, session);
  expect(faultsOf(server)).toEqual({ paths: [], sessions: [] });
  await server.act("path.fault", { path: "stream", fault: { kind: "loss", percent: 5 } });
  await server.act("path.fault", { path: "stream", fault: { kind: "loss", percent: 7 }, forMs: 60_000 });
  expect(await server.act("session.fault", { row, fault: { kind: "delay", delayMs: 20 }, forMs: 2_000 })).toEqual({ started: true });
  await until(() => faultsOf(server).sessions.length === 1);
  expect(faultsOf(server)).toEqual({
    paths: [{ path: "stream", faults: [{ fault: { kind: "loss", percent: 7 }, until: expect.any(Number) }] }],
    sessions: [{ row, faults: [{ fault: { kind: "delay", delayMs: 20 }, until: expect.any(Number) }] }],
  });
  expect(Math.abs((faultsOf(server).paths[0]?.faults[0]?.until ?? 0) - Date.now() - 60_000)).toBeLessThan(10_000);
  await until(() => faultsOf(server).sessions.length === 0);
  expect(await server.act("path.release", { path: "stream" })).toEqual({ released: true });
  expect(await server.act("path.release", { path: "stream" })).toEqual({ released: false });
  expect(await server.act("session.fault", { row: 9_999, fault: { kind: "stall" } })).toEqual({ started: false });
  // @ts-expect-error A session has no description.
  await expect(server.act("session.fault", { row, fault: { kind: "description", flaw: "cut" } })).rejects.toThrow();

  const [{ id } = { id: "" }] = (await management(server, "GET", "/v3/rtspsessions/list")).body.items as { id: string }[];
  const query = "?kind=loss&percent=2.5&forMs=60000&seed=12";
  expect(await management(server, "POST", `/faults/paths/site/door${query}`)).toEqual({ status: 200, body: { status: "ok" } });
  expect((await management(server, "POST", `/faults/sessions/${id}?kind=stall`)).status).toBe(200);
  expect((await management(server, "GET", "/faults")).body).toEqual({
    paths: [{ path: "site/door", faults: [{ kind: "loss", percent: 2.5, seed: "12", until: expect.stringMatching(/Z$/) }] }],
    sessions: [{ session: id, path: "stream", faults: [{ kind: "stall", until: expect.any(String) }] }],
  });
  for (const [path, status] of [
    ["/faults/paths/stream?kind=loss&percent=101", 400],
    ["/faults/paths/stream?kind=dance", 400],
    ["/faults/paths/stream", 400],
    ["/faults/paths/a%5Cb?kind=stall", 400],
    [`/faults/sessions/${id}?kind=description&flaw=cut`, 400],
    ["/faults/sessions/nobody?kind=stall", 404],
  ] as const)
    expect([path, (await management(server, "POST", path)).status]).toEqual([path, status]);
  expect((await management(server, "POST", "/faults/paths/stream?kind=stall", { Origin: "https://app.example.com" })).status).toBe(403);
  expect((await management(server, "DELETE", "/faults/paths/site/door?kind=delay")).status).toBe(404);
  expect((await management(server, "DELETE", "/faults/paths/site/door?kind=loss")).status).toBe(200);
  expect((await management(server, "DELETE", "/faults")).status).toBe(200);
  expect((await management(server, "GET", "/faults")).body).toEqual({ paths: [], sessions: [] });
  // With its session a fault is gone.
  await server.act("session.fault", { row, fault: { kind: "stall" } });
  await client.request("TEARDOWN", "/stream", { Session: session });
  await until(() => faultsOf(server).sessions.length === 0);
});

it("[RTSP-178] a fault of a session is its own, one of a path is had by all that play it, also those to come", async () => {
  const server = await startRtsp();
  const [faulty, other] = [await server.connect(), await server.connect()];
  const { session } = await faulty.play("/stream");
  await other.play("/stream");
  await server.act("session.fault", { row: await rowOf(server, session), fault: { kind: "loss", percent: 30 }, seed: "a" });
  await until(() => faulty.rtp(0).length > 20 && gaps(faulty.rtp(0)) > 3);
  expect([gaps(other.rtp(0)), gaps(other.rtp(2))]).toEqual([0, 0]);
  await server.act("path.fault", { path: "stream", fault: { kind: "stall" }, forMs: 60_000 });
  const third = await server.connect();
  await third.play("/stream");
  const elsewhere = await server.connect();
  await elsewhere.play("/test");
  await until(() => elsewhere.rtp(0).length > 40);
  expect(third.packets).toEqual([]);
  await server.act("path.release", { path: "stream" });
  const counts = [other.packets.length, faulty.packets.length];
  await until(() => third.packets.length > 20 && other.packets.length > (counts[0] ?? 0) && faulty.packets.length > (counts[1] ?? 0));
});

it("[RTSP-178] those that play by multicast have the faults of the path; one of them can only be closed or refused", async () => {
  const server = await startRtsp({ multicast: true, multicastPort: 23_000 });
  const client = await server.connect();
  const answer = await client.request("SETUP", "/stream/trackID=0", { Transport: "RTP/AVP;multicast" });
  const [, group = "", port = ""] = /destination=([\d.]+);port=(\d+)/.exec(header(answer, "Transport")) ?? [];
  const socket = createSocket({ type: "udp4", reuseAddr: true });
  onEnd(() => socket.close());
  socket.bind(Number(port), group);
  await once(socket, "listening");
  socket.addMembership(group, "127.0.0.1");
  const packets: Buffer[] = [];
  socket.on("message", (packet) => packets.push(packet));
  const Session = header(answer, "Session").split(";")[0] as string;
  await client.request("PLAY", "/stream", { Session });
  await until(() => packets.length > 20);
  expect(gaps(packets)).toBe(0);
  await server.act("path.fault", { path: "stream", fault: { kind: "loss", percent: 30 }, seed: "a" });
  await until(() => gaps(packets) > 3);
  await server.act("path.fault", { path: "stream", fault: { kind: "stall" } });
  const length = await unchanged(() => packets.length, 400);
  await server.act("path.release", { path: "stream" });
  await until(() => packets.length > length + 10);
  const row = await rowOf(server, Session);
  expect(await server.act("session.fault", { row, fault: { kind: "loss", percent: 30 } })).toEqual({ started: false });
  expect(await server.act("session.fault", { row, fault: { kind: "status", status: 454 } })).toEqual({ started: true });
  expect(await statusOf(client, "GET_PARAMETER", "/stream", { Session })).toBe(454);
});

it("[RTSP-180] readers of HLS and MPEG-TS are stalled, refused and closed", async () => {
  const server = await startRtsp({ hlsSegmentSeconds: 1 });
  const statusOfFile = async (path: string) => (await httpRequest(server.httpUrl + path)).status;
  const stream = await fetch(`${server.httpUrl}/stream.ts`);
  let bytes = 0;
  const ended = (async () => {
    for await (const chunk of stream.body ?? []) bytes += (chunk as Uint8Array).length;
  })().catch(() => "broken");
  await until(() => bytes > 50_000);
  expect(await statusOfFile("/stream/index.m3u8")).toBe(200);
  await server.act("path.fault", { path: "stream", fault: { kind: "stall" } });
  const playlist = async () => (await httpRequest(`${server.httpUrl}/stream/index.m3u8`)).body;
  await unchanged(async () => `${bytes} ${await playlist()}`, 1_500);
  const [before, first] = [bytes, await playlist()];
  await server.act("path.release", { path: "stream" });
  await until(async () => bytes > before && (await playlist()) !== first);
  for (const status of [401, 404] as const) {
    await server.act("path.fault", { path: "stream", fault: { kind: "status", status } });
    expect(await Promise.all(["/stream/index.m3u8", "/stream.ts", "/stream/snapshot.mp4", "/test/snapshot.mp4"].map(statusOfFile))).toEqual(
      [...[status, status, status], 200],
    );
  }
  // Those are of RTSP.
  await server.act("path.fault", { path: "stream", fault: { kind: "status", status: 461 } });
  expect(await statusOfFile("/stream/index.m3u8")).toBe(200);
  await server.act("path.fault", { path: "stream", fault: { kind: "close" } });
  expect(await ended).toBe("broken");
  expect(await server.ended(({ preview, outcome }) => preview === "GET /stream.ts" && outcome === "closed by a fault")).toBeDefined();
  await expect(statusOfFile("/stream/index.m3u8")).rejects.toThrow();
  expect(await statusOfFile("/test/snapshot.mp4")).toBe(200);
});

/** Plays a path whose picture is frozen from the beginning until two seconds later. */
async function playFrozen<Result>(server: RtspUnderTest, play: () => Promise<Result>): Promise<Result> {
  await server.act("path.fault", { path: "stream", fault: { kind: "freeze" } });
  const [result] = await Promise.all([
    play(),
    until(() => server.rows().some(({ outcome }) => outcome === "playing"))
      .then(() => wait(2_000))
      .then(() => server.act("path.release", { path: "stream" })),
  ]);
  return result;
}

it.skipIf(lacksFfmpeg)(
  "[RTSP-173] ffmpeg decodes a frozen picture without an error, and sees time go on",
  { timeout: 60_000 },
  async () => {
    const server = await startRtsp();
    const args = ["-v", "warning", "-rtsp_transport", "tcp", "-i", `${server.url}/stream`, "-t", "6", "-map", "0:v", "-f", "framemd5", "-"];
    const { stdout, stderr } = await playFrozen(server, () => runProgram("ffmpeg", ["-hide_banner", "-nostdin", ...args]));
    expect(stderr).toBe("");
    const frames = stdout
      .toString()
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => line.split(",").map((field) => field.trim()));
    expect(frames.length).toBeGreaterThan(100);
    const pictures = frames.map((fields) => fields.at(-1));
    const frozen = pictures.filter((picture) => picture === pictures[0]).length;
    expect(frozen).toBeGreaterThan(20);
    expect(new Set(pictures).size).toBeGreaterThan(20);
  },
);

it.skipIf(lacksGstreamer)("[RTSP-173] GStreamer decodes a frozen picture, and those after it", async () => {
  const server = await startRtsp();
  const source = ["rtspsrc", `location=${server.url}/stream`, "protocols=tcp", "!", "application/x-rtp,media=video", "!", "rtph264depay"];
  const sink = ["!", "avdec_h264", "!", "identity", "eos-after=120", "!", "videoconvert", "!", "video/x-raw,format=GRAY8", "!", "fdsink"];
  const { stdout } = await playFrozen(server, () => playWithGstreamer(...source, ...sink));
  const size = 640 * 360;
  const pictures = Array.from({ length: Math.floor(stdout.length / size) }, (_, index) =>
    createHash("md5")
      .update(stdout.subarray(index * size, (index + 1) * size))
      .digest("hex"),
  );
  expect(pictures.length).toBeGreaterThan(100);
  expect(pictures.filter((picture) => picture === pictures[0]).length).toBeGreaterThan(20);
  expect(new Set(pictures).size).toBeGreaterThan(20);
});

it("[RTSP-175] connections are closed without a word: of a session at once, of a path also with each request", async () => {
  const server = await startRtsp();
  const [first, second, other] = [await server.connect(), await server.connect(), await server.connect()];
  const { session } = await first.play("/stream");
  await second.play("/stream");
  await other.play("/test");
  expect(await server.act("session.fault", { row: await rowOf(server, session), fault: { kind: "close" } })).toEqual({ started: true });
  await first.ended();
  expect(await server.ended(({ outcome }) => outcome === "closed by a fault")).toMatchObject({ tone: "failed", target: "/stream" });
  expect(second.closed).toBe(false);
  await server.act("path.fault", { path: "stream", fault: { kind: "close" } });
  await second.ended();
  const again = await server.connect();
  again.write(`DESCRIBE ${again.url}/stream RTSP/1.0\r\nCSeq: 1\r\n\r\n`);
  await again.ended();
  expect(again.responses).toEqual([]);
  expect((await server.ended(({ verb }) => verb === "DESCRIBE")).reason).toBe("a fault closed the connection");
  await server.act("path.release", { path: "stream" });
  expect((await (await server.connect()).request("DESCRIBE", "/stream")).status).toBe(200);
  expect([other.closed, gaps(other.rtp(0))]).toEqual([false, 0]);
});

const statusOf = async (client: RawClient, method: string, path: string, headers = {}) =>
  (await client.request(method, path, headers)).status;

it("[RTSP-176] requests are refused: 454 those that name a session, 461 SETUP, 401 with challenges and 404 all but OPTIONS", async () => {
  const server = await startRtsp();
  const client = await server.connect();
  const player = await server.connect();
  const { session: Session } = await player.play("/stream");
  const answers = async (status: FaultStatus) => {
    await server.act("path.fault", { path: "stream", fault: { kind: "status", status } });
    return [
      await statusOf(client, "OPTIONS", "/stream"),
      await statusOf(client, "DESCRIBE", "/stream"),
      await statusOf(client, "SETUP", "/stream/trackID=0", { Transport: tcpTransport(0) }),
      await statusOf(player, "GET_PARAMETER", "/stream", { Session }),
      await statusOf(client, "DESCRIBE", "/test"),
    ];
  };
  expect(await answers(404)).toEqual([200, 404, 404, 404, 200]);
  expect(await answers(461)).toEqual([200, 200, 461, 200, 200]);
  expect(await answers(401)).toEqual([200, 401, 401, 401, 200]);
  expect(header(await client.request("DESCRIBE", "/stream"), "WWW-Authenticate")).toMatch(/^Digest realm="Backlot", nonce=/);
  await server.act("path.release", { path: "stream" });
  // Of a session.
  await server.act("session.fault", { row: await rowOf(server, Session), fault: { kind: "status", status: 454 } });
  expect(await statusOf(player, "GET_PARAMETER", "/stream", { Session })).toBe(454);
  const other = await server.connect();
  const { session } = await other.play("/stream");
  expect(await statusOf(other, "GET_PARAMETER", "/stream", { Session: session })).toBe(200);
  const count = player.packets.length;
  await until(() => player.packets.length > count);
  // A publisher is refused too, before its path is there.
  await server.act("path.fault", { path: "mine", fault: { kind: "status", status: 401 } });
  expect(await statusOf(client, "ANNOUNCE", "/mine", { "Content-Type": "application/sdp" })).toBe(401);
});

it("[RTSP-177] descriptions are cut, or name parameter sets, payload types or tracks that are not those of the stream", async () => {
  const server = await startRtsp();
  const client = await server.connect();
  const describe = async () => (await client.request("DESCRIBE", "/stream")).body.toString();
  const right = await describe();
  const wrong = async (flaw: DescriptionFlaw) => {
    await server.act("path.fault", { path: "stream", fault: { kind: "description", flaw } });
    return await describe();
  };
  expect(right.startsWith(await wrong("cut"))).toBe(true);
  const attributes = (text: string, name: string) =>
    parseSdp(text).media.map(({ attributes: all }) => all.find(([key]) => key === name)?.[1]);
  const sets = attributes(await wrong("parameter-sets"), "fmtp");
  expect(sets[0]).toContain("sprop-parameter-sets=AAAA");
  expect(sets[1]).toMatch(/config=ffff$/);
  const types = parseSdp(await wrong("payload-types"));
  expect(types.media.map(({ formats }) => formats)).toEqual([["112"], ["113"]]);
  expect(types.media[0]?.attributes[0]).toEqual(["rtpmap", "112 H264/90000"]);
  const controls = attributes(await wrong("controls"), "control");
  expect(controls).toEqual(["trackID=2", "trackID=3"]);
  expect(await statusOf(client, "SETUP", `/stream/${controls[0]}`, { Transport: tcpTransport(0) })).toBe(404);
  await server.act("path.release", { path: "stream" });
  expect(await describe()).toBe(right);
});

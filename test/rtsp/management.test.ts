import { once } from "node:events";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { hasTone, toneFilters } from "../../contract/traffic/row-filter.ts";
import { httpRequest } from "../support/http-request.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { until } from "../support/until.ts";
import { startRtsp } from "./harness.ts";
import { ffmpeg, ffprobe, lacksFfmpeg, runProgram } from "./media-programs.ts";

const json = async (url: string, options?: Parameters<typeof httpRequest>[1]) => {
  const answer = await httpRequest(url, options);
  return { status: answer.status, body: JSON.parse(answer.body) as Record<string, unknown> };
};

it("[RTSP-60] a session is a row that opens into its requests and answers, with its tracks and its end", async () => {
  const server = await startRtsp();
  const client = await server.connect();
  await client.request("OPTIONS", "*", { "User-Agent": "Probe/1.0 (test)" });
  await client.request("DESCRIBE", "/stream");
  const { session } = await client.play("/stream");
  await until(() => client.rtp(0).length > 10);
  const open = await until(() => server.rows().find(({ outcome }) => outcome === "playing"));
  expect(open).toMatchObject({ kind: "rtsp", verb: "play", target: "/stream", tone: "pending", client: "Probe", preview: "OPTIONS *" });
  await client.request("TEARDOWN", "/stream", { Session: session });
  const row = await server.ended(({ id }) => id === open.id);
  expect(row).toMatchObject({ verb: "play", target: "/stream", tone: "ok", outcome: "TEARDOWN", parts: 12 });
  expect(row.bytesOut).toBeGreaterThan(5_000);
  const detail = server.detail(row.id);
  expect(detail).toMatchObject({ kind: "rtsp", session, role: "read", path: "stream", userAgent: "Probe/1.0 (test)", ended: "TEARDOWN" });
  expect(detail.tracks).toMatchObject([
    { index: 0, codec: "h264", transport: "TCP, channels 0-1", dropped: 0 },
    { index: 1, codec: "aac", transport: "TCP, channels 2-3", dropped: 0 },
  ]);
  expect(detail.tracks[0]?.packets).toBeGreaterThan(9);
  const lines = server
    .parts(row.id)
    .map(({ direction, base64 }) => `${direction} ${Buffer.from(base64, "base64").toString().split("\r\n")[0]}`);
  expect(lines).toEqual([
    "received OPTIONS * RTSP/1.0",
    "sent RTSP/1.0 200 OK",
    `received DESCRIBE ${server.url}/stream RTSP/1.0`,
    "sent RTSP/1.0 200 OK",
    `received SETUP ${server.url}/stream/trackID=0 RTSP/1.0`,
    "sent RTSP/1.0 200 OK",
    `received SETUP ${server.url}/stream/trackID=1 RTSP/1.0`,
    "sent RTSP/1.0 200 OK",
    `received PLAY ${server.url}/stream RTSP/1.0`,
    "sent RTSP/1.0 200 OK",
    `received TEARDOWN ${server.url}/stream RTSP/1.0`,
    "sent RTSP/1.0 200 OK",
  ]);
});

it("[RTSP-60] sessions that ended with and without a TEARDOWN are found together, and neither is a failure", async () => {
  const server = await startRtsp();
  const [polite, gone] = [await server.connect(), await server.connect()];
  const { session: Session } = await polite.play("/stream");
  await polite.request("TEARDOWN", "/stream", { Session });
  await gone.play("/stream");
  gone.socket.destroy();
  for (const outcome of ["TEARDOWN", "the client has disconnected"]) {
    const { tone } = await server.ended((row) => row.outcome === outcome);
    expect(toneFilters.filter((filter) => hasTone(tone, filter))).toEqual(["all", "ended", outcome === "TEARDOWN" ? "ok" : "neutral"]);
  }
});

it("[RTSP-61] requests that do not become a session are a row of their connection, with the last answer and the reason", async () => {
  const server = await startRtsp();
  const client = await server.connect();
  await client.request("DESCRIBE", "/nothing");
  client.socket.destroy();
  expect(await server.ended(() => true)).toMatchObject({
    verb: "DESCRIBE",
    target: "/nothing",
    tone: "refused",
    outcome: "404 Not Found",
    reason: "there is no stream nothing",
  });
  const other = await server.connect();
  other.write("GARBAGE\r\n\r\n");
  await other.ended();
  expect(await server.ended(({ outcome }) => outcome === "400 Bad Request")).toMatchObject({
    tone: "refused",
    reason: "the start line is neither a request nor an answer",
  });
  // A client that leaves without a word.
  const silent = await server.connect();
  await silent.play("/stream");
  silent.socket.destroy();
  expect(await server.ended(({ verb }) => verb === "play")).toMatchObject({ tone: "neutral", outcome: "the client has disconnected" });
});

it("[RTSP-61] a request to no path is shown with its address as it came, without a password", async () => {
  const server = await startRtsp();
  for (const [uri, target] of [
    ["rtsp://ada:secret@127.0.0.1/", "rtsp://127.0.0.1/"],
    ["*", "*"],
  ] as const) {
    const client = await server.connect();
    client.write(`OPTIONS ${uri} RTSP/1.0\r\nCSeq: 1\r\n\r\n`);
    await once(client.socket, "data");
    client.socket.destroy();
    expect(await server.ended((row) => row.target === target)).toMatchObject({ verb: "OPTIONS", tone: "ok" });
    expect(server.logs.some(({ text }) => text.startsWith(`OPTIONS ${target} `))).toBe(true);
  }
  expect(JSON.stringify(server.logs)).not.toContain("secret");
});

it("[RTSP-241] rows and log lines have no values of secret query fields, whatever the request", async () => {
  const server = await startRtsp();
  const secrets = ["hidden-1", "hidden-2", "hidden-3", "hidden-4", "hidden-5"] as const;
  const uris = [
    `rtsp://127.0.0.1/nothing?user=ann&pass=${secrets[0]}&a=b`,
    `rtsp://127.0.0.1/?token=${secrets[1]}`,
    `nothing?p%61ss=${secrets[2]}`,
    `rtsp://ann:${secrets[3]}@x@127.0.0.1/stream?key=${secrets[4]}`,
  ];
  for (const [index, uri] of uris.entries()) {
    for (const method of index === 0 ? ["DESCRIBE", "ANNOUNCE"] : ["DESCRIBE"]) {
      const client = await server.connect();
      client.write(`${method} ${uri} RTSP/1.0\r\nCSeq: 1\r\n\r\n`);
      await client.next();
      client.socket.destroy();
      await client.ended();
    }
  }
  await until(() => server.rows().filter(({ tone }) => tone !== "pending").length === uris.length + 1);
  const shown = JSON.stringify([server.rows(), server.logs, [...server.views]]);
  expect(secrets.filter((secret) => shown.includes(secret))).toEqual([]);
  expect(server.rows()[0]).toMatchObject({ preview: "DESCRIBE rtsp://127.0.0.1/nothing?user=ann&pass=…&a=b" });
});

it("[RTSP-62] a session is ended from the page, and sample traffic plays", async () => {
  const server = await startRtsp();
  const client = await server.connect();
  await client.play("/stream");
  const { id } = await until(() => server.rows().find(({ outcome }) => outcome === "playing"));
  expect(await until(() => server.views.get("sessions")?.sessions[0])).toMatchObject({
    row: id,
    path: "stream",
    state: "playing",
  });
  expect(await server.act("session.kick", { row: id })).toEqual({ kicked: true });
  await client.ended();
  expect((await server.ended((row) => row.id === id)).outcome).toBe("closed from the dashboard");
  expect(await server.act("session.kick", { row: id })).toEqual({ kicked: false });
  await server.act("sample.start");
  await until(() => server.rows().some(({ client: name, outcome }) => name?.startsWith("Backlot") === true && outcome === "playing"));
  await until(() => server.views.get("sample")?.running === true);
  await server.act("sample.stop");
  await until(() => server.views.get("sample")?.running === false);
});

it("[RTSP-70] /v3 has paths and sessions in pages, as MediaMTX has them, and ends a session", async () => {
  const server = await startRtsp();
  const client = await server.connect();
  await client.play("/stream");
  const { body: paths } = await json(`${server.httpUrl}/v3/paths/list`);
  const order = ["name", "confName", "ready", "readyTime", "source", "tracks", "readers", "bytesReceived", "bytesSent"];
  expect((paths.items as object[]).map((item) => Object.keys(item))).toEqual([order, order]);
  const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/);
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  const pathOf = (name: string, readers: readonly unknown[]) => ({
    name,
    confName: name,
    source: { type: "file", id: `${name}.mp4` },
    ready: true,
    readyTime: time,
    tracks: ["H264", "MPEG-4 Audio"],
    bytesReceived: expect.any(Number),
    bytesSent: expect.any(Number),
    readers,
  });
  expect(paths).toEqual({
    itemCount: 2,
    pageCount: 1,
    items: [pathOf("stream", [{ type: "rtspSession", id: uuid }]), pathOf("test", [])],
  });
  expect(await json(`${server.httpUrl}/v3/paths/list?itemsPerPage=1&page=1`)).toMatchObject({
    body: { itemCount: 2, pageCount: 2, items: [{ name: "test" }] },
  });
  expect((await json(`${server.httpUrl}/v3/paths/list?page=x`)).status).toBe(400);
  expect((await json(`${server.httpUrl}/v3/paths/get/test`)).body).toMatchObject({ name: "test", readers: [] });
  expect(await json(`${server.httpUrl}/v3/paths/get/nothing`)).toEqual({ status: 404, body: { status: "error", error: "path not found" } });
  const { body: sessions } = await json(`${server.httpUrl}/v3/rtspsessions/list`);
  const [session] = sessions.items as { id: string }[];
  expect(session).toEqual({
    id: uuid,
    created: time,
    remoteAddr: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    state: "read",
    path: "stream",
    user: "",
    transport: "TCP",
    bytesReceived: 0,
    bytesSent: expect.any(Number),
  });
  const kick = (id: string | undefined, headers = {}) => json(`${server.httpUrl}/v3/rtspsessions/kick/${id}`, { method: "POST", headers });
  expect((await kick(session?.id, { Origin: "https://app.example.com" })).status).toBe(403);
  expect(await kick(session?.id)).toEqual({ status: 200, body: { status: "ok" } });
  await client.ended();
  expect(await kick(session?.id)).toEqual({ status: 404, body: { status: "error", error: "session not found" } });
  expect((await json(`${server.httpUrl}/v3/paths/list`, { method: "POST" })).status).toBe(405);
});

it("[RTSP-71] /stats and /metrics count requests, sessions and bytes; the index page names the streams", async () => {
  const server = await startRtsp();
  const client = await server.connect();
  await client.play("/stream");
  await until(() => client.rtp(0).length > 5);
  expect((await json(`${server.httpUrl}/stats`)).body).toMatchObject({
    connections: 1,
    sessions: 1,
    sessionsOpened: 1,
    requests: 3,
    paths: [{ name: "stream" }, { name: "test" }],
  });
  const metrics = (await httpRequest(`${server.httpUrl}/metrics`)).body;
  expect(metrics).toMatch(/^rtsp_sessions\{state="playing"\} 1$/m);
  expect(metrics).toMatch(/^rtsp_path_readers\{path="stream"\} 1$/m);
  expect(metrics).toMatch(/^rtsp_requests_total 3$/m);
  for (const counter of ["received_bytes", "sent_bytes"]) {
    expect(metrics).toMatch(new RegExp(`^# TYPE rtsp_path_${counter}_total counter$`, "m"));
    expect(metrics).toMatch(new RegExp(`^rtsp_path_${counter}_total\\{path="stream"\\} [1-9]\\d*$`, "m"));
  }
  for (const counter of ['path_skips_total{path="stream"}', 'path_unsent_packets_total{path="stream"}', "unsent_datagrams_total"])
    expect(metrics).toContain(`\nrtsp_${counter} 0\n`);
  const index = await httpRequest(`${server.httpUrl}/`);
  expect([index.status, index.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
  expect(index.body).toContain(`href="${server.url}/stream"`);
  for (const named of [
    "looped file stream.mp4",
    "H264, MPEG-4 Audio",
    "/stream/index.m3u8",
    "/stream.ts",
    "/stream/snapshot.mp4",
    `${server.url}/{path}`,
  ])
    expect(index.body).toContain(named);
  for (const [, route] of index.body.matchAll(/<li><a href="([^"]+)">/g))
    expect((await httpRequest(server.httpUrl + route)).status).toBe(200);
  expect((await httpRequest(`${server.httpUrl}/nothing`)).status).toBe(404);
});

it.skipIf(lacksFfmpeg)(
  "[RTSP-75] a stream's last key frame is a file of one picture, with the rights of its path",
  { timeout: 60_000 },
  async () => {
    const server = await startRtsp({ users: ["anna:secret"], pathRules: ["* read stream"] });
    const get = (path: string) => fetch(`${server.httpUrl}${path}`);
    const answer = await get("/stream/snapshot.mp4");
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "video/mp4"]);
    const file = path.join(temporaryDir(), "snapshot.mp4");
    writeFileSync(file, Buffer.from(await answer.arrayBuffer()));
    const { streams, packets } = await ffprobe(file);
    expect(streams).toMatchObject([{ codec_name: "h264", width: 640, height: 360 }]);
    expect(packets).toMatchObject([{ pts_time: "0.000000", flags: expect.stringMatching(/^K/) }]);
    const { stdout, stderr } = await ffmpeg("-i", file, "-f", "rawvideo", "-pix_fmt", "gray", "-");
    expect([stdout.length, stderr]).toEqual([640 * 360, ""]);
    expect((await get("/test/snapshot.mp4")).status).toBe(401);
    expect((await get("/none/snapshot.mp4")).status).toBe(401);
    expect(server.views.get("paths")?.paths[0]?.readers ?? 0).toBe(0);
  },
);

it("[RTSP-73] readers of HLS and MPEG-TS are rows with their bytes and time; of MPEG-TS one can be ended, and too many get 503", async () => {
  const server = await startRtsp({ sessions: 2, hlsSegments: 3 });
  const playlist = await httpRequest(`${server.httpUrl}/stream/index.m3u8`, { headers: { "User-Agent": "Probe/1.0" } });
  expect(playlist.status).toBe(200);
  const [segment = ""] = /segment-\d+\.m4s/.exec(playlist.body) ?? [];
  await httpRequest(`${server.httpUrl}/stream/${segment}`, { headers: { "User-Agent": "Probe/1.0" } });
  const hls = await until(() => server.rows().find(({ preview, bytesOut }) => preview === "GET /stream/index.m3u8" && bytesOut > 10_000));
  expect(hls).toMatchObject({ verb: "play", target: "/stream", outcome: "playing", tone: "pending", client: "Probe" });
  expect(server.detail(hls.id).tracks).toMatchObject([{ codec: "h264", transport: "HLS" }, { codec: "aac" }]);
  expect(await server.act("session.kick", { row: hls.id })).toEqual({ kicked: false });

  const stream = await fetch(`${server.httpUrl}/test.ts`);
  const reader = stream.body?.getReader();
  await reader?.read();
  // A connection whose answer is left unread would not be closed: how much comes meanwhile depends on the machine.
  const brokenOff = (async () => {
    for (;;) if ((await reader?.read())?.done !== false) return false;
  })().catch(() => true);
  const ts = await until(() => server.rows().find(({ target, bytesOut }) => target === "/test" && bytesOut > 5_000));
  expect(server.detail(ts.id).tracks).toMatchObject([{ transport: "MPEG-TS" }, { transport: "MPEG-TS" }]);
  expect((await httpRequest(`${server.httpUrl}/stream.ts`)).status).toBe(503);
  expect((await json(`${server.httpUrl}/stats`)).body).toMatchObject({ httpReaders: 2 });
  // No client has used RTSP: the bytes are those of the two readers.
  expect(((await json(`${server.httpUrl}/stats`)).body as { bytesSent: number }).bytesSent).toBeGreaterThan(15_000);
  expect(await server.act("session.kick", { row: ts.id })).toEqual({ kicked: true });
  expect((await server.ended(({ id }) => id === ts.id)).outcome).toBe("closed from the dashboard");
  expect(await brokenOff).toBe(true);
  // A client of HLS that fetches no more has left.
  const left = await until(() => server.rows().find(({ id, tone }) => id === hls.id && tone !== "pending"));
  expect(left).toMatchObject({ tone: "neutral", outcome: "no request for 10 s" });
  expect(left.tookMs).toBeGreaterThan(9_000);
});

it("[RTSP-192] readers of one address are bounded, whatever they call themselves, and leave room for those of others", async () => {
  const server = await startRtsp({ sessions: 10, sessionsPerAddress: 2 });
  const fetched = (name: string, localAddress?: string) =>
    httpRequest(`${server.httpUrl}/stream/index.m3u8`, { headers: { "User-Agent": name }, ...(localAddress && { localAddress }) });
  expect((await Promise.all(["a", "b"].map((name) => fetched(name)))).map(({ status }) => status)).toEqual([200, 200]);
  expect(await fetched("c")).toMatchObject({
    status: 503,
    body: '{"status":"error","error":"there are too many readers of this address"}',
  });
  expect((await httpRequest(`${server.httpUrl}/stream.ts`)).status).toBe(503);
  expect((await fetched("a")).status).toBe(200);
  expect((await fetched("c", "127.0.0.2")).status).toBe(503);
  const overIpv6 = server.httpUrl.replace("127.0.0.1", "[::1]");
  expect((await httpRequest(`${overIpv6}/stream/index.m3u8`, { headers: { "User-Agent": "c" } })).status).toBe(200);
});

it("[RTSP-193] pages of this computer and allowed ones may play and read, and those of other origins may not", async () => {
  const server = await startRtsp();
  const allowing = await startRtsp({ allowedOrigins: ["https://app.example"] });
  const allowed = async (path: string, Origin: string, of = server) =>
    (await httpRequest(of.httpUrl + path, { headers: { Origin } })).headers["access-control-allow-origin"];
  for (const path of ["/", "/stats", "/v3/rtspsessions/list", "/unknown", "/stream/index.m3u8", "/stream/snapshot.mp4"]) {
    expect(await allowed(path, "https://elsewhere.example")).toBe(undefined);
    expect(await allowed(path, "http://localhost:3000")).toBe("http://localhost:3000");
    expect(await allowed(path, "https://app.example", allowing)).toBe("https://app.example");
  }
  // A developer's page, by the address at which another device has it.
  const ofHost = async (path: string, Host: string) =>
    (await httpRequest(server.httpUrl + path, { headers: { Origin: "http://192.0.2.7:3000", Host } })).headers[
      "access-control-allow-origin"
    ];
  expect(await ofHost("/stream/index.m3u8", "192.0.2.7:8888")).toBe("http://192.0.2.7:3000");
  expect(await ofHost("/stream/index.m3u8", "192.0.2.8:8888")).toBe(undefined);
  expect(await ofHost("/stats", "192.0.2.7:8888")).toBe(undefined);
});

it("[RTSP-193] a picture of another site's page, which asks without CORS, gets 403", async () => {
  const server = await startRtsp({ allowedOrigins: ["https://app.example"] });
  const status = async (site: string, more: Record<string, string> = {}, path = "/stream/snapshot.mp4") =>
    (await httpRequest(server.httpUrl + path, { headers: { "Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors", ...more } })).status;
  expect(await status("cross-site")).toBe(403);
  expect(await status("cross-site", {}, "/stream.ts")).toBe(403);
  expect(await status("cross-site", { Referer: "https://evil.example/" })).toBe(403);
  expect(await status("cross-site", { Origin: "https://evil.example", "Sec-Fetch-Mode": "cors" }, "/stream/index.m3u8")).toBe(403);
  for (const Referer of ["https://app.example/player", "http://localhost:3000/"]) expect(await status("cross-site", { Referer })).toBe(200);
  expect(await status("cross-site", { Origin: "http://localhost:3000", "Sec-Fetch-Mode": "cors" })).toBe(200);
  // A link that the user follows, and the address bar.
  expect(await status("cross-site", { "Sec-Fetch-Mode": "navigate" })).toBe(200);
  expect(await status("none", { "Sec-Fetch-Mode": "navigate" })).toBe(200);
  expect(await status("same-site")).toBe(200);
});

it("[RTSP-197] who uses a public name for this server gets nothing, whatever it calls itself", async () => {
  const server = await startRtsp();
  const status = async (path: string, Host: string, agent = "Mozilla/5.0 (X11; Linux x86_64)") =>
    (await httpRequest(server.httpUrl + path, { headers: { Host, "User-Agent": agent } })).status;
  const posted = await httpRequest(`${server.httpUrl}/v3/rtspsessions/kick/1`, {
    method: "POST",
    headers: { Origin: "http://evil.example" },
  });
  expect([posted.status, posted.body]).toEqual([403, expect.stringContaining("(RTSP_ALLOWED_ORIGINS)")]);
  for (const path of ["/", "/stats", "/metrics", "/v3/rtspsessions/list", "/stream/index.m3u8", "/stream/snapshot.mp4"]) {
    expect(await status(path, "evil.example:8888")).toBe(403);
    expect(await status(path, "evil.example:8888", "x")).toBe(403);
    expect(await status(path, "backlot:8888")).toBe(200);
  }
  const allowing = await startRtsp({ allowedOrigins: ["http://backlot.example:8888"] });
  const answers = ["backlot.example:8888", "evil.example:8888"].map((Host) =>
    httpRequest(`${allowing.httpUrl}/metrics`, { headers: { Host } }),
  );
  expect((await Promise.all(answers)).map((answer) => answer.status)).toEqual([200, 403]);
});

it.skipIf(lacksFfmpeg)("[RTSP-72] a stream is HLS and MPEG-TS over HTTP", async () => {
  const server = await startRtsp();
  const codecs = async (url: string) => {
    const args = ["-v", "error", "-read_intervals", "%+3", "-show_entries", "stream=codec_name", "-show_packets", "-of", "json", url];
    const { stdout, stderr } = await runProgram("ffprobe", args);
    const { streams, packets } = JSON.parse(stdout.toString()) as { streams: { codec_name: string }[]; packets: unknown[] };
    expect(stderr).toBe("");
    expect(packets.length).toBeGreaterThan(60);
    return streams.map(({ codec_name }) => codec_name);
  };
  expect(await codecs(`${server.httpUrl}/stream/index.m3u8`)).toEqual(["h264", "aac"]);
  expect(await codecs(`${server.httpUrl}/test.ts`)).toEqual(["h264", "aac"]);
  const playlist = await httpRequest(`${server.httpUrl}/stream/index.m3u8`);
  expect(playlist.headers).toMatchObject({
    "content-type": "application/vnd.apple.mpegurl",
    "cache-control": "no-cache",
  });
  expect((await httpRequest(`${server.httpUrl}/nothing/index.m3u8`)).status).toBe(404);
  expect((await httpRequest(`${server.httpUrl}/nothing.ts`)).status).toBe(404);
  expect((await httpRequest(`${server.httpUrl}/stream/segment-999999.m4s`)).status).toBe(404);
  const closed = await startRtsp({ users: ["ada:pw"], pathRules: ["* read test", "ada read stream"] });
  expect((await httpRequest(`${closed.httpUrl}/stream/index.m3u8`)).status).toBe(401);
  const Authorization = `Basic ${Buffer.from("ada:pw").toString("base64")}`;
  expect((await httpRequest(`${closed.httpUrl}/stream/index.m3u8`, { headers: { Authorization } })).status).toBe(200);
  expect((await httpRequest(`${closed.httpUrl}/test/init.mp4`)).status).toBe(200);
});

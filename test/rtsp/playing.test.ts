import { createSocket } from "node:dgram";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { createLog } from "../../servers/core/service/log.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { UdpPorts } from "../../servers/rtsp/sessions/udp-ports.ts";
import { httpRequest } from "../support/http-request.ts";
import { holdPort } from "../support/port-holder.ts";
import { unchanged, until } from "../support/until.ts";
import { header, onEnd, type RawClient, stallUntilSlow, startRtsp, udpPair, udpTransport } from "./harness.ts";
import { lacksFfmpeg, lacksGstreamer, type ProbedPacket, type ProbedStream, playWithGstreamer, runProgram } from "./media-programs.ts";

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

it.skipIf(lacksFfmpeg)("[RTSP-16] ffprobe plays through a tunnel over HTTP", async () => {
  const server = await startRtsp();
  const { stdout, stderr } = await runProgram("ffprobe", [
    "-v",
    "error",
    "-rtsp_transport",
    "http",
    "-show_entries",
    "stream=codec_name",
    "-of",
    "csv=p=0",
    `${server.url}/stream`,
  ]);
  expect([stdout.toString().trim().split(/\s+/), stderr]).toEqual([["h264", "aac"], ""]);
  const row = await server.ended(({ verb }) => verb === "play");
  expect(server.detail(row.id).connection.isTunnel).toBe(true);
});

it("[RTSP-16] a tunnel takes base64 in any pieces, from the same address; other HTTP gets 404", async () => {
  const server = await startRtsp();
  const get = await server.connect();
  get.write("GET /stream HTTP/1.0\r\nx-sessioncookie: abc\r\nAccept: application/x-rtsp-tunnelled\r\n\r\n");
  const received: string[] = [];
  get.socket.removeAllListeners("data");
  get.socket.on("data", (chunk) => received.push(chunk.toString("latin1")));
  await until(() => received.join("").includes("application/x-rtsp-tunnelled\r\n"));
  const post = await server.connect();
  const request = (cseq: number) => Buffer.from(`OPTIONS * RTSP/1.0\r\nCSeq: ${cseq}\r\n\r\n`).toString("base64");
  post.write(`POST /stream HTTP/1.0\r\nx-sessioncookie: abc\r\nContent-Length: 32767\r\n\r\n${request(1).slice(0, 7)}`);
  for (const character of request(1).slice(7) + request(10) + request(100)) post.write(character);
  await until(() => /CSeq: 1\r[\s\S]*CSeq: 10\r[\s\S]*CSeq: 100\r/.test(received.join("")));
  for (const head of ["GET / HTTP/1.1\r\nHost: x\r\n\r\n", "POST / HTTP/1.1\r\nx-sessioncookie: other\r\n\r\n"]) {
    const other = await server.connect();
    other.socket.removeAllListeners("data");
    const answer = once(other.socket, "data");
    other.write(head);
    expect(String(await answer)).toMatch(/^HTTP\/1.1 40[04] /);
    await other.ended();
  }
  const stranger = await server.connect("127.0.0.2");
  stranger.socket.removeAllListeners("data").resume();
  stranger.write("POST /stream HTTP/1.0\r\nx-sessioncookie: abc\r\n\r\n");
  await stranger.ended();
  // It would bring requests to nobody.
  get.socket.destroy();
  await post.ended();
});

describe("players", () => {
  it.skipIf(lacksFfmpeg)("[RTSP-1] ffprobe finds H.264 and AAC on /stream and /test, over TCP and UDP", async () => {
    const { url } = await startRtsp();
    for (const [path, size] of [
      ["stream", [640, 360]],
      ["test", [1_280, 720]],
    ] as const) {
      for (const transport of ["tcp", "udp"]) {
        const args = ["-v", "warning", "-rtsp_transport", transport, "-show_streams", "-of", "json", `${url}/${path}`];
        const { stdout, stderr } = await runProgram("ffprobe", args);
        const { streams } = JSON.parse(stdout.toString()) as { streams: readonly ProbedStream[] };
        expect(stderr).toBe("");
        expect(streams.map(({ codec_name }) => codec_name)).toEqual(["h264", "aac"]);
        expect([streams[0]?.width, streams[0]?.height]).toEqual(size);
      }
    }
  });

  it.skipIf(lacksFfmpeg)("[RTSP-31] times run on over the end of the loop, without an error of ffmpeg's", async () => {
    const { url } = await startRtsp();
    const read = async (transport: string) => {
      const args = [
        "-v",
        "warning",
        "-rtsp_transport",
        transport,
        "-read_intervals",
        "%+13",
        "-show_packets",
        "-of",
        "json",
        `${url}/stream`,
      ];
      const { stdout, stderr } = await runProgram("ffprobe", args);
      expect(stderr).toBe("");
      return (JSON.parse(stdout.toString()) as { packets: readonly ProbedPacket[] }).packets;
    };
    for (const packets of await Promise.all([read("tcp"), read("udp")])) {
      for (const [stream, step] of [
        [0, 1 / 25],
        [1, 1_024 / 48_000],
      ] as const) {
        const times = packets
          .filter(({ stream_index, pts_time }) => stream_index === stream && pts_time !== undefined)
          .map(({ pts_time }) => Number(pts_time));
        expect(times.length).toBeGreaterThan(11 / step);
        for (const [index, time] of times.slice(1).entries()) expect(time - (times[index] as number)).toBeCloseTo(step, 3);
      }
    }
  });

  it.skipIf(lacksGstreamer)("[RTSP-1] GStreamer plays both tracks over TCP and UDP", async () => {
    const server = await startRtsp();
    for (const [protocol, path] of [
      ["tcp", "stream"],
      ["udp", "test"],
    ] as const) {
      const pipeline = [
        ...["rtspsrc", `location=${server.url}/${path}`, `protocols=${protocol}`, "latency=0", "name=source"],
        ...["source.", "!", "rtph264depay", "!", "h264parse", "!", "identity", "eos-after=60", "!", "fakesink"],
        ...["source.", "!", "rtpmp4gdepay", "!", "aacparse", "!", "identity", "eos-after=100", "!", "fakesink"],
      ];
      await playWithGstreamer(...pipeline);
      const row = await until(() => server.rows().find(({ target, bytesOut }) => target === `/${path}` && bytesOut > 20_000));
      expect(server.detail(row.id).tracks.map(({ transport }) => transport.split(",")[0])).toEqual(Array(2).fill(protocol.toUpperCase()));
    }
  });
});

/** Missing sequence numbers. */
const gaps = (packets: readonly Buffer[]): number =>
  packets.slice(1).filter((packet, index) => ((packets[index] as Buffer).readUInt16BE(2) + 1) % 65_536 !== packet.readUInt16BE(2)).length;

const nalType = (packet: Buffer | undefined): number => (packet?.[12] ?? 0) & 0x1f;

it("[RTSP-30] a player gets the frames since the last key frame at once, and the live ones continue them", async () => {
  const server = await startRtsp();
  const first = await server.connect();
  await first.play("/stream");
  // In the middle of a group of pictures.
  await until(() => first.rtp(0).length > 0);
  await wait(500);
  const second = await server.connect();
  await second.play("/stream");
  await until(() => second.rtp(0).length > 5);
  expect(nalType(second.rtp(0)[0])).toBe(24);
  const timestamps = new Set(second.rtp(0).map((packet) => packet.readUInt32BE(4)));
  expect(timestamps.size).toBeGreaterThan(3);
  await until(() => second.rtp(0).length > 60);
  expect(gaps(second.rtp(0))).toBe(0);
  expect(gaps(second.rtp(2))).toBe(0);
  // The picture is first.
  expect(second.packets.find(({ channel }) => channel % 2 === 0)?.channel).toBe(0);
  // Both have the same packets.
  const shared = new Set(first.rtp(0).map((packet) => packet.toString("hex")));
  expect(
    second
      .rtp(0)
      .slice(0, 40)
      .every((packet) => shared.has(packet.toString("hex"))),
  ).toBe(true);
});

/** RFC 3550 §6.4.1: the NTP time in seconds and the RTP timestamp of a sender report. */
const reportOf = (packet: Buffer) => ({
  seconds: packet.readUInt32BE(8) + packet.readUInt32BE(12) / 2 ** 32,
  timestamp: packet.readUInt32BE(16),
});

it("[RTSP-32] sender reports come with the first packets and every five seconds, and map the clock to the timestamps linearly", async () => {
  const server = await startRtsp();
  const client = await server.connect();
  await client.play("/stream");
  await until(() => client.rtp(1).length >= 3 && client.rtp(3).length >= 3);
  for (const [channel, clockRate] of [
    [1, 90_000],
    [3, 48_000],
  ] as const) {
    const reports = client.rtp(channel).map(reportOf);
    const [first, ...rest] = reports as [ReturnType<typeof reportOf>, ...ReturnType<typeof reportOf>[]];
    expect(Math.abs(first.seconds - 2_208_988_800 - Date.now() / 1_000)).toBeLessThan(30);
    for (const { seconds, timestamp } of rest) {
      const elapsed = ((timestamp - first.timestamp) >>> 0) / clockRate;
      expect(Math.abs(elapsed - (seconds - first.seconds))).toBeLessThan(0.001);
    }
    expect(client.rtp(channel).every((packet) => packet[1] === 200)).toBe(true);
  }
});

it("[RTSP-33] a slow reader is skipped to the next key frame and counted; the others lose nothing", async () => {
  const server = await startRtsp({ unsentBytes: 1 << 20, stallSeconds: 600 });
  const slow = await server.connect();
  const other = await server.connect();
  await other.play("/test");
  const { session } = await slow.play("/test");
  await until(() => slow.rtp(0).length > 0);
  const release = stallUntilSlow(slow, session);
  const droppedOf = () => {
    const row = server.rows().find(({ id }) => server.detail(id).session === session);
    return row ? server.detail(row.id).tracks.reduce((sum, { dropped }) => sum + dropped, 0) : 0;
  };
  await until(() => droppedOf() > 20, 35_000);
  release();
  const metrics = (await httpRequest(`${server.httpUrl}/metrics`)).body;
  expect(metrics).toMatch(/^rtsp_path_skips_total\{path="test"\} [1-9]\d*$/m);
  expect(Number(/^rtsp_path_unsent_packets_total\{path="test"\} (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(20);
  expect(gaps(other.rtp(0))).toBe(0);
  const before = slow.rtp(0).length;
  slow.socket.resume();
  await until(() => slow.rtp(0).length > before + 50);
  const packets = slow.rtp(0);
  const isNext = (packet: Buffer, index: number) =>
    index === 0 || ((packets[index - 1] as Buffer).readUInt16BE(2) + 1) % 65_536 === packet.readUInt16BE(2);
  const begins = packets.filter((packet, index) => !isNext(packet, index));
  expect(begins.length).toBeGreaterThan(0);
  expect(begins.every((packet) => nalType(packet) === 24)).toBe(true);
});

it("[RTSP-34] a reader that takes nothing is closed in time, and nothing of it is kept", async () => {
  const server = await startRtsp({ unsentBytes: 1 << 20, stallSeconds: 1 });
  const stalled = await server.connect();
  const { session } = await stalled.play("/test");
  const release = stallUntilSlow(stalled, session);
  await until(() => server.rows().some(({ bytesOut }) => bytesOut > 5 << 20));
  release();
  const row = await until(() => server.rows().find(({ outcome }) => outcome.startsWith("it took nothing for")), 35_000);
  expect(row.tone).toBe("failed");
  stalled.socket.destroy();
});

it("[RTSP-35] datagrams count only from the address and port that were set up; a report of the reader is shown and keeps its session", async () => {
  const server = await startRtsp({ timeoutSeconds: 4 });
  const client = await server.connect();
  const { rtp, rtcp, port } = await udpPair();
  const received: Buffer[] = [];
  rtp.on("message", (datagram) => received.push(datagram));
  const answer = await client.request("SETUP", "/stream/trackID=0", { Transport: udpTransport(port)() });
  const Session = header(answer, "Session").split(";")[0] as string;
  const [, serverRtcp = ""] = /server_port=\d+-(\d+)/.exec(header(answer, "Transport")) ?? [];
  const ssrc = Number.parseInt(/ssrc=([0-9A-F]{8})/.exec(header(answer, "Transport"))?.[1] ?? "", 16);
  await client.request("PLAY", "/stream", { Session });
  await until(() => received.length > 20);
  expect(gaps(received)).toBe(0);
  const report = Buffer.alloc(32);
  report.writeUInt32BE(0x81c90007, 0);
  report.writeUInt32BE(1, 4);
  report.writeUInt32BE(ssrc, 8);
  report[12] = 64;
  report.writeUIntBE(5, 13, 3);
  report.writeUInt32BE(900, 20);
  const foreign = createSocket("udp4").bind(0, "127.0.0.2");
  onEnd(() => foreign.close());
  const strange = Buffer.from(report);
  strange[12] = 255;
  const send = () => {
    rtcp.send(report, Number(serverRtcp), "127.0.0.1");
    foreign.send(strange, Number(serverRtcp), "127.0.0.1");
  };
  const timer = setInterval(send, 300);
  // Without its reports it would have ended.
  await wait(6_000);
  clearInterval(timer);
  expect((await client.request("OPTIONS", "/stream", { Session })).status).toBe(200);
  await client.request("TEARDOWN", "/stream", { Session });
  const { id } = await server.ended(({ outcome }) => outcome === "TEARDOWN");
  expect(server.detail(id).tracks).toMatchObject([
    { index: 0, codec: "h264", transport: `UDP, ports ${port}-${port + 1}`, lost: 5, lossFraction: 0.25, jitterMs: 10 },
  ]);
});

it("[RTSP-36] a clip runs while it has readers, and each start begins with its first frame", async () => {
  const server = await startRtsp();
  const frames = () => server.views.get("paths")?.paths.find(({ name }) => name === "stream");
  const client = await server.connect();
  const { session: Session } = await client.play("/stream");
  const running = await until(() => (frames()?.frameRate ?? 0) > 20 && frames());
  expect(running).toMatchObject({
    source: { kind: "clip", title: "stream.mp4" },
    ready: true,
    readers: 1,
    tracks: [{ codec: "h264", format: "640×360" }, { codec: "aac" }],
  });
  const last = client.rtp(0).at(-1) as Buffer;
  await client.request("TEARDOWN", "/stream", { Session });
  const stopped = await until(() => frames()?.frameRate === 0 && frames());
  await wait(1_200);
  expect(frames()?.bytesReceived).toBe(stopped?.bytesReceived);
  const again = await server.connect();
  await again.play("/stream");
  const first = (await until(() => again.rtp(0)[0])) as Buffer;
  expect(nalType(first)).toBe(24);
  // Later in time than all before.
  expect((first.readUInt32BE(4) - last.readUInt32BE(4)) | 0).toBeGreaterThan(0);
});

describe("the ports of RTP and RTCP", () => {
  it.each(["rtpPort", "multicastPort"])("[BL-287] an odd %s is refused", async (field) => {
    await expect(startRtsp({ [field]: 28_101 })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      field: { name: field, problem: "an even number is needed" },
    });
  });

  it("[BL-287] listening fails, and does not try for ever, with an odd port or where RTCP's port is taken", async () => {
    const holder = await holdPort(0, "127.0.0.1", "udp");
    const log = createLog({ level: () => "debug", write: () => {} });
    const listen = (port: number) => new UdpPorts(new WorkTurns()).listen({ port, openToLan: false, onStop: onEnd, log });
    const odd = holder.port + 2 + (1 - (holder.port % 2));
    await expect(listen(odd)).rejects.toThrow("RTP needs an even port");
    const even = holder.port - (holder.port % 2);
    await expect(listen(even)).rejects.toMatchObject({ code: "PORT_IN_USE", port: holder.port, transport: "udp" });
  });
});

it("[RTSP-38] multicast sends the packets of a stream once to a group of its own while a session plays it", async () => {
  const server = await startRtsp({ multicast: true, multicastPort: 22_000 });
  const clients = [await server.connect(), await server.connect()];
  const transports = await Promise.all(
    clients.map(async (client) => {
      const answer = await client.request("SETUP", "/stream/trackID=0", { Transport: "RTP/AVP;multicast,RTP/AVP/TCP;interleaved=0-1" });
      return { client, Session: header(answer, "Session").split(";")[0] as string, transport: header(answer, "Transport") };
    }),
  );
  const [, group = "", port = ""] =
    /^RTP\/AVP;multicast;destination=(239\.255\.42\.1);port=(22000)-22001;ttl=1;ssrc=/.exec(transports[0]?.transport ?? "") ?? [];
  expect(transports[1]?.transport).toBe(transports[0]?.transport);
  const other = await (clients[0] as RawClient).request("SETUP", "/test/trackID=1", { Transport: "RTP/AVP;multicast" });
  expect(header(other, "Transport")).toContain("destination=239.255.42.2;port=22018-22019");
  const socket = createSocket({ type: "udp4", reuseAddr: true });
  onEnd(() => socket.close());
  socket.bind(Number(port), group);
  await once(socket, "listening");
  socket.addMembership(group, "127.0.0.1");
  const packets: Buffer[] = [];
  socket.on("message", (packet) => packets.push(packet));
  for (const { client, Session } of transports) await client.request("PLAY", "/stream", { Session });
  await until(() => packets.length > 30);
  const readers = () => server.views.get("paths")?.paths.find(({ name }) => name === "stream")?.readers;
  await until(() => readers() === 2);
  expect(gaps(packets)).toBe(0);
  for (const { client, Session } of transports) await client.request("TEARDOWN", "/stream", { Session });
  await unchanged(() => packets.length, 500);
  await until(() => readers() === 0);
});

it.skipIf(lacksFfmpeg)("[RTSP-55] RTSPS serves the same over TLS with this installation's certificate", async () => {
  const server = await startRtsp({ tls: true });
  const url = server.endpoints.find(({ label }) => label === "RTSPS")?.url ?? "";
  expect(url).toMatch(/^rtsps:/);
  const { stdout } = await runProgram("ffprobe", [
    "-v",
    "error",
    "-rtsp_transport",
    "tcp",
    "-show_entries",
    "stream=codec_name",
    "-of",
    "csv=p=0",
    url,
  ]);
  expect(stdout.toString().trim().split(/\s+/)).toEqual(["h264", "aac"]);
  const { tls } = server.detail((await server.ended(({ outcome }) => outcome === "TEARDOWN")).id).connection;
  expect(tls).toBe("TLSv1.3");
});

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { describe, expect, it } from "vitest";
import { assetFile } from "../../servers/core/files/asset-file.ts";
import { parseRtcp } from "../../servers/core/rtp/rtcp.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { until } from "../support/until.ts";
import { header, onEnd, RawClient, type RtspUnderTest, startRtsp, tcpTransport } from "./harness.ts";
import { lacksFfmpeg, lacksGstreamer, playWithGstreamer, runProgram } from "./media-programs.ts";

const clip = assetFile("rtsp", "stream.mp4");

/** A program that publishes until the test ends. */
function publish(program: string, ...args: readonly string[]): ChildProcess {
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "inherit"] });
  const exited = once(child, "exit");
  onEnd(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  return child;
}
const ffmpegPublishes = (transport: string, url: string) =>
  publish(
    "ffmpeg",
    ...[
      "-loglevel",
      "error",
      "-nostdin",
      "-re",
      "-stream_loop",
      "-1",
      "-i",
      clip,
      "-c",
      "copy",
      "-f",
      "rtsp",
      "-rtsp_transport",
      transport,
      url,
    ],
  );
const gstreamerPublishes = (protocol: string, url: string, encoder: string) =>
  publish(
    "gst-launch-1.0",
    ...["-q", "rtspclientsink", "name=sink", `protocols=${protocol}`, `location=${url}`],
    ...[
      "videotestsrc",
      "is-live=true",
      "!",
      "video/x-raw,width=320,height=240",
      "!",
      "x264enc",
      "tune=zerolatency",
      "key-int-max=15",
      "!",
      "sink.",
    ],
    ...["audiotestsrc", "is-live=true", "!", "audioconvert", "!", encoder, "!", "sink."],
  );

const pathOf = (server: RtspUnderTest, name: string) => server.views.get("paths")?.paths.find((path) => path.name === name);

/** What ffmpeg reads of a stream in some seconds, and its complaints. */
async function codecsOf(
  url: string,
  transport: string,
): Promise<{ readonly codecs: readonly string[]; readonly packets: number; readonly stderr: string }> {
  const args = [
    "-v",
    "error",
    "-rtsp_transport",
    transport,
    "-read_intervals",
    "%+3",
    "-show_streams",
    "-show_packets",
    "-of",
    "json",
    url,
  ];
  const { stdout, stderr } = await runProgram("ffprobe", args);
  const { streams, packets } = JSON.parse(stdout.toString()) as { streams: { codec_name: string }[]; packets: unknown[] };
  // It tries UDP ports one after the other, and says which ones are taken.
  const complaints = stderr.replace(/.*bind failed: Address already in use\n/g, "");
  return { codecs: streams.map(({ codec_name }) => codec_name), packets: packets.length, stderr: complaints };
}

describe("real publishers", () => {
  it.skipIf(lacksFfmpeg)("[RTSP-40] ffmpeg publishes over TCP and UDP, and players read it", async () => {
    const server = await startRtsp();
    for (const transport of ["tcp", "udp"]) {
      const url = `${server.url}/from/ffmpeg-${transport}`;
      ffmpegPublishes(transport, url);
      await until(() => (pathOf(server, `from/ffmpeg-${transport}`)?.bytesReceived ?? 0) > 100_000);
      expect(await codecsOf(url, "tcp")).toMatchObject({ codecs: ["h264", "aac"], packets: expect.any(Number), stderr: "" });
      expect(await codecsOf(url, "udp")).toMatchObject({ codecs: ["h264", "aac"], stderr: "" });
    }
    expect(pathOf(server, "from/ffmpeg-tcp")).toMatchObject({
      source: { kind: "publisher" },
      tracks: [{ codec: "h264", format: "640×360" }, { codec: "aac" }],
    });
  });

  it.skipIf(lacksGstreamer || lacksFfmpeg)(
    "[RTSP-41] GStreamer publishes over TCP and UDP, and players read it",
    { timeout: 60_000 },
    async () => {
      const server = await startRtsp();
      // Of AAC GStreamer makes LATM (RFC 6416).
      for (const [protocol, encoder, codec] of [
        ["tcp", "opusenc", "opus"],
        ["udp", "avenc_aac", "aac"],
      ] as const) {
        const url = `${server.url}/gst-${protocol}`;
        gstreamerPublishes(protocol, url, encoder);
        await until(() => (pathOf(server, `gst-${protocol}`)?.frameRate ?? 0) > 10);
        expect(await codecsOf(url, "tcp")).toMatchObject({ codecs: expect.arrayContaining(["h264", codec]), stderr: "" });
        const pipeline = [
          "rtspsrc",
          `location=${url}`,
          "protocols=tcp",
          "!",
          "rtph264depay",
          "!",
          "identity",
          "eos-after=30",
          "!",
          "fakesink",
        ];
        await playWithGstreamer(...pipeline);
      }
    },
  );
});

it.skipIf(lacksFfmpeg)(
  "[RTSP-125] a reader that joins a publisher early sees one line from the clock to the times of each track, and rising times",
  { timeout: 60_000 },
  async () => {
    const server = await startRtsp();
    ffmpegPublishes("tcp", `${server.url}/early`);
    await until(() => (pathOf(server, "early")?.bytesReceived ?? 0) > 0);
    const client = await server.connect();
    await client.play("/early");
    const { stderr } = await runProgram("ffmpeg", [
      ...["-v", "warning", "-rtsp_transport", "tcp", "-i", `${server.url}/early`, "-t", "8", "-c", "copy", "-f", "null", "-"],
    ]);
    expect(stderr).not.toContain("monoton");
    // Milliseconds from the RTP time to the NTP time of each report.
    const offsets = [90_000, 48_000].map((clockRate, track) =>
      client
        .rtp(2 * track + 1)
        .flatMap((bytes) => parseRtcp(bytes) ?? [])
        .flatMap((packet) => (packet.type === "sender-report" ? [packet.ntpMs - (packet.timestamp * 1_000) / clockRate] : [])),
    );
    for (const [first = Number.NaN, ...later] of offsets) {
      expect(later.length).toBeGreaterThan(0);
      for (const offset of later) expect(Math.abs(offset - first)).toBeLessThan(2);
    }
  },
);

const description = (...media: readonly string[]) => ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=test", "t=0 0", ...media, ""].join("\r\n");
const h264 = description("m=video 0 RTP/AVP 96", "a=rtpmap:96 H264/90000", "a=fmtp:96 packetization-mode=1", "a=control:streamid=0");

/** Announces and sets up one track of H.264 over TCP, and records. */
async function record(client: RawClient, path: string): Promise<string> {
  const announced = await client.request("ANNOUNCE", path, { "Content-Type": "application/sdp" }, h264);
  if (announced.status !== 200) throw new Error(`ANNOUNCE: ${announced.status}`);
  const setUp = await client.request("SETUP", `${path}/streamid=0`, { Transport: `${tcpTransport(0)};mode=record` });
  const session = header(setUp, "Session").split(";")[0] ?? "";
  const recorded = await client.request("RECORD", path, { Session: session });
  if (recorded.status !== 200) throw new Error(`RECORD: ${recorded.status}`);
  return session;
}

let sequence = 100;
/** An RTP packet of a payload, interleaved on channel 0. */
function rtp(payload: Buffer, timestamp: number, { isMarked = true, payloadType = 96 } = {}): Buffer {
  const packet = Buffer.alloc(16 + payload.length);
  packet.writeUInt32BE(0x24000000 | (12 + payload.length), 0);
  packet[4] = 0x80;
  packet[5] = payloadType | (isMarked ? 0x80 : 0);
  packet.writeUInt16BE(sequence++ & 0xffff, 6);
  packet.writeUInt32BE(timestamp, 8);
  packet.writeUInt32BE(77, 12);
  payload.copy(packet, 16);
  return packet;
}
const sps = Buffer.from("6764001eacd940a02ff9610000030001000003003c8f162d96", "hex");
const pps = Buffer.from("68ebe3cb22c0", "hex");
const idr = (bytes = 50) => Buffer.concat([Buffer.from([0x65, 0x88]), Buffer.alloc(bytes, 1)]);
const slice = (bytes = 30) => Buffer.concat([Buffer.from([0x41, 0x9a]), Buffer.alloc(bytes, 2)]);
const frames = (at: number) => [
  rtp(sps, at, { isMarked: false }),
  rtp(pps, at, { isMarked: false }),
  rtp(idr(), at),
  rtp(slice(), at + 3_600),
  rtp(slice(), at + 7_200),
];

it("[RTSP-42] what cannot be published is refused: another description, other media, a path with a source of its own, a wrong state", async () => {
  const client = await (await startRtsp({ tracks: 2 })).connect();
  const announce = async (path: string, body: string, type = "application/sdp") =>
    (await client.request("ANNOUNCE", path, { "Content-Type": type }, body)).status;
  expect(await announce("/mine", h264, "text/plain")).toBe(415);
  expect(await announce("/mine", "hello")).toBe(400);
  expect(await announce("/mine", description())).toBe(400);
  expect(await announce("/mine", description(...Array(3).fill("m=audio 0 RTP/AVP 0")))).toBe(400);
  expect(await announce("/mine", description("m=video 0 RTP/AVP 98", "a=rtpmap:98 VP8/90000"))).toBe(415);
  expect(await announce("/mine", description("m=video 0 RTP/AVP 98", "a=rtpmap:98 H264/90000", "a=fmtp:98 packetization-mode=2"))).toBe(
    415,
  );
  expect(await announce("/mine", description("m=audio 0 RTP/AVP 98", "a=rtpmap:98 mpeg4-generic/48000/2"))).toBe(415);
  expect(await announce("/stream", h264)).toBe(403);
  expect(await announce("/mine", h264)).toBe(200);
  const setUp = await client.request("SETUP", "/mine/streamid=0", { Transport: `${tcpTransport(0)};mode=record` });
  expect(setUp.status).toBe(200);
  const Session = header(setUp, "Session");
  expect((await client.request("PLAY", "/mine", { Session })).status).toBe(455);
  expect((await client.request("SETUP", "/mine/streamid=4", { Session, Transport: tcpTransport(1) })).status).toBe(404);
  expect((await client.request("RECORD", "/mine", { Session })).status).toBe(200);
});

it("[RTSP-47] parameter sets that come in band are in the description, and before each key frame", async () => {
  const server = await startRtsp();
  const publisher = await server.connect();
  await record(publisher, "/mine");
  const player = await server.connect();
  const before = await player.request("DESCRIBE", "/mine");
  expect(before.body.toString()).not.toContain("sprop");
  publisher.write(Buffer.concat(frames(9_000)));
  await until(() => (pathOf(server, "mine")?.bytesReceived ?? 0) > 0);
  const after = await player.request("DESCRIBE", "/mine");
  expect(after.body.toString()).toContain(`sprop-parameter-sets=${sps.toString("base64")},${pps.toString("base64")}`);
  await player.play("/mine", [0]);
  const packets = await until(() => player.rtp(0).length >= 3 && player.rtp(0));
  // All three small units of the key frame in one STAP-A.
  expect(packets[0]?.subarray(12).includes(sps)).toBe(true);
  expect(packets[0]?.subarray(12).includes(idr())).toBe(true);
  expect(packets.slice(1).map((packet) => packet.subarray(12).toString("hex"))).toEqual([slice().toString("hex"), slice().toString("hex")]);
  const times = packets.map((packet) => packet.readUInt32BE(4));
  expect(times.map((time) => (time - (times[0] as number)) >>> 0)).toEqual([0, 3_600, 7_200]);
});

it("[RTSP-43] another publisher takes a path over, or is refused by a setting", async () => {
  const server = await startRtsp();
  const first = await server.connect();
  await record(first, "/mine");
  const second = await server.connect();
  await record(second, "/mine");
  await first.ended();
  expect((await server.ended(({ verb }) => verb === "publish")).outcome).toBe("another publisher has taken the path");
  const strict = await startRtsp({ replacePublishers: false });
  await record(await strict.connect(), "/mine");
  expect((await (await strict.connect()).request("ANNOUNCE", "/mine", { "Content-Type": "application/sdp" }, h264)).status).toBe(403);
});

it("[RTSP-44] when a publisher leaves or falls silent, its readers get a BYE and their connection ends", async () => {
  const server = await startRtsp({ silenceSeconds: 2 });
  for (const leave of [
    async (client: RawClient, Session: string) => void (await client.request("TEARDOWN", "/mine", { Session })),
    (client: RawClient) => void client.socket.destroy(),
    () => {},
  ]) {
    const publisher = await server.connect();
    const session = await record(publisher, "/mine");
    publisher.write(Buffer.concat(frames(9_000)));
    const player = await server.connect();
    await player.play("/mine", [0]);
    await leave(publisher, session);
    await player.ended();
    // A receiver report, a description and the BYE (RFC 3550 §6.1).
    expect(
      player
        .rtp(1)
        .at(-1)
        ?.includes(Buffer.from([0x81, 203])),
    ).toBe(true);
    expect((await (await server.connect()).request("DESCRIBE", "/mine")).status).toBe(404);
  }
});

it("[RTSP-44] a publisher over TLS whose connection breaks off is gone at once, and its readers with it", async () => {
  const certificatesDir = temporaryDir();
  const server = await startRtsp({ tls: true }, certificatesDir);
  const port = Number(new URL(server.endpoints.find(({ url }) => url.startsWith("rtsps:"))?.url ?? "").port);
  const other = await server.connect();
  await other.play("/stream");
  for (const breakOff of [
    (socket: TLSSocket) => void socket.destroy(),
    // A record that is none, in the middle of the connection.
    (_socket: TLSSocket, plain: Socket) => void plain.write("GARBAGE, and no record of TLS"),
  ]) {
    const plain = connect(port, "127.0.0.1");
    const socket = connectTls({ socket: plain, rejectUnauthorized: false });
    onEnd(() => plain.destroy());
    await once(socket, "secureConnect");
    const publisher = new RawClient(socket, server.url);
    await record(publisher, "/mine");
    publisher.write(Buffer.concat(frames(9_000)));
    const player = await server.connect();
    await player.play("/mine", [0]);
    await until(() => player.rtp(0).length > 0);
    breakOff(socket, plain);
    await player.ended();
    expect((await (await server.connect()).request("DESCRIBE", "/mine")).status).toBe(404);
    socket.destroy();
  }
  expect(
    server
      .rows()
      .filter(({ verb, tone }) => verb === "publish" && tone !== "pending")
      .map(({ outcome }) => outcome),
  ).toEqual(["the client has disconnected", "the client has disconnected"]);
  expect([other.closed, server.logs.filter(({ level }) => level === "error")]).toEqual([false, []]);
});

it("[RTSP-45] wrong packets of a publisher are counted, and disturb neither its stream nor others", async () => {
  const server = await startRtsp();
  const other = await server.connect();
  await other.play("/stream");
  const publisher = await server.connect();
  const session = await record(publisher, "/mine");
  const player = await server.connect();
  publisher.write(Buffer.concat(frames(9_000)));
  await player.play("/mine", [0]);
  await until(() => player.rtp(0).length === 3);
  const wrong = [
    Buffer.from([0x24, 0, 0, 3, 1, 2, 3]),
    rtp(slice(), 10_000, { payloadType: 97 }),
    // An FU-A without its beginning, a STAP-A with a length beyond its end, an unknown type.
    rtp(Buffer.from([0x7c, 0x45, 1, 2]), 20_000),
    rtp(Buffer.from([0x78, 0xff, 0xff, 1]), 21_000),
    rtp(Buffer.from([0x7e, 1, 2]), 22_000),
    Buffer.from([0x24, 1, 0, 4, 0x80, 200, 0, 99]),
  ];
  publisher.write(Buffer.concat([...wrong, ...frames(30_000)]));
  await until(() => player.rtp(0).length === 6);
  expect(new Set(player.rtp(0).map((packet) => packet.readUInt16BE(2))).size).toBe(6);
  await publisher.request("TEARDOWN", "/mine", { Session: session });
  const { id } = await server.ended(({ verb }) => verb === "publish");
  expect(server.detail(id).tracks[0]?.dropped).toBeGreaterThanOrEqual(5);
  const packets = other.rtp(0);
  expect(packets.length).toBeGreaterThan(0);
  expect(
    packets.slice(1).every((packet, index) => ((packets[index] as Buffer).readUInt16BE(2) + 1) % 65_536 === packet.readUInt16BE(2)),
  ).toBe(true);
});

it("[RTSP-46] a publisher gets receiver reports", async () => {
  const server = await startRtsp();
  const publisher = await server.connect();
  await record(publisher, "/mine");
  publisher.write(Buffer.concat([...frames(9_000).slice(0, 3), ...frames(18_000).slice(1)]));
  const report = await until(() => publisher.rtp(1)[0]);
  expect([report[1], report.readUInt32BE(8)]).toEqual([201, 77]);
  // Two of nine packets are missing.
  expect([report[12], report.readIntBE(13, 3)]).toEqual([Math.floor((3 * 256) / 10), 3]);
});

it("[RTSP-48] no bytes of a publisher end anything but its own session", async () => {
  const server = await startRtsp();
  const other = await server.connect();
  await other.play("/stream");
  const random = seededRandom(48);
  for (let round = 0; round < 20; round++) {
    const publisher = await server.connect();
    await record(publisher, `/mine-${round}`);
    const bytes = Buffer.concat(Array.from({ length: 40 }, (_, index) => Buffer.concat(frames(index * 10_800))));
    for (let change = 0; change < 60; change++) bytes[random.below(bytes.length)] = random.below(256);
    publisher.write(bytes);
    publisher.socket.end();
  }
  const count = other.rtp(0).length;
  await until(() => other.rtp(0).length > count + 30);
  const packets = other.rtp(0);
  expect(
    packets.slice(1).every((packet, index) => ((packets[index] as Buffer).readUInt16BE(2) + 1) % 65_536 === packet.readUInt16BE(2)),
  ).toBe(true);
  expect(server.logs.filter(({ level }) => level === "error")).toEqual([]);
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { assetFile } from "../../servers/core/files/asset-file.ts";
import type { Frame, Track } from "../../servers/rtsp/media/track.ts";
import { AmfError, type AmfValue, readAmf, writeAmf } from "../../servers/rtsp/rtmp/amf0.ts";
import { ChunkReader, messageType, RtmpError, type RtmpMessage, writeMessage } from "../../servers/rtsp/rtmp/chunk-stream.ts";
import { FlvError, FlvMedia } from "../../servers/rtsp/rtmp/flv-media.ts";
import { targetOf } from "../../servers/rtsp/rtmp/rtmp-connection.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { until } from "../support/until.ts";
import { onEnd, type RtspUnderTest, startRtsp } from "./harness.ts";
import { lacksFfmpeg, runProgram } from "./media-programs.ts";

const clip = assetFile("rtsp", "stream.mp4");
const rtmpUrl = (server: RtspUnderTest) => server.urlOf("RTMP").replace(/\/live$/, "");
const pathOf = (server: RtspUnderTest, name: string) => server.views.get("paths")?.paths.find((one) => one.name === name);

/** ffmpeg publishes until the test ends, or until it is refused. */
function publish(url: string, ...more: readonly string[]) {
  const input = ["-loglevel", "error", "-nostdin", "-re", "-stream_loop", "-1", "-i", clip];
  const child = spawn("ffmpeg", [...input, "-c", "copy", ...more, "-f", "flv", url], { stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const exited = once(child, "exit");
  onEnd(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  return { exited, stderr: () => stderr, stop: () => child.kill("SIGKILL") };
}

describe.skipIf(lacksFfmpeg)("publishing by RTMP", () => {
  it("[RTSP-90] ffmpeg publishes, and players get both tracks by RTSP, HLS and MPEG-TS", async () => {
    const server = await startRtsp({ rtmp: true, rtmpPort: 0 });
    const publisher = publish(`${rtmpUrl(server)}/live/camera`);
    await until(() => (pathOf(server, "live/camera")?.bytesReceived ?? 0) > 50_000);
    expect(pathOf(server, "live/camera")).toMatchObject({
      source: { kind: "rtmp-publisher" },
      tracks: [
        { codec: "h264", format: "640×360" },
        { codec: "aac", format: "48 kHz, stereo" },
      ],
    });
    const probe = ["-v", "warning", "-read_intervals", "%+3", "-show_streams", "-show_packets", "-of", "json"];
    const played = await Promise.all([
      runProgram("ffprobe", [...probe, "-rtsp_transport", "tcp", `${server.url}/live/camera`]),
      runProgram("ffprobe", [...probe, `${server.httpUrl}/live/camera.ts`]),
    ]);
    for (const { stdout, stderr } of played) {
      const { streams, packets } = JSON.parse(stdout.toString()) as {
        streams: { codec_name: string }[];
        packets: { codec_type: string; dts_time: string }[];
      };
      expect(streams.map(({ codec_name }) => codec_name).sort()).toEqual(["aac", "h264"]);
      expect(stderr).toBe("");
      for (const kind of ["audio", "video"]) {
        const times = packets
          .filter(({ codec_type }) => codec_type === kind)
          .map(({ dts_time }) => Number(dts_time))
          .filter(Number.isFinite);
        expect(times.length).toBeGreaterThan(20);
        expect(times.every((time, index) => index === 0 || time > (times[index - 1] ?? 0))).toBe(true);
      }
    }
    const { items } = (await (await fetch(`${server.httpUrl}/v3/paths/list`)).json()) as { items: { name: string; source: unknown }[] };
    expect(items.find(({ name }) => name === "live/camera")?.source).toEqual({
      type: "rtmpConn",
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });

    expect(server.views.get("sessions")?.sessions.find(({ role }) => role === "publish")).toMatchObject({
      path: "live/camera",
      role: "publish",
      state: "recording",
      transport: "RTMP",
    });

    publisher.stop();
    const row = await server.ended(({ verb }) => verb === "publish");
    expect(row).toMatchObject({
      target: "/live/camera",
      outcome: "the client has disconnected",
      client: expect.stringMatching(/Lavf|FMLE/),
    });
    expect(server.detail(row.id)).toMatchObject({
      role: "publish",
      path: "live/camera",
      tracks: [
        { codec: "h264", transport: "RTMP" },
        { codec: "aac", transport: "RTMP" },
      ],
    });
    expect(row.bytesIn).toBeGreaterThan(50_000);
    await until(() => pathOf(server, "live/camera") === undefined);
  });

  it("[RTSP-91] users and rules of paths count, with the user in the query of the name or in the server's URL", async () => {
    const server = await startRtsp({
      rtmp: true,
      rtmpPort: 0,
      users: ["anna:secret", "ben:secret"],
      pathRules: ["anna publish live/*", "* read *"],
    });
    const url = rtmpUrl(server);
    for (const [query, status] of [
      ["", "401 Unauthorized"],
      ["?user=anna&pass=wrong", "401 Unauthorized"],
      ["?user=ben&pass=secret", "403 Forbidden"],
    ]) {
      const refused = publish(`${url}/live/a${query}`);
      await refused.exited;
      expect(refused.stderr()).toMatch(/Server error: /);
      expect(await server.ended(({ outcome }) => outcome === status)).toMatchObject({
        verb: "publish",
        target: "/live/a",
        tone: "refused",
      });
      expect(server.rows().every((row) => !JSON.stringify(row).includes("secret"))).toBe(true);
    }
    publish(`${url}/live/a?user=anna&pass=secret`);
    await until(() => pathOf(server, "live/a")?.ready);
    expect(server.rows().find(({ tone }) => tone === "pending")).toMatchObject({ user: "anna" });
  });

  it("[RTSP-92] the path may not have a source of its own, and a second publisher takes it over", async () => {
    const server = await startRtsp({ rtmp: true, rtmpPort: 0 });
    const refused = publish(`${rtmpUrl(server)}/test`);
    await refused.exited;
    expect(refused.stderr()).toContain("test has a source of its own");
    const first = publish(`${rtmpUrl(server)}/live/a`);
    await until(() => pathOf(server, "live/a")?.ready);
    publish(`${rtmpUrl(server)}/live/a`);
    await first.exited;
    expect(await server.ended(({ outcome }) => outcome === "another publisher has taken the path")).toMatchObject({ target: "/live/a" });
    await until(() => pathOf(server, "live/a")?.ready);
  });

  it("[RTSP-93] what cannot be streamed is refused with what was found", async () => {
    const server = await startRtsp({ rtmp: true, rtmpPort: 0 });
    const file = path.join(temporaryDir(), "a.flv");
    await runProgram("ffmpeg", ["-v", "error", "-nostdin", "-i", clip, "-t", "3", "-c:v", "flv1", "-an", file]);
    const child = runProgram("ffmpeg", [
      "-v",
      "error",
      "-nostdin",
      "-re",
      "-i",
      file,
      "-c",
      "copy",
      "-f",
      "flv",
      `${rtmpUrl(server)}/live/a`,
    ]);
    await expect(child).rejects.toThrow();
    expect(await server.ended(({ target }) => target === "/live/a")).toMatchObject({
      outcome: "it sends Sorenson H.263; H.264 or H.265 is needed",
    });
  });
});

/** A client of our own, which sends what it likes. */
class RawPublisher {
  readonly messages: (RtmpMessage & { readonly values: readonly AmfValue[] })[] = [];
  closed = false;
  readonly socket: Socket;
  readonly #chunks = new ChunkReader({ messageBytes: 1 << 20, chunkStreams: 64 });

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("error", () => {});
    socket.on("close", () => {
      this.closed = true;
    });
    let skipped = 0;
    socket.on("data", (bytes) => {
      const skip = Math.min(bytes.length, 1 + 2 * 1_536 - skipped);
      skipped += skip;
      for (const message of this.#chunks.push(bytes.subarray(skip)))
        this.messages.push({ ...message, values: message.type === messageType.command ? readAmf(message.payload) : [] });
    });
  }

  static async connect(server: RtspUnderTest): Promise<RawPublisher> {
    const socket = connect(Number(new URL(rtmpUrl(server)).port), "127.0.0.1");
    onEnd(() => socket.destroy());
    await once(socket, "connect");
    return new RawPublisher(socket);
  }

  shakeHands(): void {
    this.socket.write(Buffer.concat([Buffer.from([3]), Buffer.alloc(2 * 1_536)]));
  }

  command(...values: readonly AmfValue[]): void {
    this.socket.write(writeMessage({ type: messageType.command, chunkStream: 3, stream: 0, payload: writeAmf(values) }));
  }

  status(): unknown {
    return this.messages.findLast(({ values }) => values[0] === "onStatus")?.values[3];
  }
}

describe("a client by RTMP", () => {
  it("[RTSP-94] gets the answers of the protocol, and cannot play", async () => {
    const server = await startRtsp({ rtmp: true, rtmpPort: 0 });
    const client = await RawPublisher.connect(server);
    client.shakeHands();
    client.command("connect", 1, { app: "live", tcUrl: rtmpUrl(server) });
    client.command("releaseStream", 2, null, "a");
    client.command("createStream", 3, null);
    client.socket.write(
      writeMessage({ type: messageType.userControl, chunkStream: 2, stream: 0, payload: Buffer.from([0, 6, 1, 2, 3, 4]) }),
    );
    await until(() => client.messages.some(({ type, payload }) => type === messageType.userControl && payload[1] === 7));
    expect(client.messages.filter(({ values }) => values.length > 0).map(({ values }) => values)).toEqual([
      ["_result", 1, expect.objectContaining({ capabilities: 31 }), expect.objectContaining({ code: "NetConnection.Connect.Success" })],
      ["_result", 2, null, null],
      ["_result", 3, null, 1],
    ]);
    client.command("play", 4, null, "a");
    await until(() => client.closed);
    expect(client.status()).toMatchObject({ level: "error", code: "NetStream.Play.Failed" });
  });

  it("[RTSP-94] is closed where it is silent, too slow to publish, or speaks something else", async () => {
    const server = await startRtsp({ rtmp: true, rtmpPort: 0, silenceSeconds: 1 });
    const silent = await RawPublisher.connect(server);
    const other = await RawPublisher.connect(server);
    other.socket.write("GET / HTTP/1.1\r\n\r\n");
    const publisher = await RawPublisher.connect(server);
    publisher.shakeHands();
    publisher.command("connect", 1, { app: "live" });
    publisher.command("publish", 2, null, "a", "live");
    for (const client of [silent, other, publisher]) await until(() => client.closed);
    expect(publisher.status()).toMatchObject({ code: "NetStream.Publish.Start" });
    await until(() => server.logs.some(({ text }) => text.includes("what it speaks is not RTMP")));
  });

  it("[RTSP-95] where the worker dies, its publishers end with a line in the log, and it listens again on the same port", async () => {
    const folder = temporaryDir();
    const file = path.join(folder, "worker.mjs");
    writeFileSync(
      file,
      `import { createServer } from "node:net";
       import { parentPort } from "node:worker_threads";
       parentPort.on("message", ({ options }) => {
         const server = createServer(() => { throw new Error("a fault"); });
         server.listen(options.port, "127.0.0.1", () => parentPort.postMessage({ type: "listening", port: server.address().port }));
       });`,
    );
    const lines: string[] = [];
    const { RtmpIngest } = await import("../../servers/rtsp/rtmp/rtmp-ingest.ts");
    const { createLog } = await import("../../servers/core/service/log.ts");
    const ingest = await RtmpIngest.listen({
      port: 0,
      openToLan: false,
      connections: 10,
      connectionsPerAddress: 10,
      messageBytes: 1 << 20,
      silenceMs: 1_000,
      worker: file,
      log: createLog({ level: () => "debug", write: ({ text }) => void lines.push(text) }),
      ...({} as Pick<Parameters<typeof RtmpIngest.listen>[0], "paths" | "access" | "recorder" | "limits">),
    });
    onEnd(() => ingest.close());
    const { port } = ingest;
    for (const [index, seconds] of [0.5, 1].entries()) {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => {});
      await once(socket, "close");
      await until(() => lines.length === 2 * index + 2);
      expect(lines.slice(-2)).toEqual([
        `RTMP has ended unexpectedly: a fault. It starts again in ${seconds} s.`,
        `RTMP listens again on port ${port}`,
      ]);
    }
  });
});

describe("bytes of RTMP", () => {
  it("[RTSP-94] the path is the application and the name; the user is in either query, or in the server's URL", () => {
    expect(targetOf("live", "camera", "rtmp://host/live")).toEqual({ path: "live/camera", user: undefined, password: undefined });
    expect(targetOf("live", "a%20b?user=anna&pass=x%26y", "")).toEqual({ path: "live/a b", user: "anna", password: "x&y" });
    expect(targetOf("live?user=anna&pass=x", "", "")).toEqual({ path: "live", user: "anna", password: "x" });
    expect(targetOf("site/live/", "/a", "rtmp://anna:s%3As@host/site/live")).toEqual({
      path: "site/live/a",
      user: "anna",
      password: "s:s",
    });
    expect(targetOf("%zz", "a", "no URL")).toMatchObject({ path: "%zz/a" });
  });

  it("[RTSP-96] messages in chunks of any size are read in any pieces", () => {
    const random = seededRandom(11);
    const messages = Array.from({ length: 40 }, (_, index) => ({
      type: index % 2 === 0 ? messageType.video : messageType.audio,
      chunkStream: 3 as const,
      stream: 1,
      payload: Buffer.from(Array.from({ length: random.below(9_000) }, () => random.below(256))),
    }));
    const setSize = writeMessage({ type: messageType.setChunkSize, chunkStream: 2, stream: 0, payload: Buffer.from([0, 0, 16, 0]) });
    const bytes = Buffer.concat([setSize, ...messages.map(writeMessage)]);
    const reader = new ChunkReader({ messageBytes: 1 << 20, chunkStreams: 8 });
    const read: RtmpMessage[] = [];
    for (let at = 0; at < bytes.length; ) {
      const count = 1 + random.below(3_000);
      read.push(...reader.push(bytes.subarray(at, at + count)));
      at += count;
    }
    expect(read.map(({ type, payload }) => ({ type, payload }))).toEqual(messages.map(({ type, payload }) => ({ type, payload })));
  });

  it("[RTSP-96] headers without fields repeat those before; times go on over 2^24", () => {
    const reader = new ChunkReader({ messageBytes: 1 << 20, chunkStreams: 8 });
    const timesOf = (...bytes: readonly number[]) => [...reader.push(Buffer.from(bytes))].map(({ timestamp }) => timestamp);
    expect(timesOf(0x04, 0, 0, 100, 0, 0, 1, 8, 1, 0, 0, 0, 0xaa)).toEqual([100]);
    expect(timesOf(0x44, 0, 0, 20, 0, 0, 1, 8, 0xaa)).toEqual([120]);
    expect(timesOf(0x84, 0, 0, 30, 0xaa, 0xc4, 0xaa)).toEqual([150, 180]);
    expect(timesOf(0x04, 0xff, 0xff, 0xff, 0, 0, 1, 8, 1, 0, 0, 0, 0x7f, 0, 0, 0, 0xaa)).toEqual([0x7f00_0000]);
    expect(timesOf(0x44, 0, 0, 20, 0, 0, 1, 8, 0xaa)).toEqual([0x7f00_0014]);
  });

  it("[RTSP-97] no bytes make the readers fail in another way, hang, or keep more than their limits", () => {
    const random = seededRandom(5);
    const anyBytes = (most: number) => Buffer.from(Array.from({ length: random.below(most) }, () => random.below(256)));
    const valid = writeMessage({
      type: messageType.command,
      chunkStream: 3,
      stream: 0,
      payload: writeAmf(["connect", 1, { app: "live", list: { deep: { deeper: true } } }]),
    });
    const mutated = (bytes: Buffer) => {
      const copy = Buffer.from(bytes);
      for (let count = 1 + random.below(4); count > 0; count--) copy[random.below(copy.length)] = random.below(256);
      return copy;
    };
    for (let round = 0; round < 4_000; round++) {
      const reader = new ChunkReader({ messageBytes: 10_000, chunkStreams: 16 });
      const bytes = round % 2 === 0 ? anyBytes(600) : mutated(valid);
      try {
        for (const { payload } of reader.push(bytes)) {
          expect(payload.length).toBeLessThanOrEqual(10_000);
          readAmf(payload);
        }
      } catch (error) {
        if (!(error instanceof RtmpError || error instanceof AmfError)) throw error;
      }
    }
    for (let round = 0; round < 4_000; round++) {
      const media = new FlvMedia({ onTracks() {}, onTrack() {}, onFrame() {} });
      try {
        for (let count = 0; count < 6; count++) {
          const kind = [messageType.video, messageType.audio, messageType.data][random.below(3)] ?? 9;
          const head = [0x17, 0x90, 0xaf, 0x27, 0x02][random.below(5)] ?? 0;
          media.push(kind, random.below(2 ** 32), Buffer.concat([Buffer.from([head, random.below(3)]), anyBytes(80)]));
        }
      } catch (error) {
        if (!(error instanceof FlvError)) throw error;
      }
    }
    const endless = new ChunkReader({ messageBytes: 10_000, chunkStreams: 16 });
    expect(() => {
      for (let id = 3; id < 40; id++)
        for (const _ of endless.push(Buffer.concat([Buffer.from([id, 0, 0, 0, 0, 0x27, 0x10, 9, 1, 0, 0, 0]), Buffer.alloc(128)])));
    }).toThrow(RtmpError);
  });

  it("[RTSP-98] frames have the times of the tags: pictures with both, sound without the rounding to milliseconds", () => {
    const frames: Frame[] = [];
    let tracks: readonly Track[] = [];
    const media = new FlvMedia({ onTracks: (known) => (tracks = known), onTrack() {}, onFrame: (frame) => void frames.push(frame) });
    const sps = Buffer.from("6742c01ed901e096e1000003000100000300320f162e48", "hex");
    const pps = Buffer.from("68cb83cb20", "hex");
    const length = (unit: Buffer) => Buffer.from([unit.length >> 8, unit.length & 0xff]);
    const record = Buffer.concat([Buffer.from([1, 0x42, 0xc0, 0x1e, 0xff, 0xe1]), length(sps), sps, Buffer.from([1]), length(pps), pps]);
    const unit = (type: number) => Buffer.from([0, 0, 0, 3, type, 1, 2]);
    media.push(messageType.data, 0, writeAmf(["@setDataFrame", "onMetaData", { videocodecid: 7, audiocodecid: 10 }]));
    media.push(messageType.video, 1_000, Buffer.concat([Buffer.from([0x17, 0, 0, 0, 0]), record]));
    media.push(messageType.video, 1_000, Buffer.concat([Buffer.from([0x17, 1, 0, 0, 80]), unit(0x65)]));
    expect(tracks).toEqual([]);
    media.push(messageType.audio, 1_000, Buffer.from([0xaf, 0, 0x11, 0x90]));
    expect(tracks.map(({ codec }) => codec)).toEqual(["h264", "aac"]);
    for (const [index, ms] of [1_000, 1_021, 1_043, 1_064].entries()) media.push(messageType.audio, ms, Buffer.from([0xaf, 1, index]));
    media.push(messageType.video, 1_040, Buffer.concat([Buffer.from([0x27, 1, 0xff, 0xff, 0xd8]), unit(0x41)]));
    expect(frames.map(({ track, pts, dts, isKey }) => [track, pts, dts, isKey])).toEqual([
      [0, 7_200, 0, true],
      ...[0, 1_024, 2_048, 3_072].map((pts) => [1, pts, pts, true]),
      [0, 0, 3_600, false],
    ]);
  });
});

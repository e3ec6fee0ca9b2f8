import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { assetFile } from "../../servers/core/files/asset-file.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { messageType, writeMessage } from "../../servers/rtsp/rtmp/chunk-stream.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { until } from "../support/until.ts";
import { onEnd, type RtspUnderTest, startRtsp } from "./harness.ts";
import { lacksFfmpeg, runProgram } from "./media-programs.ts";
import { RawPublisher, rtmpUrl } from "./raw-publisher.ts";

const clip = assetFile("rtsp", "stream.mp4");
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

  it("[RTSP-194] tens of thousands of messages without a byte, or with one, end no other publisher", async () => {
    const server = await startRtsp({ rtmp: true, rtmpPort: 0, silenceSeconds: 60 });
    const publisher = (name: string) => RawPublisher.publish(server, name);
    const other = await publisher("other");
    for (const [type, payload] of [
      [messageType.audio, Buffer.alloc(0)],
      // A null of AMF.
      [messageType.data, Buffer.from([5])],
    ] as const) {
      const client = await publisher(`hostile ${type}`);
      client.socket.write(writeMessage({ type, chunkStream: 3, stream: 1, payload }));
      // Each repeats the header of the first one.
      client.socket.write(Buffer.concat(Array<Buffer>(50_000).fill(Buffer.concat([Buffer.from([0xc3]), payload]))));
      const ping = (number: number) =>
        writeMessage({ type: messageType.userControl, chunkStream: 2, stream: 0, payload: Buffer.from([0, 6, 0, 0, 0, number]) });
      client.socket.write(ping(type));
      other.socket.write(ping(type));
      for (const one of [client, other])
        await until(() => one.messages.some((message) => message.type === messageType.userControl && message.payload[5] === type));
    }
    expect(other.closed).toBe(false);
    expect(server.logs.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("[RTSP-199] what is received in part of all clients is bounded: those that have most end, and others go on", async () => {
    const server = await startRtsp({ rtmp: true, rtmpPort: 0, silenceSeconds: 60, rtmpAllMessageBytes: 4 << 20 });
    const publisher = (name: string) => RawPublisher.publish(server, name);
    const begun = (bytes: number) => {
      const chunkSize = writeMessage({
        type: messageType.setChunkSize,
        chunkStream: 2,
        stream: 0,
        payload: Buffer.from([0, 0xff, 0xff, 0xff]),
      });
      const head = Buffer.from([4, 0, 0, 0, 0, 0, 0, messageType.video, 1, 0, 0, 0]);
      head.writeUIntBE(bytes, 4, 3);
      return Buffer.concat([chunkSize, head, Buffer.alloc(bytes - 1)]);
    };
    const modest = await publisher("modest");
    modest.socket.write(begun(100_000));
    const hostile = await Promise.all(["a", "b", "c"].map(publisher));
    for (const client of hostile) client.socket.write(begun(2 << 20));
    await until(() => hostile.some(({ closed }) => closed));
    expect(await server.ended(({ target }) => /^\/live\/[abc]$/.test(target))).toMatchObject({
      outcome: "what waited of its messages was most, and RTMP_ALL_MESSAGE_BYTES is exceeded",
    });
    expect(modest.closed).toBe(false);
    const stranger = await RawPublisher.connect(server);
    stranger.shakeHands();
    stranger.socket.write(begun(70_000));
    await until(() => stranger.closed);
    await until(() => server.logs.some(({ text }) => text.includes("a message of 70000 bytes is too long")));
    expect(modest.closed).toBe(false);
  });

  it("[RTSP-95] where the worker dies, its publishers end with a line in the log, and it listens again on the same port", async () => {
    const folder = temporaryDir();
    const file = path.join(folder, "worker.mjs");
    writeFileSync(
      file,
      `import { createServer } from "node:net";
       import { parentPort } from "node:worker_threads";
       parentPort.on("message", ({ options }) => {
         if (!options) return;
         const server = createServer(() => { throw new Error("a fault"); });
         server.listen(options.port, "127.0.0.1", () => parentPort.postMessage({ type: "listening", port: server.address().port }));
       });`,
    );
    const { ingest, lines } = await listenWith(file);
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

async function listenWith(worker: string, pingMs?: number) {
  const entry = { begins() {}, failed() {} };
  const parts = { access: { check: () => new Promise(() => {}) }, recorder: { begin: () => entry, endConnection() {} } } as object;
  const lines: string[] = [];
  const { RtmpIngest } = await import("../../servers/rtsp/rtmp/rtmp-ingest.ts");
  const { createLog } = await import("../../servers/core/service/log.ts");
  const ingest = await RtmpIngest.listen({
    port: 0,
    openToLan: false,
    connections: 10,
    connectionsPerAddress: 10,
    messageBytes: 1 << 20,
    allMessageBytes: 1 << 24,
    silenceMs: 1_000,
    worker,
    turns: new WorkTurns(),
    ...(pingMs !== undefined && { pingMs }),
    log: createLog({ level: () => "debug", write: ({ text }) => void lines.push(text) }),
    ...(parts as Pick<Parameters<typeof RtmpIngest.listen>[0], "paths" | "access" | "recorder" | "limits">),
  });
  onEnd(() => ingest.close());
  return { ingest, lines };
}

it("[RTSP-190] a worker that does nothing else any more is ended and started again, with a line in the log", async () => {
  const file = path.join(temporaryDir(), "worker.mjs");
  writeFileSync(
    file,
    `import { createServer } from "node:net";
     import { parentPort } from "node:worker_threads";
     parentPort.on("message", ({ type, options }) => {
       if (type === "ping") parentPort.postMessage({ type: "pong" });
       if (type !== "listen") return;
       const server = createServer(() => { for (;;); });
       server.listen(options.port, "127.0.0.1", () => parentPort.postMessage({ type: "listening", port: server.address().port }));
     });`,
  );
  const { ingest, lines } = await listenWith(file, 1_000);
  const socket = connect(ingest.port, "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "close");
  await until(() => lines.length === 2);
  expect(lines).toEqual([
    "RTMP has ended unexpectedly: it has not answered for 3 s. It starts again in 0.5 s.",
    `RTMP listens again on port ${ingest.port}`,
  ]);
});

it("[RTSP-198] publishers take turns: one that sends much delays no other", async () => {
  const file = path.join(temporaryDir(), "worker.mjs");
  writeFileSync(
    file,
    `import { parentPort } from "node:worker_threads";
     const messages = 20_000;
     const taken = [0, 0, 0];
     parentPort.on("message", ({ type, publisher }) => {
       if (type === "taken") {
         taken[publisher]++;
         if (publisher === 2) parentPort.postMessage({ type: "dropped", remote: "", reason: taken[1] < messages ? "in turns" : "behind" });
       }
       if (type !== "listen") return;
       parentPort.postMessage({ type: "listening", port: 1 });
       for (const publisher of [1, 2]) {
         const publish = { path: "live/" + publisher, address: "127.0.0." + publisher, remote: "", local: "", openedAt: 0, userAgent: "" };
         parentPort.postMessage({ type: "publish", publisher, publish });
       }
       const media = { type: "media", kind: 9, timestamp: 0, payload: new Uint8Array(1) };
       for (let count = 0; count < messages; count++) parentPort.postMessage({ ...media, publisher: 1 });
       parentPort.postMessage({ ...media, publisher: 2 });
     });`,
  );
  const { lines } = await listenWith(file);
  await until(() => lines.some((line) => line.includes("in turns") || line.includes("behind")));
  expect(lines.at(-1)).toContain("in turns");
});

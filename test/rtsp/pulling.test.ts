import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, it } from "vitest";
import { maskedAddressLines, restoredAddressLines, withoutUserinfo } from "../../servers/core/credentials/masked-secrets.ts";
import { SharedBudget } from "../../servers/core/limits/shared-budget.ts";
import { createLog } from "../../servers/core/service/log.ts";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { pullUpstream } from "../../servers/rtsp/client/pull-upstream.ts";
import { rtspConfig } from "../../servers/rtsp/rtsp-config.ts";
import { PulledSource } from "../../servers/rtsp/streams/pulled-source.ts";
import { WaitingPlaces } from "../../servers/rtsp/streams/waiting-readers.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { until } from "../support/until.ts";
import { onEnd, type RtspUnderTest, startRtsp } from "./harness.ts";
import { lacksFfmpeg, runProgram } from "./media-programs.ts";

const pulled = (server: RtspUnderTest) => server.views.get("paths")?.paths.find(({ name }) => name === "door");

it.skipIf(lacksFfmpeg)(
  "[RTSP-80] a path with an upstream is fetched while somebody plays it, also with a password",
  { timeout: 60_000 },
  async () => {
    const upstream = await startRtsp({ users: ["ada:pass word"] });
    const server = await startRtsp({ pulls: [`door ${upstream.url.replace("//", "//ada:pass%20word@")}/stream`], pullIdleSeconds: 1 });
    expect(await until(() => pulled(server))).toMatchObject({ ready: false, source: { kind: "pull", title: `${upstream.url}/stream` } });
    expect(upstream.rows()).toEqual([]);
    const { stdout } = await runProgram("ffprobe", [
      "-v",
      "error",
      "-rtsp_transport",
      "tcp",
      "-show_entries",
      "stream=codec_name",
      "-of",
      "csv=p=0",
      `${server.url}/door`,
    ]);
    expect(stdout.toString().trim().split(/\s+/)).toEqual(["h264", "aac"]);
    const row = await upstream.ended(({ outcome }) => outcome === "TEARDOWN");
    expect(row).toMatchObject({ client: "Backlot", user: "ada", verb: "play" });
    await until(() => pulled(server)?.ready === false);
  },
);

it("[RTSP-83] the problem of a line that is none names no address, nor a part of its password", () => {
  const problems = (pulls: string[]) => rtspConfig.safeParse({ pulls }).error?.issues.map(({ message }) => message);
  const is = (text: string) => `"${text}" is not a path, a space and an address of RTSP`;
  // A comma of a password ends an entry of a variable.
  expect(problems(["cam rtsp://ada:se", "cret@host/1", "cam http://ada:secret@host/1", "/"])).toEqual(
    ["cam rtsp:…", "…", "cam …", "/"].map(is),
  );
});

it("[RTSP-80] an upstream over TLS is fetched where its certificate is trusted, and else the log says why", async () => {
  const certificates = temporaryDir();
  const upstream = await startRtsp({ tls: true }, certificates);
  const url = upstream.endpoints.find(({ url }) => url.startsWith("rtsps:"))?.url ?? "";
  const server = await startRtsp({ pulls: [`door ${url}`], pullWaitSeconds: 5 }, certificates);
  const player = await server.connect();
  await player.play("/door");
  await until(() => player.rtp(0).length > 30 && player.rtp(2).length > 30);
  const { id } = await until(() => upstream.rows().find(({ outcome }) => outcome === "playing"));
  expect(upstream.detail(id).connection.tls).toBe("TLSv1.3");
  // Another installation has an authority of its own.
  const stranger = await startRtsp({ pulls: [`door ${url}`], pullWaitSeconds: 1 }, temporaryDir());
  expect((await (await stranger.connect()).request("DESCRIBE", "/door")).status).toBe(503);
  await until(() => stranger.logs.some(({ text }) => text.includes("dropped:") && text.includes("certificate")));
});

it("[RTSP-81] when the upstream drops it is fetched again, and the readers go on with a key frame", async () => {
  const first = await startRtsp();
  const server = await startRtsp({ pulls: [`door ${first.url}/stream`] });
  const player = await server.connect();
  await player.play("/door");
  await until(() => player.rtp(0).length > 30);
  await first.stop();
  await until(() => server.logs.some(({ text }) => text.includes("dropped")));
  const before = player.rtp(0).length;
  await startRtsp({ port: first.port });
  await until(() => player.rtp(0).length > before + 30);
  expect(player.closed).toBe(false);
  const packets = player.rtp(0);
  expect(
    packets.slice(1).every((packet, index) => ((packets[index] as Buffer).readUInt16BE(2) + 1) % 65_536 === packet.readUInt16BE(2)),
  ).toBe(true);
  // Time went on in between, and the picture begins with the parameter sets.
  const gap =
    packets.slice(1).findIndex((packet, index) => (packet.readUInt32BE(4) - (packets[index] as Buffer).readUInt32BE(4)) >>> 0 > 20_000) + 1;
  expect(gap).toBeGreaterThan(0);
  expect(((packets[gap] as Buffer)[12] as number) & 0x1f).toBe(24);
});

it("[RTSP-82] an upstream that cannot be reached is a 503 in time, and one that has no such stream too", async () => {
  const upstream = await startRtsp();
  const server = await startRtsp({ pulls: ["door rtsp://127.0.0.1:1/x", `other ${upstream.url}/nothing`], pullWaitSeconds: 1 });
  const client = await server.connect();
  expect((await client.request("DESCRIBE", "/door")).status).toBe(503);
  expect((await client.request("DESCRIBE", "/other")).status).toBe(503);
  expect(server.logs.some(({ text }) => text.includes("DESCRIBE was answered 404"))).toBe(true);
});

it("[RTSP-268] no secret of an upstream's address is shown to anybody, also where the upstream repeats it", async () => {
  const asked: string[] = [];
  const echo = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      const text = bytes.toString();
      const cseq = /CSeq: (\d+)/.exec(text)?.[1];
      const sent = /Authorization: (.*)/.exec(text)?.[1];
      asked.push(text);
      socket.write(
        sent === undefined
          ? `RTSP/1.0 401 Who\r\nCSeq: ${cseq}\r\nWWW-Authenticate: Basic realm="x"\r\n\r\n`
          : `RTSP/1.0 403 ${text.split("\r\n", 1)[0]} ${sent} ${"x".repeat(3_000)}\r\nCSeq: ${cseq}\r\n\r\n`,
      );
    });
  });
  onEnd(() => void echo.close());
  await new Promise<void>((resolve) => echo.listen(0, "127.0.0.1", resolve));
  const { port } = echo.address() as AddressInfo;
  const server = await startRtsp({
    pulls: [`door rtsp://ada:pullsecret@127.0.0.1:${port}/cam?user=ada&password=QuErYsEcReT&channel=2`],
    pullWaitSeconds: 1,
  });
  const http = server.endpoints.find(({ url }) => url.startsWith("http:"))?.url ?? "";
  const answers: string[] = [];
  for (const path of ["/v3/paths/list", "/v3/paths/get/door", "/stats", "/", "/door.ts", "/door/index.m3u8", "/door/snapshot.mp4"])
    answers.push(await (await fetch(new URL(path, http))).text());
  expect((await (await server.connect()).request("DESCRIBE", "/door")).status).toBe(503);
  // The upstream itself gets both.
  expect(asked.some((text) => text.includes("QuErYsEcReT") && text.includes(Buffer.from("ada:pullsecret").toString("base64")))).toBe(true);
  const shown = JSON.stringify([answers, server.logs, server.rows(), [...server.views]]);
  expect(answers[0]).toContain(`rtsp://127.0.0.1:${port}/cam?user=ada&password=…&channel=2`);
  expect(shown).toContain("dropped: DESCRIBE was answered 403 Forbidden");
  expect(shown).not.toMatch(/QuErYsEcReT|pullsecret|YWRhOnB1bGxzZWNyZXQ|xxxx/);
});

it("[RTSP-85] an upstream that is given up before it has answered, and wanted again, is fetched once", async () => {
  const upstream = await startRtsp();
  const waiting: Socket[] = [];
  const proxy = createServer((socket) => void waiting.push(socket.on("error", () => {})));
  onEnd(() => void proxy.close());
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const { port } = proxy.address() as AddressInfo;
  const turns = new WorkTurns();
  const source = new PulledSource({
    ...{ name: "door", url: `rtsp://127.0.0.1:${port}/stream`, tls: async () => ({}), waitMs: 10_000, idleMs: 10_000, turns },
    ...{ packetBytes: 1_400, keptBytes: 1 << 20, media: new SharedBudget(1 << 30), places: new WaitingPlaces(10), onReceived() {} },
    log: createLog({ level: () => "error", write() {} }),
  });
  onEnd(() => {
    source.close("the test is over");
    turns.close();
  });
  const first = source.open();
  await until(() => waiting.length === 1);
  source.close("nobody waits");
  await expect(first).rejects.toThrow("nobody waits");
  const second = source.open();
  await until(() => waiting.length === 2);
  const ended: number[] = [];
  for (const [index, socket] of waiting.entries()) {
    socket.once("close", () => void ended.push(index));
    socket.pipe(connect(upstream.port, "127.0.0.1").on("error", () => {})).pipe(socket);
  }
  let frames = 0;
  (await second).addFrameReader({ onFrame: () => frames++, onEnd() {} });
  await until(() => ended.length > 0 && frames > 10);
  expect(ended).toEqual([0]);
});

it("[RTSP-83] the passwords of upstreams are not shown, and come back with the same address only", () => {
  const lines = ["door rtsp://ada:secret@cam/1", "gate rtsp://cam/2"];
  const shown = maskedAddressLines(lines);
  expect(shown).toEqual(["door rtsp://ada:••••••••@cam/1", "gate rtsp://cam/2"]);
  expect(restoredAddressLines(shown, lines)).toEqual({ lines });
  expect(restoredAddressLines(["door rtsp://ada:••••••••@other/1"], lines)).toEqual({ unknown: "door" });
  expect(withoutUserinfo("rtsp://ada:se@cr:et@cam:554/1?x=a@b")).toBe("rtsp://cam:554/1?x=a@b");
  expect(withoutUserinfo("rtsp://cam/a@b")).toBe("rtsp://cam/a@b");
  expect(restoredAddressLines(["new rtsp://ada:••••••••@cam/1"], lines)).toEqual({ unknown: "new" });
});

it("[RTSP-84] no bytes of an upstream make its client fail in another way, hang, or keep more than its limits", async () => {
  const random = seededRandom(84);
  const media = (kind: string, type: number, codec: string, fmtp: string) =>
    `m=${kind} 0 RTP/AVP ${type}\r\na=rtpmap:${type} ${codec}\r\na=fmtp:${type} ${fmtp}\r\na=control:trackID=${type}\r\n`;
  const description = [
    "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=x\r\nt=0 0\r\na=control:*\r\n",
    media("video", 96, "H264/90000", "packetization-mode=1;sprop-parameter-sets=Z2QAHqzZQKAv+XARAAADAAEAAAMAMg8WLZY=,aOvjyyLA"),
    media("audio", 97, "MPEG4-GENERIC/48000/2", "mode=AAC-hbr;sizelength=13;indexlength=3;indexdeltalength=3;config=1190"),
  ].join("");
  const answers: readonly ((cseq: string) => string)[] = [
    (cseq) =>
      `RTSP/1.0 200 OK\r\nCSeq: ${cseq}\r\nContent-Base: rtsp://127.0.0.1/x/\r\nContent-Length: ${description.length}\r\n\r\n${description}`,
    ...["0-1", "2-3"].map(
      (channels) => (cseq: string) =>
        `RTSP/1.0 200 OK\r\nCSeq: ${cseq}\r\nSession: abcdef;timeout=60\r\nTransport: RTP/AVP/TCP;unicast;interleaved=${channels}\r\n\r\n`,
    ),
    (cseq) => `RTSP/1.0 200 OK\r\nCSeq: ${cseq}\r\nSession: abcdef\r\nRTP-Info: url=x;seq=1;rtptime=2\r\n\r\n`,
  ];
  const packet = () => {
    const length = random.below(60);
    const bytes = Buffer.from(Array.from({ length: 4 + length }, () => random.below(256)));
    bytes.set([0x24, random.below(5), 0, random.chance(0.9) ? length : 255]);
    if (length > 1) bytes.set([0x80, random.chance(0.5) ? 96 : 97], 4);
    return bytes;
  };
  const changed = (text: string) => {
    const bytes = Buffer.from(text);
    if (random.chance(0.5)) for (let change = random.below(4); change >= 0; change--) bytes[random.below(bytes.length)] = random.below(256);
    return bytes;
  };
  const answerAll = (socket: Socket) => {
    let step = 0;
    let patience: NodeJS.Timeout | undefined;
    socket.on("error", () => {});
    socket.on("close", () => clearTimeout(patience));
    socket.on("data", (chunk) => {
      clearTimeout(patience);
      for (const [, cseq = ""] of String(chunk).matchAll(/^CSeq: (\d+)/gim)) {
        const answer = answers[step++];
        if (answer) socket.write(changed(answer(cseq)));
        if (step === answers.length) for (let count = 0; count < 20; count++) socket.write(packet());
      }
      // Its client may not have understood, or may wait for more.
      patience = setTimeout(() => socket.destroy(), 250);
    });
  };
  const upstream = createServer(answerAll).listen(0, "127.0.0.1");
  onEnd(() => upstream.close());
  await until(() => upstream.listening);
  const { port } = upstream.address() as { port: number };
  let [played, failed] = [0, 0];
  const pull = async () => {
    let dropped = () => {};
    const isDropped = new Promise<void>((resolve) => {
      dropped = resolve;
    });
    try {
      const options = { url: `rtsp://127.0.0.1:${port}/x`, tls: async () => ({}), packetBytes: 1_400, keptBytes: 1 << 20 };
      const { stream } = await pullUpstream({ ...options, turns: new WorkTurns(), media: new SharedBudget(1 << 30), onDropped: dropped });
      played++;
      expect(stream.tracks.length).toBeLessThan(3);
      await isDropped;
    } catch (error) {
      expect(error).toBeInstanceOf(Error);
      expect(error).not.toBeInstanceOf(TypeError);
      failed++;
    }
  };
  for (let round = 0; round < 12; round++) await Promise.all(Array.from({ length: 25 }, pull));
  expect(played).toBeGreaterThan(20);
  expect(failed).toBeGreaterThan(20);
});

import { expect, it } from "vitest";
import { maskedAddressLines, restoredAddressLines } from "../../servers/core/credentials/masked-secrets.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { until } from "../support/until.ts";
import { type RtspUnderTest, startRtsp } from "./harness.ts";
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

it("[RTSP-80] an upstream over TLS is fetched where its certificate is trusted, and else the log says why", {
  timeout: 30_000,
}, async () => {
  const certificates = temporaryDir();
  const upstream = await startRtsp({ tls: true }, certificates);
  const url = upstream.endpoints.find(({ url }) => url.startsWith("rtsps:"))?.url ?? "";
  const server = await startRtsp({ pulls: [`door ${url}`], pullWaitSeconds: 5 }, certificates);
  const player = await server.connect();
  await player.play("/door");
  await until(() => player.rtp(0).length > 30 && player.rtp(2).length > 30, 15_000);
  const { id } = await until(() => upstream.rows().find(({ outcome }) => outcome === "playing"));
  expect(upstream.detail(id).connection.tls).toBe("TLSv1.3");
  // Another installation has an authority of its own.
  const stranger = await startRtsp({ pulls: [`door ${url}`], pullWaitSeconds: 1 }, temporaryDir());
  expect((await (await stranger.connect()).request("DESCRIBE", "/door")).status).toBe(503);
  await until(() => stranger.logs.some(({ text }) => text.includes("dropped:") && text.includes("certificate")), 15_000);
});

it("[RTSP-81] when the upstream drops it is fetched again, and the readers go on with a key frame", { timeout: 60_000 }, async () => {
  const first = await startRtsp();
  const server = await startRtsp({ pulls: [`door ${first.url}/stream`] });
  const player = await server.connect();
  await player.play("/door");
  await until(() => player.rtp(0).length > 30, 15_000);
  await first.stop();
  await until(() => server.logs.some(({ text }) => text.includes("dropped")));
  const before = player.rtp(0).length;
  await startRtsp({ port: first.port });
  await until(() => player.rtp(0).length > before + 30, 20_000);
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

it("[RTSP-83] the passwords of upstreams are not shown, and come back with the same address only", () => {
  const lines = ["door rtsp://ada:secret@cam/1", "gate rtsp://cam/2"];
  const shown = maskedAddressLines(lines);
  expect(shown).toEqual(["door rtsp://ada:••••••••@cam/1", "gate rtsp://cam/2"]);
  expect(restoredAddressLines(shown, lines)).toEqual({ lines });
  expect(restoredAddressLines(["door rtsp://ada:••••••••@other/1"], lines)).toEqual({ unknown: "door" });
  expect(restoredAddressLines(["new rtsp://ada:••••••••@cam/1"], lines)).toEqual({ unknown: "new" });
});

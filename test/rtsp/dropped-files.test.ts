import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { assetFile } from "../../servers/core/files/asset-file.ts";
import { pathOfFile } from "../../servers/rtsp/clips/clip-library.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { until } from "../support/until.ts";
import { type RtspUnderTest, startRtsp } from "./harness.ts";
import { ffmpeg, lacksFfmpeg, runProgram } from "./media-programs.ts";

const clip = readFileSync(assetFile("rtsp", "stream.mp4"));
const pieceBytes = 200_000;

/** As the page sends it. */
async function send(server: RtspUnderTest, name: string, bytes: Buffer): Promise<string> {
  const { upload } = await server.act("file.begin", { name, bytes: bytes.length });
  for (let at = 0; at < bytes.length; at += pieceBytes)
    await server.act("file.put", { upload, base64: bytes.toString("base64", at, at + pieceBytes) });
  return (await server.act("file.end", { upload })).path;
}

const filesOf = ({ views }: RtspUnderTest) => views.get("files")?.files ?? [];
const keptIn = ({ dataDir }: RtspUnderTest) => readdirSync(path.join(dataDir, "clips"));
const statusOf = async (server: RtspUnderTest, name: string) => (await (await server.connect()).request("DESCRIBE", `/${name}`)).status;

describe("files that are dropped on the page", () => {
  it.skipIf(lacksFfmpeg)("[RTSP-150] become streams that players read, under a name of their own", async () => {
    const server = await startRtsp();
    expect(await send(server, "Front door (2).MP4", clip)).toBe("Front-door-2");
    await until(() => filesOf(server).length === 1);
    expect(filesOf(server)).toEqual([{ path: "Front-door-2", name: "Front door (2).MP4", bytes: clip.length }]);
    const [file] = keptIn(server).filter((name) => name.endsWith(".mp4"));
    const hashOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
    expect(hashOf(readFileSync(path.join(server.dataDir, "clips", file ?? "")))).toBe(hashOf(clip));
    const args = [
      "-v",
      "error",
      "-rtsp_transport",
      "tcp",
      "-read_intervals",
      "%+2",
      "-show_streams",
      "-of",
      "json",
      `${server.url}/Front-door-2`,
    ];
    const { streams } = JSON.parse((await runProgram("ffprobe", args)).stdout.toString()) as { streams: { codec_name: string }[] };
    expect(streams.map(({ codec_name }) => codec_name)).toEqual(["h264", "aac"]);
  });

  it.skipIf(lacksFfmpeg)("[RTSP-151] are refused with what was found and the line that converts them", async () => {
    const server = await startRtsp();
    const folder = temporaryDir();
    const made = async (name: string, ...args: readonly string[]) => {
      const file = path.join(folder, name);
      await ffmpeg("-f", "lavfi", "-i", "testsrc2=s=160x90:r=10:d=1", "-f", "lavfi", "-i", "sine=440:d=1", ...args, file);
      return readFileSync(file);
    };
    const cases: readonly (readonly [string, Buffer, string, RegExp, RegExp])[] = [
      [
        "a.mp4",
        await made("a.mp4", "-c:v", "mpeg4", "-c:a", "aac"),
        "MEDIA_UNSUPPORTED",
        /MPEG-4 Part 2/,
        /ffmpeg -i FILE -c:v libx264 .* -c:a copy/,
      ],
      [
        "b.mp4",
        await made("b.mp4", "-c:v", "mpeg4", "-c:a", "libmp3lame"),
        "MEDIA_UNSUPPORTED",
        /MPEG-4 Part 2.* and MP3/,
        /ffmpeg .* -c:a aac/,
      ],
      ["c.mkv", await made("c.mkv", "-c:v", "mpeg4", "-c:a", "aac"), "MEDIA_UNSUPPORTED", /Matroska/, /ffmpeg -i FILE /],
      ["d.avi", await made("d.avi", "-c:v", "mpeg4", "-c:a", "libmp3lame"), "MEDIA_UNSUPPORTED", /AVI/, /ffmpeg -i FILE /],
      ["e.ts", await made("e.ts", "-c:v", "mpeg2video", "-c:a", "aac"), "MEDIA_UNSUPPORTED", /MPEG-TS/, /ffmpeg -i FILE /],
      ["f.mp3", await made("f.mp3", "-map", "1", "-c:a", "libmp3lame"), "MEDIA_UNSUPPORTED", /MP3/, /ffmpeg -i FILE /],
      ["g.txt", Buffer.from("These are not pictures.\n"), "MEDIA_UNSUPPORTED", /no MP4 file/, /ffmpeg -i FILE /],
      ["h.mp4", Buffer.alloc(0), "MEDIA_DAMAGED", /because/, /./],
      ["i.mp4", clip.subarray(0, 100_000), "MEDIA_DAMAGED", /because/, /./],
    ];
    for (const [name, bytes, code, found, line] of cases) {
      const refusal = await send(server, name, bytes).catch((error: unknown) => error);
      expect(refusal, name).toMatchObject({ code, message: expect.stringMatching(found), hint: expect.stringMatching(line) });
    }
    expect(filesOf(server)).toEqual([]);
    expect(keptIn(server)).toEqual([]);
  });

  it("[RTSP-152] are limited in size, also by the disk, and leave nothing where they are not complete", async () => {
    const server = await startRtsp({ fileBytes: clip.length });
    const begin = (bytes: number) => server.act("file.begin", { name: "a.mp4", bytes });
    await expect(begin(clip.length + 1)).rejects.toMatchObject({ code: "CALL_INVALID", message: expect.stringContaining("at most") });
    const put = (upload: number, bytes: Buffer) => server.act("file.put", { upload, base64: bytes.toString("base64") });

    const short = await begin(10);
    await put(short.upload, Buffer.alloc(5));
    await expect(server.act("file.end", { upload: short.upload })).rejects.toMatchObject({
      message: "a.mp4 has changed while it was sent",
    });
    const long = await begin(10);
    await expect(put(long.upload, Buffer.alloc(11))).rejects.toMatchObject({ message: "a.mp4 has changed while it was sent" });
    const cancelled = await begin(10);
    await server.act("file.cancel", { upload: cancelled.upload });
    for (const { upload } of [short, long, cancelled])
      await expect(put(upload, Buffer.alloc(1))).rejects.toMatchObject({ code: "JOB_UNKNOWN" });
    expect(keptIn(server)).toEqual([]);

    const open = await Promise.all(Array.from({ length: 8 }, () => begin(10)));
    await expect(begin(10)).rejects.toMatchObject({ message: "Too many uploads are in progress" });
    expect(keptIn(server).length).toBe(8);
    await server.stop();
    expect(keptIn(server)).toEqual([]);
    expect(open.length).toBe(8);
  });

  it("[RTSP-152] are refused where the disk has too little room", async () => {
    const server = await startRtsp({ fileBytes: 2 ** 40 });
    await expect(server.act("file.begin", { name: "a.mp4", bytes: 2 ** 40 })).rejects.toMatchObject({
      code: "CALL_INVALID",
      message: expect.stringMatching(/^The disk of .*clips has no room for the 1099511627776 bytes of a\.mp4/),
    });
  });

  it("[RTSP-153] get a number behind a name that is taken, also one of the settings or of a publisher", async () => {
    const server = await startRtsp({ pulls: ["camera rtsp://127.0.0.1:9/x"] });
    expect(await send(server, "stream.mp4", clip)).toBe("stream-2");
    expect(await send(server, "camera.mp4", clip)).toBe("camera-2");
    expect(await send(server, "a.mp4", clip)).toBe("a");
    const both = await Promise.all([send(server, "a.mp4", clip), send(server, "a.mov", clip)]);
    expect(both.sort()).toEqual(["a-2", "a-3"]);
    expect(["…mp4", ".mp4", "../../etc/passwd.mp4", "ça va?.mp4", `${"x".repeat(300)}.mp4`].map(pathOfFile)).toEqual([
      "mp4",
      "file",
      "etc-passwd",
      "ça-va",
      "x".repeat(80),
    ]);
  });

  it("[RTSP-154] are renamed, which players do not notice, and removed, which ends them", async () => {
    const server = await startRtsp();
    await send(server, "a.mp4", clip);
    const player = await server.connect();
    await player.play("/a");
    await until(() => player.rtp(0).length > 5);
    await server.act("file.rename", { path: "a", to: "site/camera 1" });
    const packets = player.rtp(0).length;
    await until(() => player.rtp(0).length > packets + 20);
    expect(player.closed).toBe(false);
    expect(await statusOf(server, "a")).toBe(404);
    expect(await statusOf(server, "site/camera%201")).toBe(200);
    for (const to of ["test", "../x", "a//b"])
      await expect(server.act("file.rename", { path: "site/camera 1", to })).rejects.toMatchObject({ code: "CALL_INVALID" });
    await expect(server.act("file.remove", { path: "stream" })).rejects.toMatchObject({ code: "CALL_INVALID" });
    await expect(server.act("file.rename", { path: "stream", to: "x" })).rejects.toMatchObject({ code: "CALL_INVALID" });
    await server.act("file.remove", { path: "site/camera 1" });
    await player.ended();
    expect(await statusOf(server, "site/camera%201")).toBe(404);
    expect(keptIn(server)).toEqual(["clips.json"]);
    expect(await server.ended(({ outcome }) => outcome === "its file was removed")).toMatchObject({ verb: "play" });
  });

  it("[RTSP-155] a list of them that cannot be read is set aside, before the next file is written into a new one", async () => {
    const dataDir = temporaryDir();
    const first = await startRtsp({}, undefined, dataDir);
    await send(first, "a.mp4", clip);
    const folder = path.join(first.dataDir, "clips");
    const [list] = keptIn(first).filter((name) => name.endsWith(".json"));
    await first.stop();
    const damaged = readFileSync(path.join(folder, list ?? ""), "utf8").slice(0, -10);
    writeFileSync(path.join(folder, list ?? ""), damaged);
    const second = await startRtsp({}, undefined, dataDir);
    await send(second, "b.mp4", clip);
    await until(
      () =>
        filesOf(second)
          .map((file) => file.path)
          .join() === "b",
    );
    expect(readFileSync(path.join(folder, `${list}.unreadable`), "utf8")).toBe(damaged);
    expect(second.logs.filter(({ text }) => text.includes(`${list}.unreadable`))).toHaveLength(1);
  });

  it("[RTSP-155] are played again after a restart, and listed with the reason where they are not", async () => {
    const dataDir = temporaryDir();
    const first = await startRtsp({}, undefined, dataDir);
    for (const name of ["a.mp4", "b.mp4", "c.mp4"]) await send(first, name, clip);
    await first.act("file.rename", { path: "c", to: "d" });
    await first.stop();
    const second = await startRtsp({ pulls: ["b rtsp://127.0.0.1:9/x"] }, undefined, dataDir);
    await until(() => filesOf(second).length === 3);
    expect(filesOf(second)).toEqual([
      { path: "a", name: "a.mp4", bytes: clip.length },
      { path: "b", name: "b.mp4", bytes: clip.length, problem: "the path has another source; give the file another path" },
      { path: "d", name: "c.mp4", bytes: clip.length },
    ]);
    expect(second.logs.some(({ text }) => text.includes("b.mp4 is not played on /b"))).toBe(true);
    expect(await statusOf(second, "a")).toBe(200);
    await second.act("file.rename", { path: "b", to: "e" });
    expect(await statusOf(second, "e")).toBe(200);
    await until(() => filesOf(second)[1]?.problem === undefined);
  });
});

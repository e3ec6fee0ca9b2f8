import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import { assetFile } from "../../servers/core/files/asset-file.ts";
import { parseRtcp, type RtcpPacket } from "../../servers/core/rtp/rtcp.ts";
import { isRtcp, parseRtpPacket } from "../../servers/core/rtp/rtp-packet.ts";
import { openClip } from "../../servers/rtsp/media/mp4/open-clip.ts";
import type { DepacketizedFrame, Frame, Track } from "../../servers/rtsp/media/track.ts";
import { createDepacketizer } from "../../servers/rtsp/rtp/create-depacketizer.ts";
import { createPacketizer } from "../../servers/rtsp/rtp/create-packetizer.ts";
import { RtpReceiver } from "../../servers/rtsp/rtp/rtp-receiver.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { ffmpeg, hasEncoder, lacksFfmpeg, lacksGstreamer, runProgram } from "./media-programs.ts";

const clipFile = assetFile("rtsp", "stream.mp4");
const clipFrames = (track: number, file = clipFile) => {
  const clip = openClip(file);
  const frames = Array.from({ length: clip.frameCount }, (_, index) => clip.frame(index)).filter((frame) => frame.track === track);
  clip.close();
  return { track: clip.tracks[track] as Track, frames };
};

interface Received {
  readonly frames: readonly DepacketizedFrame[];
  readonly reports: readonly RtcpPacket[];
  readonly dropped: number;
  readonly lost: number;
}

/** A port for RTP; what arrives there is read as this track. `finish` reads what is still on its way. */
async function receiver(
  track: Track,
  parameters: Readonly<Record<string, string>> = {},
): Promise<{ port: number; finish(): Promise<Received> }> {
  const socket: Socket = createSocket({ type: "udp4", recvBufferSize: 4 << 20 });
  onTestFinished(() => void socket.close());
  const ordered = new RtpReceiver({ clockRate: track.clockRate, reorderPackets: 64, reorderMs: 1_000 });
  const depacketizer = createDepacketizer(track, parameters);
  const frames: DepacketizedFrame[] = [];
  const reports: RtcpPacket[] = [];
  let received = 0;
  socket.on("message", (message) => {
    received++;
    if (isRtcp(message)) {
      reports.push(...(parseRtcp(message) ?? []));
      return;
    }
    const packet = parseRtpPacket(message);
    if (!packet) throw new Error("This is no RTP packet.");
    for (const one of ordered.receive(packet, performance.now())) {
      frames.push(...depacketizer.push(one.packet.payload, one.packet.timestamp, one.packet.isMarked, one.isAfterLoss));
    }
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    port: socket.address().port,
    async finish() {
      for (let before = -1; before !== received; ) {
        before = received;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      return { frames, reports, dropped: depacketizer.dropped, lost: ordered.lost };
    },
  };
}

/** Slices of pictures: senders put parameter sets before key frames, and leave delimiters out. */
const slicesOf = (units: readonly Buffer[]) =>
  units.filter((unit) => [1, 5].includes((unit[0] as number) & 0x1f)).map((unit) => unit.toString("base64"));
const bytesOf = (units: readonly Buffer[]) => units.map((unit) => unit.toString("base64"));

describe.skipIf(lacksFfmpeg)("RTP of ffmpeg", () => {
  it("[RTSP-117] the clip's pictures and sound are read frame by frame", async () => {
    const pictures = clipFrames(0);
    const sounds = clipFrames(1);
    const video = await receiver(pictures.track);
    const audio = await receiver(sounds.track);
    // At four times its pace: faster than a socket is read, packets would be lost.
    const output = (kind: string, port: number) => [
      "-map",
      `0:${kind}`,
      "-c",
      "copy",
      "-f",
      "rtp",
      `rtp://127.0.0.1:${port}?rtcpport=${port}&pkt_size=1200`,
    ];
    await ffmpeg("-readrate", "4", "-i", clipFile, ...output("v", video.port), ...output("a", audio.port));
    const shown = await video.finish();
    expect([shown.dropped, shown.lost]).toEqual([0, 0]);
    expect(shown.frames.map(({ units, isKey }) => [slicesOf(units), isKey])).toEqual(
      pictures.frames.map(({ units, isKey }) => [slicesOf(units), isKey]),
    );
    const [first] = shown.frames;
    expect(shown.frames.map(({ timestamp }) => (timestamp - (first?.timestamp ?? 0)) >>> 0)).toEqual(pictures.frames.map(({ pts }) => pts));
    const heard = await audio.finish();
    expect([heard.dropped, heard.lost]).toEqual([0, 0]);
    // ffmpeg gathers frames into packets, and leaves what it has gathered when the file ends.
    expect(heard.frames.length).toBeGreaterThan(430);
    const sent = sounds.frames.slice(0, heard.frames.length);
    expect(heard.frames.map(({ units }) => bytesOf(units))).toEqual(sent.map(({ units }) => bytesOf(units)));
    const start = heard.frames[0]?.timestamp ?? 0;
    expect(heard.frames.map(({ timestamp }) => (timestamp - start) >>> 0)).toEqual(sent.map(({ pts }) => pts));
    expect(shown.reports.map(({ type }) => type)).toContain("sender-report");
  });

  it("[RTSP-117] H.265, and Opus and G.711", async () => {
    const file = `${temporaryDir()}/a.mp4`;
    const sound = ["-f", "lavfi", "-i", "sine=440:r=48000:d=2"];
    if (hasEncoder("libx265")) {
      await ffmpeg(
        "-f",
        "lavfi",
        "-i",
        "testsrc2=s=320x180:r=25:d=1",
        "-c:v",
        "libx265",
        "-x265-params",
        "log-level=none:bframes=2:keyint=25",
        "-tag:v",
        "hvc1",
        file,
      );
      const clip = openClip(file);
      const frames = Array.from({ length: clip.frameCount }, (_, index) => clip.frame(index));
      const target = await receiver(clip.tracks[0] as Track);
      await ffmpeg("-readrate", "4", "-i", file, "-c", "copy", "-f", "rtp", `rtp://127.0.0.1:${target.port}?rtcpport=${target.port}`);
      clip.close();
      const { frames: read, dropped, lost } = await target.finish();
      expect([dropped, lost]).toEqual([0, 0]);
      const slices = (units: readonly Buffer[]) => bytesOf(units.filter((unit) => (unit[0] as number) >> 1 < 32));
      expect(read.map(({ units, isKey }) => [slices(units), isKey])).toEqual(frames.map(({ units, isKey }) => [slices(units), isKey]));
    }
    const opus = await receiver({ kind: "audio", codec: "opus", clockRate: 48_000, channels: 2 });
    await ffmpeg("-readrate", "4", ...sound, "-c:a", "libopus", "-f", "rtp", `rtp://127.0.0.1:${opus.port}?rtcpport=${opus.port}`);
    const { frames: opusFrames, dropped } = await opus.finish();
    expect(dropped).toBe(0);
    expect(opusFrames.length).toBeGreaterThanOrEqual(100);
    const [firstOpus, secondOpus] = opusFrames;
    expect(((secondOpus?.timestamp ?? 0) - (firstOpus?.timestamp ?? 0)) >>> 0).toBe(960);
    const pcmu = await receiver({ kind: "audio", codec: "pcmu", clockRate: 8_000, channels: 1 });
    await ffmpeg(
      "-readrate",
      "4",
      ...sound,
      "-ar",
      "8000",
      "-c:a",
      "pcm_mulaw",
      "-f",
      "rtp",
      `rtp://127.0.0.1:${pcmu.port}?rtcpport=${pcmu.port}`,
    );
    const bytes = (await pcmu.finish()).frames.reduce((sum, { units }) => sum + (units[0]?.length ?? 0), 0);
    expect(bytes).toBe(16_000);
  });
});

describe.skipIf(lacksGstreamer)("RTP of GStreamer", () => {
  it("[RTSP-117] the clip's pictures and sound are read frame by frame", async () => {
    const pictures = clipFrames(0);
    const sounds = clipFrames(1);
    const video = await receiver(pictures.track);
    const audio = await receiver(sounds.track);
    const sink = (port: number) => `udpsink host=127.0.0.1 port=${port} sync=true`;
    await runProgram("gst-launch-1.0", [
      "-q",
      ...`filesrc location=${clipFile} ! qtdemux name=d`.split(" "),
      ...`d.video_0 ! queue ! h264parse ! rtph264pay mtu=1200 aggregate-mode=zero-latency config-interval=-1 ! ${sink(video.port)}`.split(
        " ",
      ),
      ...`d.audio_0 ! queue ! aacparse ! rtpmp4gpay mtu=300 ! ${sink(audio.port)}`.split(" "),
    ]);
    const shown = await video.finish();
    expect([shown.dropped, shown.lost]).toEqual([0, 0]);
    expect(shown.frames.map(({ units, isKey }) => [slicesOf(units), isKey])).toEqual(
      pictures.frames.map(({ units, isKey }) => [slicesOf(units), isKey]),
    );
    const heard = await audio.finish();
    expect([heard.dropped, heard.lost]).toEqual([0, 0]);
    expect(heard.frames.map(({ units }) => bytesOf(units))).toEqual(sounds.frames.map(({ units }) => bytesOf(units)));
  });

  /** As RFC 4571 has packets on a stream: behind two bytes of length, which the interleaved prefix ends with. */
  const streamed = (track: Track, frames: readonly Frame[], packetBytes: number) => {
    const target = createPacketizer(track, { track: 0, payloadType: 96, packetBytes });
    return Buffer.concat(
      frames.flatMap((frame) => {
        const { bytes, offsets } = target.packetize(frame);
        return offsets.map((offset, index) => bytes.subarray(offset + 2, offsets[index + 1]));
      }),
    );
  };
  const read = async (input: Buffer, caps: string, rest: string) => {
    const pipeline = `fdsrc fd=0 ! application/x-rtp-stream,payload=96,${caps} ! rtpstreamdepay ! ${rest} ! fdsink fd=1`;
    return (await runProgram("gst-launch-1.0", ["-q", ...pipeline.split(" ")], input)).stdout;
  };
  const withStartCodes = (units: readonly Buffer[]) => Buffer.concat(units.flatMap((unit) => [Buffer.from([0, 0, 0, 1]), unit]));

  it("[RTSP-117] what is made here is read byte by byte: H.264, AAC in fragments, Opus", async () => {
    const { track, frames } = clipFrames(0);
    if (track.codec !== "h264") throw new Error("The pictures are not H.264.");
    const parameterSets = [...track.sps, ...track.pps];
    const pictures = await read(
      streamed(track, frames, 300),
      "media=video,clock-rate=90000,encoding-name=H264",
      "rtph264depay ! video/x-h264,stream-format=byte-stream,alignment=au",
    );
    const sent = Buffer.concat(frames.map(({ units, isKey }) => withStartCodes(isKey ? [...parameterSets, ...units] : units)));
    expect(pictures.equals(sent)).toBe(true);
    const sounds = clipFrames(1);
    if (sounds.track.codec !== "aac") throw new Error("The sound is not AAC.");
    const fields = "mode=(string)AAC-hbr,sizelength=(string)13,indexlength=(string)3,indexdeltalength=(string)3,streamtype=(string)5";
    const heard = await read(
      streamed(sounds.track, sounds.frames, 100),
      `media=audio,clock-rate=48000,encoding-name=MPEG4-GENERIC,${fields},config=(string)${sounds.track.config.toString("hex")}`,
      "rtpmp4gdepay",
    );
    expect(heard.equals(Buffer.concat(sounds.frames.flatMap(({ units }) => units)))).toBe(true);
    const opus = clipFrames(0, assetFile("rtsp", "sound-opus.mp4"));
    const opusHeard = await read(
      streamed(opus.track, opus.frames, 1_400),
      "media=audio,clock-rate=48000,encoding-name=OPUS",
      "rtpopusdepay",
    );
    expect(opusHeard.equals(Buffer.concat(opus.frames.flatMap(({ units }) => units)))).toBe(true);
  });

  it.skipIf(lacksFfmpeg)("[RTSP-117] what is made here is read byte by byte: H.265", async () => {
    if (!hasEncoder("libx265")) return;
    const file = `${temporaryDir()}/a.mp4`;
    const encoder = ["-c:v", "libx265", "-x265-params", "log-level=none:keyint=10", "-tag:v", "hvc1"];
    await ffmpeg("-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=1", ...encoder, file);
    const { track, frames } = clipFrames(0, file);
    if (track.codec !== "h265") throw new Error("The pictures are not H.265.");
    const parameterSets = [...track.vps, ...track.sps, ...track.pps];
    const pictures = await read(
      streamed(track, frames, 300),
      "media=video,clock-rate=90000,encoding-name=H265",
      "rtph265depay ! video/x-h265,stream-format=byte-stream,alignment=au",
    );
    const sent = Buffer.concat(frames.map(({ units, isKey }) => withStartCodes(isKey ? [...parameterSets, ...units] : units)));
    expect(pictures.equals(sent)).toBe(true);
  });
});

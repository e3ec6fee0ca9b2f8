import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { errorText } from "../../servers/core/service/service-error.ts";
import { lacksFfmpeg, lacksGstreamer, runProgram } from "../rtsp/media-programs.ts";
import { chromiumOptions } from "../support/chromium-options.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { until } from "../support/until.ts";
import { startLossyPath } from "./lossy-path.ts";
import { type MediaUnderTest, startMediaServices } from "./media-harness.ts";
import { playerOffer } from "./media-offers.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await chromium.launch({ ...chromiumOptions, args: [...chromiumOptions.args, "--autoplay-policy=no-user-gesture-required"] });
});
afterAll(() => browser.close());

/** A page of the service's own origin: the answer to a request that no route takes. */
async function openPage({ url }: MediaUnderTest): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(`${url}/whep/`);
  return page;
}

interface Played {
  readonly status: number;
  readonly location: string;
}

/** Begins to play, by another port than that of the answer if there is one; the page keeps the connection as `player`. */
async function play(page: Page, path: string, mediaPort = 0): Promise<Played> {
  return await page.evaluate(
    async ([name, port]) => {
      const pc = new RTCPeerConnection();
      pc.addTransceiver("video", { direction: "recvonly" });
      pc.addTransceiver("audio", { direction: "recvonly" });
      const video = document.createElement("video");
      video.autoplay = true;
      document.body.append(video);
      pc.ontrack = ({ streams: [stream] }) => {
        video.srcObject = stream as MediaStream;
      };
      await pc.setLocalDescription();
      const body = pc.localDescription?.sdp ?? "";
      const response = await fetch(`/whep/${name}`, { method: "POST", headers: { "content-type": "application/sdp" }, body });
      const answer = await response.text();
      const sdp = port === 0 ? answer : answer.replace(/(a=candidate:\S+ 1 udp \d+ \S+) \d+/g, `$1 ${port}`);
      if (response.status === 201) await pc.setRemoteDescription({ type: "answer", sdp });
      Object.assign(globalThis, { player: pc, video, answer });
      return { status: response.status, location: response.headers.get("location") ?? "" };
    },
    [path, mediaPort] as const,
  );
}

interface Received {
  readonly state: string;
  readonly pictures: number;
  readonly width: number;
  readonly soundSamples: number;
  readonly soundLevel: number;
  readonly lost: number;
  /** Requests for packets of pictures, and for key frames. */
  readonly nacks: number;
  readonly plis: number;
}

const received = (page: Page): Promise<Received> =>
  page.evaluate(async () => {
    const { player } = globalThis as unknown as { player: RTCPeerConnection };
    const found = { state: player.connectionState, pictures: 0, width: 0, soundSamples: 0, soundLevel: 0, lost: 0, nacks: 0, plis: 0 };
    for (const stats of (await player.getStats()).values()) {
      if (stats.type !== "inbound-rtp") continue;
      found.lost += stats.packetsLost;
      if (stats.kind === "video")
        Object.assign(found, {
          ...{ pictures: stats.framesDecoded ?? 0, width: stats.frameWidth ?? 0 },
          ...{ nacks: stats.nackCount ?? 0, plis: stats.pliCount ?? 0 },
        });
      else Object.assign(found, { soundSamples: stats.totalSamplesReceived ?? 0, soundLevel: stats.totalAudioEnergy ?? 0 });
    }
    return found;
  });

/** Of an answer. */
async function mediaPortOf({ offer }: MediaUnderTest): Promise<number> {
  const answer = await (await offer("/whep/stream", playerOffer())).text();
  return Number(/127\.0\.0\.1 (\d+) typ host/.exec(answer)?.[1]);
}

/** Publishes a canvas that changes, and a tone. */
async function publish(page: Page, path: string): Promise<Played> {
  return await page.evaluate(async (name) => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 320, height: 240 });
    const drawing = canvas.getContext("2d") as CanvasRenderingContext2D;
    let hue = 0;
    setInterval(() => {
      drawing.fillStyle = `hsl(${hue++ % 360} 80% 50%)`;
      drawing.fillRect(0, 0, 320, 240);
    }, 40);
    const context = new AudioContext();
    const tone = context.createOscillator();
    const output = context.createMediaStreamDestination();
    tone.connect(output);
    tone.start();
    const stream = canvas.captureStream(25);
    const pc = new RTCPeerConnection();
    for (const track of [...stream.getTracks(), ...output.stream.getTracks()]) pc.addTransceiver(track, { direction: "sendonly" });
    await pc.setLocalDescription();
    const body = pc.localDescription?.sdp ?? "";
    const response = await fetch(`/whip/${name}`, { method: "POST", headers: { "content-type": "application/sdp" }, body });
    const sdp = await response.text();
    if (response.status === 201) await pc.setRemoteDescription({ type: "answer", sdp });
    Object.assign(globalThis, { publisher: pc });
    return { status: response.status, location: response.headers.get("location") ?? "" };
  }, path);
}

describe("Chromium", () => {
  it.each([
    ["test", 1_280],
    ["stream", 640],
  ] as const)("[WEBRTC-300] plays /whep/%s with moving pictures and sound", async (path, width) => {
    const services = await startMediaServices();
    const page = await openPage(services);
    expect(await play(page, path)).toMatchObject({ status: 201, location: expect.stringContaining(`/whep/${path}/`) });
    await until(async () => (await received(page)).pictures > 50);
    const first = await received(page);
    await until(async () => (await received(page)).pictures > first.pictures + 25);
    expect(await until(async () => (await received(page)).width)).toBe(width);
    expect((await received(page)).state).toBe("connected");
    await until(async () => (await received(page)).soundLevel > 0);
    const view = await until(() => services.webrtc.views.get("media")?.sessions.find(({ rttMs }) => rttMs !== undefined));
    expect(view).toMatchObject({ protocol: "whep", path, state: "connected", codecs: "H.264, Opus", leftOut: [] });
    await page.evaluate(() => (globalThis as unknown as { player: RTCPeerConnection }).player.close());
    const row = await services.webrtc.ended(({ kind }) => kind === "webrtc-media");
    expect(row).toMatchObject({ outcome: "the client has closed it", tone: "neutral" });
    expect(services.webrtc.detail(row.id)).toMatchObject({ pair: { remote: expect.stringMatching(/:\d+$/) }, protocol: "whep" });
    await page.close();
  });

  it("[WEBRTC-315] [WEBRTC-318] stops playing with the RTSP service, or when it is disconnected from the dashboard", async () => {
    const services = await startMediaServices();
    const page = await openPage(services);
    await play(page, "test");
    await until(async () => (await received(page)).pictures > 0);
    const row = services.webrtc.rows().find(({ kind }) => kind === "webrtc-media")?.id ?? 0;
    expect(await services.webrtc.act("media.end", { row })).toEqual({ ended: true });
    expect(await services.webrtc.ended(({ id }) => id === row)).toMatchObject({
      outcome: "disconnected from the dashboard",
      tone: "failed",
    });
    await play(page, "stream");
    await until(async () => (await received(page)).pictures > 0);
    await services.stopRtsp();
    const ended = await services.webrtc.ended(({ target }) => target === "/stream");
    expect(ended).toMatchObject({ tone: "failed", outcome: expect.stringMatching(/RTSP was stopped|service stops/) });
    await page.close();
  });

  it("[WEBRTC-303] gets again what is lost on the way, and after a longer loss the pictures from a key frame on", {
    timeout: 180_000,
  }, async () => {
    const services = await startMediaServices();
    const random = seededRandom(3_303);
    let lossOf = 0;
    const path = await startLossyPath(await mediaPortOf(services), () => random.chance(lossOf));
    const page = await openPage(services);
    await play(page, "stream", path.port);
    await until(async () => (await received(page)).pictures > 25);
    lossOf = 0.1;
    const before = await received(page);
    const afterLoss = await until(async () => {
      const now = await received(page);
      return now.nacks > before.nacks && now.pictures > before.pictures + 75 && now;
    });
    lossOf = 1;
    await until(async () => (await received(page)).plis > afterLoss.plis);
    lossOf = 0;
    await until(async () => (await received(page)).pictures > afterLoss.pictures + 50);
    await page.evaluate(() => (globalThis as unknown as { player: RTCPeerConnection }).player.close());
    const { id } = await services.webrtc.ended(({ tone }) => tone === "neutral");
    const { tracks, keyFrameRequests } = services.webrtc.detail(id);
    expect(tracks.find(({ kind }) => kind === "video")?.retransmitted).toBeGreaterThan(0);
    expect(keyFrameRequests).toBeGreaterThan(0);
    await page.close();
  });

  it("[WEBRTC-304] restarts ICE while it plays", async () => {
    const services = await startMediaServices();
    const page = await openPage(services);
    const { location } = await play(page, "stream");
    await until(async () => (await received(page)).pictures > 25);
    const restarted = await page.evaluate(async (url) => {
      const { player, answer } = globalThis as unknown as { player: RTCPeerConnection; answer: string };
      player.restartIce();
      await player.setLocalDescription();
      const [body] = /a=ice-ufrag:.*\r\na=ice-pwd:.*\r\n/.exec(player.localDescription?.sdp ?? "") ?? [""];
      const headers = { "content-type": "application/trickle-ice-sdpfrag", "if-match": "*" };
      const response = await fetch(url, { method: "PATCH", headers, body });
      const fragment = await response.text();
      const [ufrag] = /a=ice-ufrag:.*/.exec(fragment) ?? [""];
      const [pwd] = /a=ice-pwd:.*/.exec(fragment) ?? [""];
      const sdp = answer.replaceAll(/a=ice-ufrag:.*/g, ufrag.trim()).replaceAll(/a=ice-pwd:.*/g, pwd.trim());
      await player.setRemoteDescription({ type: "answer", sdp });
      return { status: response.status, ufrag: ufrag.trim().slice("a=ice-ufrag:".length) };
    }, location);
    expect(restarted.status).toBe(200);
    const usesNew = () =>
      page.evaluate(async (ufrag) => {
        const { player } = globalThis as unknown as { player: RTCPeerConnection };
        const stats = [...(await player.getStats()).values()];
        const transport = stats.find(({ type }) => type === "transport");
        const pair = stats.find(({ id }) => id === transport?.selectedCandidatePairId);
        return stats.find(({ id }) => id === pair?.remoteCandidateId)?.usernameFragment === ufrag && pair?.state === "succeeded";
      }, restarted.ufrag);
    await until(usesNew);
    const { pictures } = await received(page);
    await until(async () => (await received(page)).pictures > pictures + 50);
    expect((await received(page)).state).toBe("connected");
    await page.close();
  });

  it.skipIf(lacksFfmpeg)(
    "[WEBRTC-320] publishes by WHIP: H.264 and Opus, which ffprobe reads by RTSP and another page plays by WHEP",
    async () => {
      const services = await startMediaServices();
      const page = await openPage(services);
      const published = await publish(page, "live/camera");
      expect(published).toMatchObject({ status: 201, location: expect.stringContaining("/whip/live/camera/") });
      const path = await until(() =>
        services.rtsp.views.get("paths")?.paths.find(({ name, frameRate }) => name === "live/camera" && frameRate > 0),
      );
      expect(path).toMatchObject({
        source: { kind: "whip-publisher" },
        tracks: expect.arrayContaining([expect.objectContaining({ codec: "h264" })]),
      });
      const probe = await runProgram("ffprobe", [
        ...["-v", "error", "-rtsp_transport", "tcp", "-show_entries", "stream=codec_name,width,height", "-of", "json"],
        `${services.rtspUrl}/live/camera`,
      ]);
      expect(JSON.parse(probe.stdout.toString())).toMatchObject({
        streams: expect.arrayContaining([
          expect.objectContaining({ codec_name: "h264", width: 320, height: 240 }),
          expect.objectContaining({ codec_name: "opus" }),
        ]),
      });
      const viewer = await openPage(services);
      expect(await play(viewer, "live/camera")).toMatchObject({ status: 201 });
      await until(async () => (await received(viewer)).pictures > 10);
      await viewer.close();
      await fetch(`${services.url}${published.location}`, { method: "DELETE" });
      expect(await services.rtsp.ended(({ verb }) => verb === "publish")).toMatchObject({
        outcome: "the publisher has left",
        tone: "neutral",
      });
      await until(() => !services.rtsp.views.get("paths")?.paths.some(({ name }) => name === "live/camera"));
      expect((await services.offer("/whep/live/camera", "v=0")).status).toBe(404);
      await page.close();
    },
  );

  it.skipIf(lacksGstreamer)("[WEBRTC-321] publishes what GStreamer plays, until the RTSP service ends it", async () => {
    const services = await startMediaServices();
    const page = await openPage(services);
    await publish(page, "camera");
    await until(() => services.rtsp.views.get("paths")?.paths.some(({ name, frameRate }) => name === "camera" && frameRate > 0));
    const play = runProgram("gst-launch-1.0", [
      ...["-v", "rtspsrc", `location=${services.rtspUrl}/camera`, "protocols=tcp", "!", "rtph264depay", "!", "h264parse"],
      ...["!", "avdec_h264", "!", "identity", "eos-after=10", "!", "fakesink"],
    ]);
    const { stdout, stderr } = await play.catch((error: unknown) => {
      throw new Error(`${errorText(error)}\nSeen by the service: ${JSON.stringify(services.rtsp.rows())}`);
    });
    expect(stdout.toString(), stderr).toContain("width=(int)320");
    const row = services.rtsp.rows().find(({ verb, tone }) => verb === "publish" && tone === "pending")?.id ?? 0;
    expect(await services.rtsp.act("session.kick", { row })).toEqual({ kicked: true });
    const ended = await services.webrtc.ended(({ kind }) => kind === "webrtc-media");
    expect(ended).toMatchObject({ verb: "publish", tone: "failed", outcome: expect.stringContaining("the RTSP service has ended it") });
    await page.close();
  });
});

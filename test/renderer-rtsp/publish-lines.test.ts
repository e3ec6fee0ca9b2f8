import { expect, it } from "vitest";
import { obsFields, publishLine, publishTransports } from "../../renderer/src/services/rtsp/publish/publish-lines.ts";

const origin = "rtmp://127.0.0.1:1935";
const login = { username: "ada", password: "it's" };

it("[RTSP-69] lines for publishers have the transport, and name and password where they are needed", () => {
  const rtsp = { origin: "rtsp://127.0.0.1:8554", path: "site/back door", transport: "udp" } as const;
  expect(publishLine("ffmpeg", rtsp)).toBe(
    "ffmpeg -re -stream_loop -1 -i clip.mp4 -c copy -f rtsp -rtsp_transport udp rtsp://127.0.0.1:8554/site/back%20door",
  );
  expect(publishLine("gstreamer", { ...rtsp, login })).toMatch(
    /rtspclientsink protocols=udp location='rtsp:\/\/ada:it'\\''s@127\.0\.0\.1:8554\/site\/back%20door'$/,
  );
  expect(publishLine("ffmpeg", { origin, path: "live/mine", transport: "rtmp", login })).toBe(
    String.raw`ffmpeg -re -stream_loop -1 -i clip.mp4 -c copy -f flv 'rtmp://127.0.0.1:1935/live/mine?user=ada&pass=it'\''s'`,
  );
  for (const transport of publishTransports) expect(publishLine("ffmpeg", { ...rtsp, transport })).toContain("site/back%20door");
});

it("[RTSP-69] OBS is told its server and stream key; RTMP needs two names", () => {
  expect(obsFields({ origin, path: "a/b/c" })).toEqual({ server: "rtmp://127.0.0.1:1935/a/b", streamKey: "c" });
  expect(obsFields({ origin, path: "live/mine", login })).toEqual({
    server: "rtmp://127.0.0.1:1935/live",
    streamKey: "mine?user=ada&pass=it's",
  });
  expect(obsFields({ origin, path: "mine" })).toBeUndefined();
  expect(publishLine("gstreamer", { origin, path: "mine", transport: "rtmp" })).toBeUndefined();
});

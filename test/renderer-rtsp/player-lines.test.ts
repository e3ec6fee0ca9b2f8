import { expect, it } from "vitest";
import { rtspTransports } from "../../contract/services/rtsp.ts";
import { playerLine } from "../../renderer/src/services/rtsp/player-lines.ts";

it("[RTSP-68] lines for players have the transport, and name and password where they are needed", () => {
  const url = "rtsp://127.0.0.1:8554/cameras/door";
  expect(playerLine("ffplay", { url, transport: "multicast" })).toBe(
    "ffplay -fflags nobuffer -rtsp_transport udp_multicast rtsp://127.0.0.1:8554/cameras/door",
  );
  expect(playerLine("vlc", { url, transport: "http" })).toBe(`vlc --rtsp-http --rtsp-http-port=8554 ${url}`);
  expect(playerLine("vlc", { url, transport: "tls" })).toBeUndefined();
  expect(playerLine("gstreamer", { url, transport: "udp", username: "ada", password: "it's" })).toContain(
    String.raw`location='rtsp://ada:it'\''s@127.0.0.1:8554/cameras/door' protocols=udp`,
  );
  for (const transport of rtspTransports) {
    expect(playerLine("opencv", { url, transport, username: "ada", password: 'a"b/c' })).toContain("ada:a%22b%2Fc@127.0.0.1");
  }
});

import { describe, expect, it } from "vitest";
import { until } from "../support/until.ts";
import { startMediaServices } from "./media-harness.ts";
import { h264, offerOf, opus, publisherOffer, vp8 } from "./media-offers.ts";
import { MediaPeer } from "./media-peer.ts";

describe("a session of WHIP", () => {
  it("[WEBRTC-322] is refused with 422 for what cannot be published: VP8, VP9, AV1 and H.265 alone, two tracks of a kind, other sound", async () => {
    const { offer, webrtc } = await startMediaServices();
    const refused = async (sdp: string) => {
      const response = await offer("/whip/live", sdp);
      expect(response.headers.get("content-type")).toBe("application/problem+json");
      return [response.status, ((await response.json()) as { readonly detail: string }).detail] as const;
    };
    const video = (...codecs: Parameters<typeof offerOf>[0][number]["codecs"]) =>
      ({ kind: "video", direction: "sendonly", codecs }) as const;
    const audio = { kind: "audio", direction: "sendonly", codecs: [opus] } as const;
    const others = offerOf([audio, video(vp8, [98, "VP9/90000"], [45, "AV1/90000"], [49, "H265/90000"], [97, "rtx/90000", "apt=96"])]);
    expect(await refused(others)).toEqual([
      422,
      "The offer sends VP8, VP9, AV1, H265. Only H.264 can be published: RTSP players get the pictures as they are. Choose H.264 in the publisher.",
    ]);
    expect(await refused(offerOf([audio, video(h264), video(h264)]))).toMatchObject([422, /more than one track of video/]);
    const iLbc = { kind: "audio", direction: "sendonly", codecs: [[102, "iLBC/8000"]] } as const;
    expect(await refused(offerOf([iLbc, video([103, h264[1], h264[2]])]))).toMatchObject([422, /sends ILBC\. Only Opus and G\.711/]);
    expect(await refused(offerOf([{ ...audio, direction: "recvonly" }]))).toMatchObject([422, /nothing that can be published/]);
    for (const map of ["H264/0", "H264/90000/0"])
      expect(await refused(offerOf([audio, video([102, map, h264[2]])])), map).toMatchObject([422, /sends no pictures/]);
    for (const map of ["opus/48000/0", "opus/48000/9", "PCMU/0", "PCMU/8000/99"])
      expect(await refused(offerOf([{ ...audio, codecs: [[111, map]] }, video(h264)])), map).toMatchObject([422, /sends no sound/]);
    expect(webrtc.views.get("media")?.sessions ?? []).toEqual([]);
    // Beside H.264 they are passed over.
    const answer = await (await offer("/whip/live", publisherOffer())).text();
    expect(answer).toContain("m=video 9 UDP/TLS/RTP/SAVPF 102\r\n");
    expect(answer).not.toContain("VP8");
  });

  it("[WEBRTC-324] is open to pages of the origins that are allowed: their preflight and their requests", async () => {
    const services = await startMediaServices();
    const { url, offer } = services;
    const origin = "http://localhost:5173";
    const preflight = await fetch(`${url}/whip/live`, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization, content-type, if-match",
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe(origin);
    expect(preflight.headers.get("access-control-allow-methods")).toMatch(/POST.*PATCH.*DELETE/);
    expect(preflight.headers.get("access-control-allow-headers")).toBe("authorization, content-type, if-match");
    expect([preflight.headers.get("accept-post"), preflight.headers.get("allow")]).toEqual(["application/sdp", "POST, OPTIONS"]);
    const created = await offer("/whip/live", publisherOffer(), { origin });
    expect([created.status, created.headers.get("access-control-allow-origin")]).toEqual([201, origin]);
    for (const name of ["Location", "ETag", "Link"]) expect(created.headers.get("access-control-expose-headers")).toContain(name);
    const accepted = async (path: string, method: string) => {
      const headers = { origin, "access-control-request-method": method };
      const answer = await fetch(`${url}${path}`, { method: "OPTIONS", headers });
      return [answer.status, answer.headers.get("accept-post"), answer.headers.get("accept-patch")];
    };
    expect(await accepted("/whep/test", "POST")).toEqual([204, "application/sdp", null]);
    expect(await accepted(created.headers.get("location") ?? "", "PATCH")).toEqual([204, null, "application/trickle-ice-sdpfrag"]);
    expect(await accepted("/ice-servers", "GET")).toEqual([204, null, null]);
    const foreign = await offer("/whip/live", publisherOffer(), { origin: "https://elsewhere.example" });
    expect(foreign.status).toBe(403);
    expect((await fetch(`${url}${created.headers.get("location")}`, { method: "DELETE", headers: { origin } })).status).toBe(200);
  });

  it("[WEBRTC-326] carries what is published to players as it is, and asks for a key frame when one of them wants it", async () => {
    const services = await startMediaServices();
    const [source, publisher] = [await MediaPeer.play(services, "stream"), await MediaPeer.publish(services, "live/copy")];
    source.onRtp = (packet) => {
      const second = packet[1] as number;
      publisher.sendRtp(second & 0x7f, packet.readUInt32BE(4), packet.subarray(12), second >= 0x80);
    };
    const paths = () => services.rtsp.views.get("paths")?.paths ?? [];
    await until(() => paths().some(({ name, frameRate }) => name === "live/copy" && frameRate > 0));
    const player = await MediaPeer.play(services, "live/copy");
    await until(() => player.video.packets > 20 && player.audio.packets > 5);
    const asked = publisher.rtcp.filter(({ type }) => type === "picture-loss").length;
    player.sendRtcp({ type: "full-intra", ssrc: 1, requests: [{ mediaSsrc: player.video.ssrc, number: 1 }] });
    await until(() => publisher.rtcp.filter(({ type }) => type === "picture-loss").length > asked);
    expect(publisher.rtcp).toContainEqual(expect.objectContaining({ type: "bitrate-estimate", bitRate: 8_000_000 }));
    publisher.close();
    expect(await services.ended(player)).toMatchObject({ outcome: expect.stringContaining("the publisher has left"), tone: "failed" });
  });
});

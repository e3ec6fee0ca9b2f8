import { describe, expect, it } from "vitest";
import { until } from "../support/until.ts";
import { startMediaServices } from "./media-harness.ts";
import { h264, offerOf, opus, playerOffer, vp8 } from "./media-offers.ts";

const problemOf = async (response: Response) => {
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  return (await response.json()) as { readonly status: number; readonly detail: string };
};

describe("a session of WHEP", () => {
  it("[WEBRTC-310] is created by an offer: 201 with the answer, its address, its ETag and the ICE servers", async () => {
    const { url, offer, webrtc } = await startMediaServices({
      webrtc: { turn: true, turnPort: 0, turns: false, relayPort: 40_000, relayLastPort: 40_100 },
    });
    const created = await offer("/whep/test", playerOffer());
    expect([created.status, created.headers.get("content-type"), created.headers.get("accept-patch")]).toEqual([
      201,
      "application/sdp",
      "application/trickle-ice-sdpfrag",
    ]);
    expect(created.headers.get("location")).toMatch(/^\/whep\/test\/[\da-f-]{36}$/);
    expect(created.headers.get("etag")).toMatch(/^"\w+"$/);
    expect(created.headers.get("link")).toMatch(
      /<stun:127\.0\.0\.1:\d+>; rel="ice-server", <turn:.*rel="ice-server"; username=".+"; credential=".+"; credential-type="password"/,
    );
    expect(created.headers.get("access-control-expose-headers")).toContain("Location");
    const answer = await created.text();
    expect(answer).toContain("a=ice-lite");
    expect(answer).toContain("a=setup:passive");
    expect(answer).toMatch(/a=candidate:1 1 udp \d+ 127\.0\.0\.1 \d+ typ host/);
    expect(answer).toContain("m=video 9 UDP/TLS/RTP/SAVPF 102\r\n");
    expect(answer).toContain("packetization-mode=1;profile-level-id=42e01f");
    expect(answer).toContain("a=rtpmap:111 OPUS/48000/2");
    const options = await fetch(`${url}/whep/test`, { method: "OPTIONS" });
    expect([options.status, options.headers.get("accept-post"), options.headers.get("allow")]).toEqual([
      204,
      "application/sdp",
      "POST, OPTIONS",
    ]);
    expect(options.headers.get("link")).toContain('rel="ice-server"');
    await until(() => webrtc.views.get("media")?.sessions.length === 1);
    expect(webrtc.views.get("media")?.sessions[0]).toMatchObject({
      protocol: "whep",
      path: "test",
      state: "waiting",
      codecs: "H.264, Opus",
      leftOut: [],
    });
  });

  it("[WEBRTC-311] ends by DELETE at its address, and takes no other method but PATCH", async () => {
    const { url, offer, webrtc } = await startMediaServices();
    const address = `${url}${(await offer("/whep/stream", playerOffer())).headers.get("location")}`;
    expect((await fetch(address)).status).toBe(405);
    const posted = await fetch(address, { method: "POST", headers: { "content-type": "application/sdp" }, body: playerOffer() });
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "PATCH, DELETE, OPTIONS"]);
    expect((await fetch(address, { method: "OPTIONS" })).headers.get("accept-patch")).toBe("application/trickle-ice-sdpfrag");
    expect((await fetch(address, { method: "DELETE" })).status).toBe(200);
    expect((await fetch(address, { method: "DELETE" })).status).toBe(404);
    const row = await webrtc.ended(({ kind }) => kind === "webrtc-media");
    expect(row).toMatchObject({ verb: "play", target: "/stream", outcome: "the client has ended it", tone: "neutral" });
    expect(webrtc.detail(row.id)).toMatchObject({
      kind: "webrtc-media",
      protocol: "whep",
      state: "ended",
      checks: 0,
      tracks: [{ codec: "Opus" }, { codec: "H.264", format: "High, 640×360" }],
    });
  });

  it("[WEBRTC-312] takes candidates by PATCH with its ETag, and restarts ICE", async () => {
    const { url, offer, webrtc } = await startMediaServices();
    const created = await offer("/whep/stream", playerOffer());
    const [address, etag] = [`${url}${created.headers.get("location")}`, created.headers.get("etag") ?? ""];
    const patch = async (body: string, headers: Record<string, string>) =>
      await fetch(address, { method: "PATCH", body, headers: { "content-type": "application/trickle-ice-sdpfrag", ...headers } });
    const fragment =
      "a=ice-ufrag:abcd\r\na=ice-pwd:abcdefghijklmnopqrstuvwx\r\nm=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\na=candidate:1 1 udp 2130706431 192.0.2.7 5000 typ host\r\n";
    expect((await patch(fragment, { "if-match": etag })).status).toBe(204);
    expect((await patch(fragment, {})).status).toBe(428);
    expect((await patch(fragment, { "if-match": '"other"' })).status).toBe(412);
    expect((await patch("nothing", { "if-match": etag })).status).toBe(400);
    expect((await patch(fragment, { "if-match": etag, "content-type": "text/plain" })).status).toBe(415);
    const restarted = await patch(fragment, { "if-match": "*" });
    expect([restarted.status, restarted.headers.get("content-type")]).toEqual([200, "application/trickle-ice-sdpfrag"]);
    expect(restarted.headers.get("etag")).not.toBe(etag);
    expect(await restarted.text()).toMatch(/a=ice-ufrag:\w+\r\na=ice-pwd:\w+\r\nm=/);
    await fetch(address, { method: "DELETE" });
    const row = await webrtc.ended(({ kind }) => kind === "webrtc-media");
    expect(webrtc.detail(row.id).candidates).toContain("udp 192.0.2.7:5000 host");
  });

  it("[WEBRTC-313] is refused with a problem in words", async () => {
    const { offer, url } = await startMediaServices();
    const refused = async (path: string, sdp: string, type = "application/sdp") => {
      const response = await offer(path, sdp, { "content-type": type });
      return [response.status, (await problemOf(response)).detail] as const;
    };
    expect(await refused("/whep/test", playerOffer(), "text/plain")).toEqual([
      415,
      "The body has to be application/sdp; it is text/plain.",
    ]);
    expect(await refused("/whep/test", "")).toEqual([400, "The offer is not usable: it does not begin with v=0."]);
    expect(
      await refused(
        "/whep/test",
        playerOffer((sdp) => sdp.replaceAll(/a=fingerprint.*\r\n/g, "")),
      ),
    ).toEqual([400, "The offer is not usable: it has no a=fingerprint, which DTLS needs."]);
    expect(
      await refused(
        "/whep/test",
        playerOffer((sdp) => sdp.replaceAll(/a=ice-.*\r\n/g, "")),
      ),
    ).toMatchObject([400, /ice-ufrag/]);
    expect(
      await refused(
        "/whep/test",
        playerOffer((sdp) => sdp.replaceAll("a=rtcp-mux\r\n", "")),
      ),
    ).toMatchObject([400, /rtcp-mux/]);
    expect(await refused("/whep/none", playerOffer())).toEqual([404, "There is no stream none."]);
    const vp8Only = offerOf([{ kind: "video", direction: "recvonly", codecs: [vp8] }]);
    expect(await refused("/whep/test", vp8Only)).toEqual([
      422,
      "The pictures are H.264, and the client offers VP8 without H.264 in packetization mode 1.",
    ]);
    const sending = offerOf([{ kind: "video", direction: "sendonly", codecs: [h264] }]);
    expect(await refused("/whep/test", sending)).toMatchObject([422, /receives nothing/]);
    expect((await fetch(`${url}/whep/test`, { method: "PUT" })).status).toBe(405);
  });

  it("[WEBRTC-314] without sound that a browser plays has none, and the answer, the row and the view say why", async () => {
    const { offer, webrtc } = await startMediaServices();
    const withoutOpus = offerOf([
      { kind: "audio", direction: "recvonly", codecs: [[0, "PCMU/8000"]] },
      { kind: "video", direction: "recvonly", codecs: [h264] },
    ]);
    const created = await offer("/whep/test", withoutOpus);
    expect(created.status).toBe(201);
    const why = "The sound is opus, and the client offers PCMU.";
    expect(created.headers.get("x-left-out")).toBe(`audio: ${why}`);
    expect(await created.text()).toContain("m=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\na=inactive\r\n");
    await until(() => webrtc.views.get("media")?.sessions[0]?.leftOut[0]?.reason === why);
  });

  it("[WEBRTC-315] needs the RTSP service: 503 says so", async () => {
    const services = await startMediaServices();
    await services.offer("/whep/test", playerOffer());
    await services.stopRtsp();
    const response = await services.offer("/whep/test", playerOffer());
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
    expect((await problemOf(response)).detail).toBe("The RTSP service, which has the streams, is not running. Start it, then try again.");
  });

  it("[WEBRTC-316] has the rights of the RTSP service's users, by Basic or by a Bearer token of user and password", async () => {
    const { offer } = await startMediaServices({ rtsp: { users: ["anna:secret"] } });
    const refused = await offer("/whep/test", playerOffer());
    expect([refused.status, refused.headers.get("www-authenticate")]).toMatchObject([401, /^Basic realm=/]);
    const basic = `Basic ${Buffer.from("anna:secret").toString("base64")}`;
    expect((await offer("/whep/test", playerOffer(), { authorization: basic })).status).toBe(201);
    expect((await offer("/whep/test", playerOffer(), { authorization: "Bearer anna:secret" })).status).toBe(201);
    expect((await offer("/whep/test", playerOffer(), { authorization: "Bearer anna:wrong" })).status).toBe(401);
  });

  it("[WEBRTC-316] wrong credentials are limited by the address of the client, with those of the RTSP service", async () => {
    const { offer } = await startMediaServices({ rtsp: { users: ["anna:secret"], loginFailures: 3 } });
    const authorization = `Basic ${Buffer.from("anna:wrong").toString("base64")}`;
    for (let attempt = 0; attempt < 3; attempt++) expect((await offer("/whep/test", playerOffer(), { authorization })).status).toBe(401);
    const right = await offer("/whep/test", playerOffer(), { authorization: "Bearer anna:secret" });
    expect([right.status, (await problemOf(right)).detail]).toEqual([403, "Too many failed logins."]);
  });

  it("[WEBRTC-317] beyond the limit is refused with 503; what never connects ends", async () => {
    const { offer, webrtc } = await startMediaServices({ webrtc: { viewers: 1, mediaConnectSeconds: 1 } });
    expect((await offer("/whep/test", playerOffer())).status).toBe(201);
    const refused = await offer("/whep/test", playerOffer());
    expect([refused.status, (await problemOf(refused)).detail]).toEqual([
      503,
      "The limit of players is reached, which is 1, and no other address has more of them. Raise it in Config (WEBRTC_VIEWERS).",
    ]);
    const row = await webrtc.ended(({ kind }) => kind === "webrtc-media");
    expect(row).toMatchObject({ tone: "failed", outcome: expect.stringContaining("does not reach the media port by UDP") });
    expect((await offer("/whep/test", offerOf([{ kind: "audio", direction: "recvonly", codecs: [opus] }]))).status).toBe(201);
  });
});

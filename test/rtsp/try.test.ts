import { describe, expect, it } from "vitest";
import { type RtspTried, rtspTransports } from "../../contract/services/rtsp.ts";
import { temporaryDir } from "../support/temporary-dir.ts";
import { until } from "../support/until.ts";
import { type RtspUnderTest, startRtsp } from "./harness.ts";

type Shown = Exclude<RtspTried, { readonly state: "untried" }>;

const shown = (server: RtspUnderTest, match: (tried: Shown) => boolean): Promise<Shown> =>
  until(() => {
    const tried = server.views.get("try");
    return tried && tried.state !== "untried" && match(tried) && tried;
  });

/** "DESCRIBE", "200 OK", "first packet of track 0" */
const words = ({ steps }: Shown) => steps.map(({ title }) => title.replace(/^RTSP\/1\.0 /, "").replace(/ rtsps?:.*$/, ""));

describe("Try", () => {
  it.each(rtspTransports)("[RTSP-67] plays over %s, with each step up to the TEARDOWN", async (transport) => {
    const server = await startRtsp({ tls: true, multicast: true, multicastPort: 18_000 + 2 * (process.pid % 500) }, temporaryDir());
    await until(() => server.views.get("try")?.state === "untried");
    await server.act("try.play", { path: "stream", transport });
    const playing = await shown(server, ({ firstPictureMs, pictures, tracks }) => {
      return firstPictureMs !== undefined && pictures > 20 && tracks.every(({ packets }) => packets > 10);
    });
    expect(playing).toMatchObject({ state: "playing", path: "stream", transport, moreSteps: 0 });
    expect(playing.tracks).toMatchObject([
      { codec: "h264", lost: 0 },
      { codec: "aac", lost: 0 },
    ]);
    const title = { tcp: "TCP, channels 0-1", http: "TCP, channels 0-1", tls: "TCP, channels 0-1" }[transport as string];
    if (title) expect(playing.tracks[0]?.transport).toBe(title);
    else expect(playing.tracks[0]?.transport).toMatch(transport === "udp" ? /^UDP, ports \d+-\d+$/ : /^multicast, [\d.]+, ports \d+-\d+$/);
    expect(playing.firstPictureMs).toBeGreaterThanOrEqual(playing.firstPacketMs ?? Number.NaN);
    await server.act("try.stop");
    const ended = await shown(server, ({ state }) => state === "ended");
    expect(ended.failure).toBeUndefined();
    const requests = ["OPTIONS", "200 OK", "DESCRIBE", "200 OK", "SETUP", "200 OK", "SETUP", "200 OK", "PLAY"];
    expect(words(ended).slice(0, 9)).toEqual(requests);
    expect(words(ended).slice(9).sort()).toEqual(
      ["200 OK", "first packet of track 0", "first packet of track 1", "first picture complete", "TEARDOWN", "200 OK"].sort(),
    );
    const row = await server.ended(({ outcome }) => outcome === "TEARDOWN");
    expect(row).toMatchObject({ client: expect.stringContaining("Backlot") });
  });

  it("[RTSP-67] logs in, and shows no credentials", async () => {
    const server = await startRtsp({ users: ["ada:pass word"] });
    await server.act("try.play", { path: "stream", transport: "tcp" });
    expect(await shown(server, ({ state }) => state === "ended")).toMatchObject({
      failure: "DESCRIBE was answered 401 Unauthorized",
      status: 401,
    });
    await server.act("try.play", { path: "stream", transport: "tcp", username: "ada", password: "pass word" });
    const { steps } = await shown(server, ({ firstPictureMs }) => firstPictureMs !== undefined);
    expect(steps.filter(({ title }) => title.startsWith("DESCRIBE")).length).toBe(2);
    const text = steps.map(({ message }) => Buffer.from(message?.base64 ?? "", "base64").toString()).join();
    expect(text).toContain("Authorization: Digest …");
    expect(text).not.toMatch(/pass|response=/);
  });

  it("[RTSP-67] says why it cannot play, and the next try begins anew", async () => {
    const server = await startRtsp();
    await server.act("try.play", { path: "nothing", transport: "tcp" });
    expect(await shown(server, ({ state }) => state === "ended")).toMatchObject({
      status: 404,
      failure: "DESCRIBE was answered 404 Not Found",
    });
    await server.act("try.play", { path: "stream", transport: "multicast" });
    expect(await shown(server, ({ status }) => status === 461)).toMatchObject({ state: "ended", tracks: [{ codec: "h264", packets: 0 }] });
    await server.act("try.play", { path: "test", transport: "udp" });
    await shown(server, ({ path, pictures }) => path === "test" && pictures > 3);
    await server.act("try.play", { path: "stream", transport: "tcp" });
    await shown(server, ({ path, pictures }) => path === "stream" && pictures > 3);
    await until(() => server.rows().filter(({ outcome }) => outcome === "playing").length === 1);
  });
});

it("[RTSP-38] multicast is offered to players where the service is open to the LAN", async () => {
  for (const openToLan of [false, true]) {
    const server = await startRtsp({ multicast: true, multicastPort: 23_000, openToLan });
    expect(await until(() => server.views.get("offers"))).toMatchObject({ multicast: openToLan, udp: true });
  }
});

it("[RTSP-267] the player of Try stops when no page is open any more, and says so", async () => {
  const server = await startRtsp();
  server.running.pagesLeft();
  await server.act("try.play", { path: "stream", transport: "tcp" });
  await shown(server, ({ state }) => state === "playing");
  server.running.pagesLeft();
  expect(await shown(server, ({ state }) => state === "ended")).toMatchObject({ failure: "no page of Backlot is open any more" });
});

import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { assetFile } from "../../servers/core/files/asset-file.ts";
import { until } from "../support/until.ts";
import { header, type RawClient, type RtspUnderTest, startRtsp, tcpTransport } from "./harness.ts";
import { RawPublisher } from "./raw-publisher.ts";

const sdp = ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "m=audio 0 RTP/AVP 0", "a=control:0", ""].join("\r\n");
const announce = async (client: RawClient, to: string) =>
  (await client.request("ANNOUNCE", to, { "Content-Type": "application/sdp" }, sdp)).status;

/** The status of the first answer that is no success, else of RECORD. */
async function publish(server: RtspUnderTest, to: string, from = "127.0.0.1"): Promise<{ client: RawClient; status: number }> {
  const client = await server.connect(from);
  const announced = await announce(client, to);
  if (announced !== 200) return { client, status: announced };
  const setUp = await client.request("SETUP", `${to}/0`, { Transport: `${tcpTransport(0)};mode=record` });
  const { status } = await client.request("RECORD", to, { Session: header(setUp, "Session") });
  return { client, status };
}
const namesOf = ({ views }: RtspUnderTest) => views.get("paths")?.paths.map(({ name }) => name) ?? [];

it("[RTSP-236] one address may have all paths until another one asks: that has most gives way to it, with its newest", async () => {
  const server = await startRtsp({ paths: 6, silenceSeconds: 3_600 });
  const own: RawClient[] = [];
  // Two are those of the clips. 127.0.0.2 is this computer as well.
  for (const [index, from] of ["127.0.0.1", "127.0.0.2", "127.0.0.1", "127.0.0.2"].entries()) {
    const { client, status } = await publish(server, `/many/${index}`, from);
    expect(status).toBe(200);
    own.push(client);
  }
  const refused = await publish(server, "/many/4");
  expect(refused.status).toBe(503);
  refused.client.socket.destroy();
  await server.ended((row) => /6 paths already, and no other address publishes more.*RTSP_PATHS/.test(JSON.stringify(row)));
  // Those who have a path keep it, also where they publish it anew.
  expect((await publish(server, "/many/0")).status).toBe(200);
  await until(() => own[0]?.closed);

  expect((await publish(server, "/other/0", "::1")).status).toBe(200);
  await until(() => !namesOf(server).includes("many/0"));
  expect((await publish(server, "/other/1", "::1")).status).toBe(200);
  await until(() => own[3]?.closed);
  expect((await server.ended(({ outcome }) => /all paths are taken/.test(String(outcome)))).outcome).toMatch(/RTSP_PATHS/);
  // Both have two now: nobody gives way any more.
  expect((await publish(server, "/other/2", "::1")).status).toBe(503);
  await expect.poll(() => [...namesOf(server)].sort()).toEqual(["many/1", "many/2", "other/0", "other/1", "stream", "test"]);
  expect([own[1]?.closed, own[2]?.closed]).toEqual([false, false]);
});

it("[RTSP-236] a publisher by RTMP that finds no path is told why", async () => {
  const server = await startRtsp({ paths: 3, rtmp: true, rtmpPort: 0 });
  expect((await publish(server, "/a")).status).toBe(200);
  const client = await RawPublisher.publish(server, "b");
  expect(client.status()).toMatchObject({ description: expect.stringMatching(/3 paths already.*RTSP_PATHS/) });
});

it("[RTSP-237] where all paths are taken, a dropped file takes one of the address that has most, or is refused with what to do", async () => {
  const server = await startRtsp({ paths: 5, silenceSeconds: 3_600 });
  const bytes = readFileSync(assetFile("rtsp", "stream.mp4"));
  const begin = async (name: string) => (await server.act("file.begin", { name, bytes: bytes.length })).upload;
  const end = async (upload: number) => {
    for (let at = 0; at < bytes.length; at += 200_000)
      await server.act("file.put", { upload, base64: bytes.toString("base64", at, at + 200_000) });
    return (await server.act("file.end", { upload })).path;
  };
  const files = () => readdirSync(path.join(server.dataDir, "clips")).filter((name) => name !== "clips.json");
  const isRefused = {
    message: expect.stringMatching(/no path left for (d|e)\.mp4: there are as many as allowed/),
    hint: expect.stringMatching(/RTSP_PATHS/),
  };
  const late = await begin("d.mp4");
  expect((await publish(server, "/a")).status).toBe(200);
  const { client } = await publish(server, "/b");
  expect((await publish(server, "/c", "::1")).status).toBe(200);
  expect(await end(await begin("c.mp4"))).toBe("c-2");
  await client.ended();
  // Nobody has more than one now. It was begun when there was a path.
  await expect(end(late)).rejects.toMatchObject(isRefused);
  await expect(begin("e.mp4")).rejects.toMatchObject(isRefused);
  expect(files()).toHaveLength(1);
  await expect.poll(() => [...namesOf(server)].sort()).toEqual(["a", "c", "c-2", "stream", "test"]);
});

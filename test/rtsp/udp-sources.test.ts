import type { RemoteInfo } from "node:dgram";
import { expect, it } from "vitest";
import { lanAddress } from "../support/udp-sockets.ts";
import { until } from "../support/until.ts";
import { header, startRtsp, udpPair, udpTransport } from "./harness.ts";

it.runIf(lanAddress !== undefined)(
  "[RTSP-270] open to the LAN, RTP and RTCP come from the address to which the player has connected",
  async () => {
    const server = await startRtsp({ openToLan: true });
    const client = await server.connect(lanAddress);
    const { rtp, rtcp, port } = await udpPair(lanAddress);
    const sources = { rtp: new Set<string>(), rtcp: new Set<string>() };
    const note = (of: Set<string>) => (_datagram: Buffer, from: RemoteInfo) => void of.add(`${from.address}:${from.port}`);
    rtp.on("message", note(sources.rtp));
    rtcp.on("message", note(sources.rtcp));
    const answer = await client.request("SETUP", "/stream/trackID=0", { Transport: udpTransport(port)() });
    const [, serverRtp, serverRtcp] = /server_port=(\d+)-(\d+)/.exec(header(answer, "Transport")) ?? [];
    await client.request("PLAY", "/stream", { Session: header(answer, "Session").split(";")[0] as string });
    await until(() => sources.rtp.size > 0 && sources.rtcp.size > 0);
    expect([...sources.rtp]).toEqual([`127.0.0.1:${serverRtp}`]);
    expect([...sources.rtcp]).toEqual([`127.0.0.1:${serverRtcp}`]);
  },
);

it.runIf(lanAddress !== undefined)("[RTSP-231] the UDP ports of the service are no client's at any of its addresses", async () => {
  const server = await startRtsp({ openToLan: true });
  const player = await server.connect(lanAddress);
  const { port } = await udpPair(lanAddress);
  const setUp = (first: number) => player.request("SETUP", "/stream/trackID=0", { Transport: udpTransport(first)() });
  const [, own] = /server_port=(\d+)/.exec(header(await setUp(port), "Transport")) ?? [];
  const refused = await (await server.connect(lanAddress)).request("SETUP", "/stream/trackID=0", {
    Transport: udpTransport(Number(own))(),
  });
  expect(refused.status).toBe(461);
});

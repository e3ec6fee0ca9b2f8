import { expect, it } from "vitest";
import { until } from "../support/until.ts";
import { startRtsp, tcpTransport } from "./harness.ts";

const description = "v=0\r\nm=audio 0 RTP/AVP 8\r\na=control:trackID=0\r\n";
const payloadBytes = 160;
const packetBytes = 12 + payloadBytes;

function rtpPacket(sequence: number): Buffer {
  const packet = Buffer.alloc(packetBytes);
  packet.set([0x80, 8]);
  packet.writeUInt16BE(sequence, 2);
  packet.writeUInt32BE(sequence * payloadBytes, 4);
  const frame = Buffer.from([0x24, 0, 0, 0]);
  frame.writeUInt16BE(packet.length, 2);
  return Buffer.concat([frame, packet]);
}

it("[RTSP-243] the counts of a publisher that pauses and records again are those of its whole session", async () => {
  const server = await startRtsp();
  const client = await server.connect();
  await client.request("ANNOUNCE", "/mine", { "Content-Type": "application/sdp" }, description);
  const Session = await client.setUp("/mine", [0], () => `${tcpTransport(0)};mode=record`);
  const send = (first: number, last: number) => {
    for (let sequence = first; sequence <= last; sequence++) client.write(rtpPacket(sequence));
  };
  const request = async (method: string) => expect((await client.request(method, "/mine", { Session })).status).toBe(200);
  const recorded = () => until(() => server.rows().find(({ target, outcome }) => target === "/mine" && outcome === "recording"));
  await request("RECORD");
  // One is lost, and later two more.
  send(1, 19);
  send(21, 41);
  await request("PAUSE");
  const paused = await until(() => server.rows().find(({ outcome, bytesIn }) => outcome === "ready" && bytesIn > 40 * packetBytes));
  await request("RECORD");
  expect((await recorded()).bytesIn).toBeGreaterThanOrEqual(paused.bytesIn);
  send(100, 104);
  send(107, 111);
  await request("PAUSE");
  await request("RECORD");
  const { id } = await recorded();
  await request("TEARDOWN");
  const row = await server.ended((ended) => ended.id === id);
  expect(row.bytesIn).toBeGreaterThan(50 * packetBytes);
  expect(row.media?.lossFraction).toBeCloseTo(3 / 53);
  const { tracks } = server.detail(id) as { tracks: readonly unknown[] };
  expect(tracks).toMatchObject([{ packets: 50, bytes: 50 * packetBytes, lost: 3 }]);
});

import { expect, it } from "vitest";
import { mediaOf } from "../../servers/rtsp/observe/session-media.ts";
import { SentSequences } from "../../servers/rtsp/sessions/sent-sequences.ts";
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

it("[RTSP-260] where all sessions are taken, the address that has most gives way to another one", async () => {
  const server = await startRtsp({ sessions: 5, sessionsPerAddress: 4 });
  const setUp = async (address: string) => {
    const client = await server.connect(address);
    return (await client.request("SETUP", "/test/trackID=0", { Transport: tcpTransport(0) })).status;
  };
  for (let count = 0; count < 4; count++) expect(await setUp("::1")).toBe(200);
  expect(await setUp("::1")).toBe(503);
  expect([await setUp("127.0.0.1"), await setUp("127.0.0.1")]).toEqual([200, 200]);
  const { id } = await server.ended(({ outcome }) => outcome === "too many sessions: this address had most");
  expect(server.rows().findIndex((row) => row.id === id)).toBe(3);
});

/** RFC 3550 §6.4.2, on the channel of the first track. */
function receiverReport(ssrc: number, lost: number, highestSequence: number): Buffer {
  const report = Buffer.alloc(36);
  report.set([0x24, 1, 0, 32, 0x81, 201, 0, 7]);
  report.writeUInt32BE(ssrc, 12);
  report.writeIntBE(lost, 17, 3);
  report.writeUInt32BE(highestSequence, 20);
  return report;
}

it("[RTSP-247] the loss of a player is that of the packets up to its last report, also of those that a fault has left out", async () => {
  const server = await startRtsp();
  const client = await server.connect();
  const { session: Session } = await client.play("/stream", [0]);
  const sequences = () => client.rtp(0).map((packet) => packet.readUInt16BE(2));
  const row = await until(() => server.rows().find(({ outcome }) => outcome === "playing")?.id);
  await until(() => client.rtp(0).length > 0);
  await server.act("session.fault", { row, fault: { kind: "loss", percent: 80 }, seed: "a" });
  const expected = () => (((sequences().at(-1) ?? 0) - (sequences()[0] ?? 0)) & 0xffff) + 1;
  await until(() => expected() - sequences().length > 100);
  const [due, received, last] = [expected(), sequences().length, sequences().at(-1) ?? 0];
  // As some clients count, from a cycle on that is not zero.
  client.write(receiverReport(client.rtp(0)[0]?.readUInt32BE(8) ?? 0, due - received, 0x1_0000 + last));
  // What is sent after it changes nothing.
  await until(() => expected() > due + 20);
  await client.request("TEARDOWN", "/stream", { Session });
  const { media } = await server.ended(({ id }) => id === row);
  expect(media?.lossFraction).toBeCloseTo((due - received) / due, 6);
});

it("[RTSP-247] the packets of a player are counted across the end of the sequence numbers, and in any order", () => {
  const zero = new SentSequences();
  zero.add(0, 1, 0);
  expect([0, 0x1_0000, 65_535].map((sequence) => zero.upTo(sequence))).toEqual([1, 1, 0]);
  const sent = new SentSequences();
  expect(sent.upTo(5)).toBe(0);
  sent.add(65_530, 4, 0);
  sent.add(65_535, 3, 5);
  sent.add(65_534, 1, 4);
  expect([65_530, 65_535, 0x2_ffff, 0, 1, 0x1_0001, 65_520].map((sequence) => sent.upTo(sequence))).toEqual([1, 6, 6, 7, 8, 8, 0]);
  for (let sequence = 2; sequence < 200_000; sequence += 1_000) sent.add(sequence & 0xffff, 1_000, sequence + 6);
  expect(sent.upTo(200_001 & 0xffff)).toBe(200_001 + 7);
});

it("[RTSP-247] where half a cycle of sequence numbers was not sent in one, it is not known how many a player should have", () => {
  const sent = new SentSequences();
  sent.add(100, 10, 0);
  // As much as can be told.
  sent.add((110 + 32_766) & 0xffff, 10, 10 + 32_766);
  expect(sent.upTo((110 + 32_766 + 9) & 0xffff)).toBe(20 + 32_766);
  const position = 20 + 32_766 + 32_767;
  sent.add((100 + position) & 0xffff, 10, position);
  expect(sent.upTo((100 + position) & 0xffff)).toBeUndefined();
  sent.add((110 + position) & 0xffff, 10, position + 10);
  expect(sent.upTo((110 + position) & 0xffff)).toBeUndefined();
});

it("[RTSP-247] the loss of a session is not that of one track where it is not known of another one", () => {
  const track = { codec: "h264", transport: "TCP, channels 0-1", packets: 90, bytes: 0, dropped: 0, lossFraction: 0, jitterMs: 1 };
  const known = { ...track, index: 1, lost: 10, expected: 100 };
  expect(mediaOf([known])).toMatchObject({ lossFraction: 0.1 });
  expect(mediaOf([{ ...track, index: 0 }, known])).not.toHaveProperty("lossFraction");
});

import { expect, it } from "vitest";
import type { RtspPictureHeader, RtspSoundHeader } from "../../contract/services/rtsp.ts";
import { SharedBudget } from "../../servers/core/limits/shared-budget.ts";
import type { BinaryFromService } from "../../servers/core/streams/binary-publisher.ts";
import type { ProviderMessage } from "../../servers/core/streams/peer-messages.ts";
import { Previews } from "../../servers/rtsp/observe/previews.ts";
import { rtspService } from "../../servers/rtsp/rtsp-service.ts";
import { Paths } from "../../servers/rtsp/streams/paths.ts";
import { Stream } from "../../servers/rtsp/streams/stream.ts";
import { startService } from "../support/start-service.ts";
import { until } from "../support/until.ts";
import { type RtspContract, startRtsp } from "./harness.ts";

type Item = Extract<BinaryFromService, { readonly type: "binary" }>;

/** The service, and what it sends for dashboards, which acknowledge at once. */
async function startForDashboards() {
  const items: Item[] = [];
  const server = await startService<RtspContract>(rtspService, {
    config: { port: 0, rtpPort: 0, httpPort: 0 },
    onStream(message: BinaryFromService | ProviderMessage) {
      if (message.type !== "binary") return;
      items.push(message);
      setImmediate(() =>
        server.running.receiveStream({ type: "binaryAck", topic: message.topic, source: message.source, seq: message.seq }),
      );
    },
  });
  const look = (topic: string, source: string, count: number) =>
    server.running.receiveStream({ type: "binarySubscribers", topic, source, count });
  const pictures = (source: string) =>
    items
      .filter((item) => item.topic === "picture" && item.source === source)
      .map(({ item: { header, payload, isKey } }) => ({ ...(header as RtspPictureHeader), payload: Buffer.from(payload), isKey }));
  const sounds = (source: string) => items.filter((item) => item.topic === "sound" && item.source === source).map(({ item }) => item);
  return { server, items, look, pictures, sounds };
}

const numbersOf = (pictures: readonly { readonly n: number }[]) => pictures.map(({ n }) => n);
const startCode = Buffer.from([0, 0, 0, 1]);

it("[RTSP-63] a picture begins with a key frame and its parameter sets; another dashboard gets the frames since then", async () => {
  const { server, items, look, pictures } = await startForDashboards();
  look("picture", "stream", 1);
  const [first] = await until(() => pictures("stream").length > 5 && pictures("stream"));
  expect(first).toMatchObject({ codec: "avc1.64001F", isKey: true });
  expect(first?.payload.subarray(0, 4)).toEqual(startCode);
  // A sequence parameter set.
  expect((first?.payload[4] ?? 0) & 0x1f).toBe(7);
  expect(Math.abs(Date.now() - (first?.sentAt ?? 0))).toBeLessThan(15_000);
  const before = pictures("stream");
  expect(numbersOf(before)).toEqual(before.map((_, index) => (first?.n ?? 0) + index));
  const [one, two] = before;
  expect((two?.timeUs ?? 0) - (one?.timeUs ?? 0)).toBe(40_000);

  look("picture", "stream", 2);
  const again = await until(() => {
    const all = pictures("stream");
    const repeated = all.findIndex(({ n }, index) => index > 0 && n <= (all[index - 1]?.n ?? 0));
    return repeated > 0 && all.length > repeated + 3 && all.slice(repeated);
  });
  expect(again[0]?.isKey).toBe(true);
  expect(numbersOf(again)).toEqual(again.map((_, index) => (again[0]?.n ?? 0) + index));

  // Dashboards are no readers, and the clip stops with the last of them.
  const readers = () => server.views.get("paths")?.paths[0];
  await until(() => (readers()?.frameRate ?? 0) > 20);
  expect(readers()).toMatchObject({ readers: 0, tracks: [{ codec: "h264", profile: "High", format: "640×360" }, { codec: "aac" }] });
  await until(() => readers()?.groupFrames === 25);
  expect(readers()?.groupSeconds).toBeCloseTo(1);
  look("picture", "stream", 0);
  const count = items.length;
  await until(() => readers()?.frameRate === 0);
  expect(items.length).toBe(count);
});

it("[RTSP-65] sound is sent on request, with what its decoder needs, and without that of the past", async () => {
  const { look, sounds, pictures } = await startForDashboards();
  look("picture", "test", 1);
  await until(() => pictures("test").length > 12);
  expect(sounds("test")).toEqual([]);
  const [{ timeUs: latest } = { timeUs: 0 }] = pictures("test").slice(-1);
  look("sound", "test", 1);
  const [first] = await until(() => sounds("test").length > 3 && sounds("test"));
  const header = first?.header as RtspSoundHeader;
  expect(header).toMatchObject({ codec: "mp4a.40.2", sampleRate: 48_000, channels: 2, description: expect.stringMatching(/^EZ/) });
  expect(header.timeUs).toBeGreaterThan(latest - 100_000);
});

it("[RTSP-63] the picture follows a path to its next source", async () => {
  const paths = new Paths({ mostPaths: 10, replacePublishers: true });
  const h264 = {
    kind: "video",
    codec: "h264",
    clockRate: 90_000,
    sps: [Buffer.from([0x67, 100, 0, 30])],
    pps: [Buffer.from([0x68])],
  } as const;
  const source = () => {
    const clock = { ptsAt: () => 0 };
    const stream = new Stream({ tracks: [h264], clock, packetBytes: 1_400, keptBytes: 1 << 20, media: new SharedBudget(1 << 30) });
    const publish = (pts: number) => stream.publish({ track: 0, units: [Buffer.from([0x65, pts])], pts, dts: pts, isKey: true });
    return {
      stream,
      publish,
      kind: "publisher",
      title: "",
      open: async () => stream,
      close: (reason: string) => stream.end(reason),
    } as const;
  };
  const seen: number[] = [];
  let show = (_source: string, _count: number) => {};
  const silent = { isWanted: () => false, onSubscribers() {}, publish() {} };
  const previews = new Previews({
    paths,
    sound: silent,
    picture: {
      ...silent,
      onSubscribers(listener) {
        show = listener;
      },
      publish: (_source, { header }) => void seen.push(header.timeUs),
    },
  });
  show("camera", 1);
  const first = source();
  paths.publish("camera", first, "127.0.0.1");
  first.publish(90);
  await until(() => seen.length === 1);
  expect(previews.readersOf(first.stream)).toBe(1);
  const second = source();
  paths.publish("camera", second, "127.0.0.1");
  second.publish(180);
  await until(() => seen.length === 2);
  expect(seen).toEqual([1_000, 2_000]);
  previews.close();
  expect(second.stream.readers).toBe(0);
});

it("[RTSP-66] the last seconds of a path and of a session can be read, also after its end", async () => {
  const server = await startRtsp();
  const client = await server.connect();
  const { session } = await client.play("/stream");
  const { id: row } = await until(() => server.rows().find(({ outcome }) => outcome === "playing"));
  const history = async () => await server.act("session.history", { row });
  await expect.poll(async () => (await history())?.bitRate.filter((rate) => (rate ?? 0) > 100_000).length).toBeGreaterThan(1);
  const path = await server.act("path.history", { path: "stream" });
  expect(path?.frameRate.some((rate) => rate !== null && rate > 15 && rate < 35)).toBe(true);
  expect(path?.at.length).toBe(path?.bitRate.length);
  await client.request("TEARDOWN", "/stream", { Session: session });
  await server.ended((ended) => ended.id === row);
  expect((await history())?.at.length).toBeGreaterThan(1);
  expect(await server.act("session.history", { row: 999_999 })).toBeNull();
  expect(await server.act("path.history", { path: "nothing" })).toBeNull();
});

it("[RTSP-240] the row of a session has its transport, and after its end the loss and jitter of the whole session", async () => {
  const server = await startRtsp();
  const client = await server.connect();
  const { session } = await client.play("/stream");
  const { id: row } = await until(() => server.rows().find(({ outcome, media }) => outcome === "playing" && media !== undefined));
  await until(() => client.rtp(0).length > 10);
  const { ssrc, highestSequence } = await until(() => {
    const packet = client.rtp(0).at(-1);
    return packet && { ssrc: packet.readUInt32BE(8), highestSequence: packet.readUInt16BE(2) };
  });
  // A receiver report: 32 of 256 packets lost since the last one, one in all, jitter of 900 at 90 kHz.
  const report = Buffer.alloc(32);
  report.set([0x81, 201, 0, 7]);
  report.writeUInt32BE(ssrc, 8);
  report.set([32, 0, 0, 1], 12);
  report.writeUInt32BE(highestSequence, 16);
  report.writeUInt32BE(900, 20);
  client.write(Buffer.concat([Buffer.from([0x24, 1, 0, report.length]), report]));
  await client.request("GET_PARAMETER", "/stream", { Session: session });
  await client.request("TEARDOWN", "/stream", { Session: session });
  const { media } = await server.ended((ended) => ended.id === row);
  expect(media).toMatchObject({ over: "TCP", jitterMs: 10 });
  expect(media?.lossFraction).toBeGreaterThan(0);
  expect(media?.lossFraction).toBeLessThan(0.5);
});

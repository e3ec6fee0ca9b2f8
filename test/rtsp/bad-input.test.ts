import { createSocket } from "node:dgram";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { expect, it } from "vitest";
import { assetFile } from "../../servers/core/files/asset-file.ts";
import { httpRequest } from "../support/http-request.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { until } from "../support/until.ts";
import { header, onEnd, type RawClient, type RtspUnderTest, startRtsp, tcpTransport } from "./harness.ts";

/** Missing sequence numbers. */
const gaps = (packets: readonly Buffer[]): number =>
  packets.slice(1).filter((packet, index) => ((packets[index] as Buffer).readUInt16BE(2) + 1) % 65_536 !== packet.readUInt16BE(2)).length;

interface Bystander {
  /** Packets so far. */
  count(): number;
  /** It has gone on, and has lost nothing. */
  isWhole(): Promise<void>;
}

/** A player over TCP and one over UDP that want to be left alone. */
async function bystander(server: RtspUnderTest): Promise<Bystander & { readonly ports: readonly [rtp: number, rtcp: number] }> {
  const tcp = await server.connect();
  await tcp.play("/stream");
  const socket = createSocket({ type: "udp4", recvBufferSize: 1 << 20 }).bind(0, "127.0.0.1");
  onEnd(() => socket.close());
  await once(socket, "listening");
  const datagrams: Buffer[] = [];
  socket.on("message", (datagram) => datagrams.push(datagram));
  const udp = await server.connect();
  const { port } = socket.address();
  const answer = await udp.request("SETUP", "/stream/trackID=1", { Transport: `RTP/AVP;unicast;client_port=${port}-${port + 1}` });
  const Session = header(answer, "Session").split(";")[0] as string;
  const ports = /server_port=(\d+)-(\d+)/.exec(header(answer, "Transport"))?.slice(1).map(Number) as [number, number];
  await udp.request("PLAY", "/stream", { Session });
  await until(() => tcp.rtp(0).length > 0 && datagrams.length > 0);
  return {
    ports,
    count: () => tcp.packets.length + datagrams.length,
    async isWhole() {
      const [before, datagramsBefore] = [tcp.rtp(0).length, datagrams.length];
      await until(() => tcp.rtp(0).length > before + 10 && datagrams.length > datagramsBefore + 5);
      expect([gaps(tcp.rtp(0)), gaps(tcp.rtp(2)), gaps(datagrams)]).toEqual([0, 0, 0]);
      expect(server.logs.filter(({ level }) => level === "error")).toEqual([]);
    },
  };
}

const stats = async ({ httpUrl }: RtspUnderTest) => JSON.parse((await httpRequest(`${httpUrl}/stats`)).body) as Record<string, number>;

const statusOf = async (client: RawClient, method: string, path: string, headers = {}) =>
  (await client.request(method, path, headers)).status;

it("[RTSP-18] garbage before, between and inside requests, cut packets, too many fields, wrong tracks and transports", async () => {
  const server = await startRtsp();
  const other = await bystander(server);
  const options = "OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n";
  const fields = Array.from({ length: 1_000 }, (_, index) => `X-${index}: y\r\n`).join("");
  for (const [bytes, statuses] of [
    [`\r\n\r\n${options}`, [200]],
    ["\0\0\0\0", [400]],
    [`GARBAGE\r\n\r\n${options}`, [400]],
    [`${options}GARBAGE ${options}`, [200, 400]],
    [`${options}\xff\xfe${options}`, [200, 400]],
    ["OPTIONS * RTSP/1.0\r\nCSeq: 1\r\nno field\r\n\r\n", [400]],
    ["OPTIONS * RTSP/1.0\r\nCSeq: 1\r\nContent-Length: -1\r\n\r\n", [400]],
    ["OPTIONS * RTSP/1.0\r\nCSeq: 1\r\nContent-Length: 99999999999\r\n\r\n", [413]],
    [`OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n${fields}\r\n`, [400]],
    [`OPTIONS * RTSP/1.0\r\nCSeq: 1\r\nX: ${"y".repeat(100_000)}`, [400]],
    [`OPTIONS rtsp://host/${"a".repeat(5_000)} RTSP/1.0\r\nCSeq: 1\r\n\r\n`, [414]],
  ] as const) {
    const client = await server.connect();
    client.write(Buffer.from(bytes, "latin1"));
    await until(() => client.responses.length === statuses.length);
    expect([bytes.slice(0, 60), ...client.responses.map(({ status }) => status)]).toEqual([bytes.slice(0, 60), ...statuses]);
    if (statuses.some((status) => status !== 200)) await client.ended();
    else client.socket.destroy();
  }
  const client = await server.connect();
  for (const [Transport, path, status] of [
    [tcpTransport(0), "/stream/trackID=9", 404],
    [tcpTransport(0), "/nothing/trackID=0", 404],
    ["RAW/RAW/UDP;unicast", "/stream/trackID=0", 461],
    ["RTP/AVP;unicast;client_port=0-1", "/stream/trackID=0", 461],
    ["RTP/AVP;unicast;client_port=70000-70001", "/stream/trackID=0", 461],
    ["RTP/AVP;unicast;client_port=5000-5001;destination=10.9.8.7", "/stream/trackID=0", 461],
    ["RTP/AVP/TCP;interleaved=300-301", "/stream/trackID=0", 461],
    ["RTP/AVP/TCP;interleaved=1-1", "/stream/trackID=0", 461],
    [";;;===,,,", "/stream/trackID=0", 461],
    ["", "/stream/trackID=0", 461],
  ] as const)
    expect([Transport, await statusOf(client, "SETUP", path, { Transport })]).toEqual([Transport, status]);
  // Packets for nobody, and one that is cut off by the end of the connection, in the middle of a session.
  await client.play("/test");
  client.write(Buffer.from([0x24, 200, 0, 2, 1, 2, 0x24, 0, 0, 0, 0x24, 1, 0, 3, 9, 9, 9]));
  expect(await statusOf(client, "OPTIONS", "*")).toBe(200);
  client.write(Buffer.from([0x24, 0, 0xff, 0xff, 1, 2, 3]));
  client.socket.end();
  await server.ended(({ target, outcome }) => target === "/test" && outcome === "the client has disconnected");
  await other.isWhole();
});

it("[RTSP-18] any changed bytes of a whole conversation, many at a time", async () => {
  const server = await startRtsp();
  const other = await bystander(server);
  const random = seededRandom(18);
  const session = "0123456789abcdef0123456789abcdef";
  const conversation = ["OPTIONS", "DESCRIBE", "ANNOUNCE", "SETUP", "PLAY", "GET_PARAMETER", "PAUSE", "RECORD", "TEARDOWN"]
    .map((method, index) => {
      const body = method === "ANNOUNCE" ? "v=0\r\ns=x\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n" : "";
      const path = method === "SETUP" ? "test/trackID=0" : method === "ANNOUNCE" ? "mine" : "test";
      const head = `${method} ${server.url}/${path} RTSP/1.0\r\nCSeq: ${index}\r\nTransport: ${tcpTransport(0)}\r\nSession: ${session}\r\n`;
      return `${index === 3 ? head.replace(/Session.*\r\n/, "") : head}Content-Length: ${body.length}\r\n\r\n${body}`;
    })
    .join("$\0\0\u0004abcd");
  for (let round = 0; round < 15; round++) {
    const clients = await Promise.all(Array.from({ length: 10 }, () => server.connect()));
    for (const client of clients) {
      const bytes = Buffer.from(conversation, "latin1");
      for (let change = random.below(12); change >= 0; change--) bytes[random.below(bytes.length)] = random.below(256);
      const cut = random.below(bytes.length);
      client.write(bytes.subarray(0, cut));
      client.write(bytes.subarray(cut, cut + random.below(bytes.length)));
      client.socket.end();
    }
    await Promise.all(clients.map((client) => client.ended()));
  }
  await until(async () => (await stats(server)).sessions === 2);
  await other.isWhole();
});

it("[RTSP-18] 5,000 sessions of one address that are never torn down: those beyond the limit get 503, and all end", async () => {
  const server = await startRtsp({ sessionsPerAddress: 1_000 });
  const other = await bystander(server);
  const heapBefore = process.memoryUsage().heapUsed;
  const perConnection = 125;
  const clients = await Promise.all(Array.from({ length: 40 }, () => server.connect("::1")));
  const setUps = (client: RawClient) =>
    Array.from(
      { length: perConnection },
      (_, index) => `SETUP ${client.url}/test/trackID=0 RTSP/1.0\r\nCSeq: ${index}\r\nTransport: ${tcpTransport(index)}\r\n\r\n`,
    ).join("");
  for (const client of clients) client.write(setUps(client));
  await until(() => clients.every(({ responses }) => responses.length === perConnection), 40_000);
  const statuses = clients.flatMap(({ responses }) => responses.map(({ status }) => status));
  expect(statuses.filter((status) => status === 200)).toHaveLength(1_000);
  expect(statuses.filter((status) => status === 503)).toHaveLength(4_000);
  // Of this process, which has the clients too.
  expect(process.memoryUsage().heapUsed - heapBefore).toBeLessThan(150 << 20);
  expect(await statusOf(await server.connect(), "DESCRIBE", "/stream")).toBe(200);
  for (const { socket } of clients) socket.destroy();
  await until(async () => (await stats(server)).sessions === 2);
  await other.isWhole();
});

it("[RTSP-18] sessions over UDP that nobody uses any more end in time, and free their ports", async () => {
  const server = await startRtsp({ timeoutSeconds: 1 });
  const transport = () => "RTP/AVP;unicast;client_port=41000-41001";
  const first = await server.connect();
  await first.setUp("/stream", [0], transport);
  first.socket.destroy();
  await server.ended(({ outcome }) => outcome.startsWith("no request for"));
  await (await server.connect()).setUp("/stream", [0], transport);
});

it("[RTSP-231] the ports of the service are no client's, and it goes on to the next transport", async () => {
  const server = await startRtsp();
  const client = await server.connect();
  const setUp = (Transport: string) => client.request("SETUP", "/stream/trackID=0", { Transport });
  const own = /server_port=(\d+)-(\d+)/.exec(header(await setUp("RTP/AVP;unicast;client_port=41000-41001"), "Transport"))?.slice(1) ?? [];
  const [rtp = "", rtcp = ""] = own;
  for (const ports of [`${rtp}-${rtcp}`, `${rtcp}-${rtp}`, `41002-${rtcp}`]) {
    expect((await setUp(`RTP/AVP;unicast;client_port=${ports}`)).status).toBe(461);
    const answer = await setUp(`RTP/AVP;unicast;client_port=${ports},${tcpTransport(0)}`);
    expect([answer.status, header(answer, "Transport")]).toEqual([200, expect.stringContaining("interleaved=")]);
    await client.request("TEARDOWN", "/stream", { Session: header(answer, "Session") });
  }
});

it("[RTSP-22] the UDP ports of a session whose connection is closed are taken over, those of another session are not", async () => {
  const server = await startRtsp();
  const transport = () => "RTP/AVP;unicast;client_port=41000-41001";
  const first = await server.connect();
  const Session = await first.setUp("/stream", [0], transport);
  await first.request("PLAY", "/stream", { Session });
  const other = await server.connect();
  await expect(other.setUp("/test", [0], transport)).rejects.toThrow("461");
  other.socket.destroy();
  const refused = await server.ended(({ outcome }) => outcome.startsWith("461"));
  expect(refused.reason).toBe("UDP ports 41000-41001 of 127.0.0.1 are set up for another track or session");
  const elsewhere = await server.connect("127.0.0.2");
  await elsewhere.setUp("/stream", [0], transport);
  elsewhere.socket.destroy();
  first.socket.destroy();
  await until(async () => (await stats(server)).connections === 0);
  const second = await server.connect();
  await second.setUp("/test", [0], transport);
  const ended = await server.ended(({ outcome }) => outcome.startsWith("its UDP ports"));
  expect(ended).toMatchObject({ target: "/stream", tone: "neutral", outcome: "its UDP ports were set up again over another connection" });
  // That of the other address is still there, and the new one.
  expect((await stats(server)).sessions).toBe(2);
});

it("[RTSP-18] datagrams from foreign addresses and ports, and wrong ones of a publisher", async () => {
  const server = await startRtsp();
  const other = await bystander(server);
  const random = seededRandom(35);
  const [rtp, rtcp] = other.ports;
  const publisher = await server.connect();
  const description = "v=0\r\ns=x\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:a\r\n";
  await publisher.request("ANNOUNCE", "/mine", { "Content-Type": "application/sdp" }, description);
  const own = createSocket("udp4").bind(0, "127.0.0.1");
  const foreign = createSocket("udp4").bind(0, "127.0.0.2");
  const reports = createSocket("udp4");
  for (const socket of [own, foreign, reports]) onEnd(() => socket.close());
  await Promise.all([once(own, "listening"), once(foreign, "listening")]);
  const { port } = own.address();
  const setUp = await publisher.request("SETUP", "/mine/a", { Transport: `RTP/AVP;unicast;client_port=${port}-${port + 1};mode=record` });
  expect(setUp.status).toBe(200);
  const Session = header(setUp, "Session").split(";")[0] as string;
  expect(await statusOf(publisher, "RECORD", "/mine", { Session })).toBe(200);
  const before = (await stats(server)).foreignDatagrams ?? 0;
  for (let round = 0; round < 60; round++) {
    for (const socket of [own, foreign]) {
      const datagram = Buffer.from(Array.from({ length: random.below(80) }, () => random.below(256)));
      if (random.chance(0.7) && datagram.length > 2) {
        datagram[0] = 0x80 | random.below(64);
        datagram[1] = random.chance(0.3) ? 200 + random.below(5) : 96;
      }
      socket.send(datagram, random.chance(0.5) ? rtp : rtcp, "127.0.0.1");
    }
    await new Promise(setImmediate);
  }
  await until(async () => ((await stats(server)).foreignDatagrams ?? 0) - before >= 60);
  expect(await statusOf(publisher, "TEARDOWN", "/mine", { Session })).toBe(200);
  const { id } = await server.ended(({ verb }) => verb === "publish");
  expect(server.detail(id).tracks[0]?.dropped).toBeGreaterThan(10);
  await other.isWhole();
});

it("[RTSP-18] MP4 files that lie about their sizes are refused, and none is left on a path", async () => {
  const server = await startRtsp();
  const other = await bystander(server);
  const clip = readFileSync(assetFile("rtsp", "stream.mp4"));
  const moov = clip.indexOf("moov") - 4;
  const lie = (at: number, value: number) => {
    const file = Buffer.from(clip);
    file.writeUInt32BE(value, at);
    return file;
  };
  /** Counts and sizes of the tables begin behind version and flags. */
  const table = (type: string, value: number) => lie(clip.indexOf(type) + 8, value);
  for (const file of [
    lie(moov, 0xffffffff),
    lie(moov, 4),
    table("stts", 0xffffffff),
    table("stsz", 0x7fffffff),
    table("stsc", 0xffffffff),
    table("stco", 0xffffffff),
    clip.subarray(0, moov + 300),
    Buffer.from("GARBAGE"),
  ]) {
    const { upload } = await server.act("file.begin", { name: "lie.mp4", bytes: file.length });
    await server.act("file.put", { upload, base64: file.toString("base64") });
    await expect(server.act("file.end", { upload })).rejects.toThrow();
  }
  expect((await stats(server)).paths).toMatchObject([{ name: "stream" }, { name: "test" }]);
  await other.isWhole();
});

/** Requests for the description, whose numbers go on from `from`. */
const describes = (url: string, from: number, count: number): string =>
  Array.from({ length: count }, (_, index) => `DESCRIBE ${url}/stream RTSP/1.0\r\nCSeq: ${from + index}\r\n\r\n`).join("");

it("[RTSP-26] of clients that send packets in part those with most are disconnected beyond the bound, and others are answered", async () => {
  const server = await startRtsp({ allRequestBytes: 1 << 20 });
  const modest = await server.connect();
  const begun = Buffer.concat([Buffer.from([0x24, 0, 0xff, 0xff]), Buffer.alloc(60_000)]);
  const hostile = Array.from({ length: 30 }, () => connect(server.port, "127.0.0.1"));
  let closed = 0;
  for (const socket of hostile) {
    onEnd(() => socket.destroy());
    socket.on("error", () => {}).on("close", () => closed++);
    socket.write(begun);
  }
  await until(() => closed > 0);
  await server.ended(({ reason, outcome }) => `${reason} ${outcome}`.includes("RTSP_ALL_REQUEST_BYTES"));
  expect(closed).toBeLessThan(hostile.length);
  expect((await modest.request("OPTIONS", server.url)).status).toBe(200);
});

it("[RTSP-204] what is announced and never played counts in the memory of all streams", async () => {
  const server = await startRtsp({ allMediaBytes: 1 << 20, bodyBytes: 64 << 10 });
  const modest = await server.connect();
  const sets = `Z0LAHtkDxWhAAAADAEAAAAwDxYuS,${"aM".padEnd(40_000, "u")}`;
  const description = [
    ...["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=x", "c=IN IP4 0.0.0.0", "t=0 0", "m=video 0 RTP/AVP 96"],
    ...["a=rtpmap:96 H264/90000", `a=fmtp:96 packetization-mode=1;sprop-parameter-sets=${sets}`, "a=control:track0", ""],
  ].join("\r\n");
  let closed = 0;
  const publishers = await Promise.all(Array.from({ length: 30 }, () => server.connect()));
  for (const [index, client] of publishers.entries()) {
    client.socket.once("close", () => closed++);
    const head = `ANNOUNCE ${server.url}/a${index} RTSP/1.0\r\nCSeq: 1\r\nContent-Type: application/sdp\r\n`;
    client.write(`${head}Content-Length: ${description.length}\r\n\r\n${description}`);
  }
  await until(() => closed > 10 && closed + publishers.filter(({ responses }) => responses.length > 0).length >= publishers.length);
  await server.ended(({ reason, outcome }) => `${reason} ${outcome}`.includes("RTSP_ALL_MEDIA_BYTES"));
  expect(closed).toBeLessThan(publishers.length);
  expect((await modest.request("OPTIONS", server.url)).status).toBe(200);
});

it("[RTSP-196] a flood of requests is answered in its order, with those of others in between", async () => {
  const server = await startRtsp();
  const [flood, other] = [await server.connect(), await server.connect()];
  const count = 5_000;
  flood.write(describes(server.url, 1, count));
  await until(() => flood.responses.length > 0);
  expect((await other.request("OPTIONS", "*")).status).toBe(200);
  await until(() => flood.responses.length === count);
  expect(flood.responses.map((answer) => Number(header(answer, "CSeq")))).toEqual(Array.from({ length: count }, (_, index) => 1 + index));
});

it("[RTSP-196] a flood of requests through a tunnel is answered in its order", async () => {
  const server = await startRtsp();
  const [get, post] = [connect(server.port, "127.0.0.1"), connect(server.port, "127.0.0.1")];
  for (const socket of [get, post]) onEnd(() => void socket.destroy());
  const head = (method: string) => `${method} /stream HTTP/1.0\r\nx-sessioncookie: flood\r\n\r\n`;
  let received = "";
  get.on("data", (chunk) => {
    received += chunk.toString("latin1");
  });
  get.write(head("GET"));
  await until(() => received.startsWith("HTTP/1.0 200"));
  post.write(head("POST"));
  const count = 3_000;
  for (let from = 1; from <= count; from += 500) post.write(Buffer.from(describes(server.url, from, 500)).toString("base64"));
  const numbers = () => [...received.matchAll(/\r\nCSeq: (\d+)\r\n/g)].map(([, number]) => Number(number));
  await until(() => received.includes(`\r\nCSeq: ${count}\r\n`));
  expect(numbers()).toEqual(Array.from({ length: count }, (_, index) => 1 + index));
});

it("[RTSP-196] what a client has asked for before it left is given up", async () => {
  const server = await startRtsp();
  const [flood, other] = [await server.connect(), await server.connect()];
  flood.write(describes(server.url, 1, 20_000));
  await until(() => flood.responses.length > 0);
  flood.socket.resetAndDestroy();
  expect((await other.request("OPTIONS", "*")).status).toBe(200);
  // A request and an answer each.
  expect((await server.ended(() => true)).parts).toBeLessThan(40_000);
});

import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { headerOf, type RtspResponse } from "../../servers/rtsp/protocol/message.ts";
import { RtspParser } from "../../servers/rtsp/protocol/rtsp-parser.ts";
import {
  type Addresses,
  type Attack,
  type Bystander,
  closeOf,
  type HostileService,
  httpAttacks,
  httpRequest,
  overEndpoint,
  randomBytes,
  repeated,
  slowValues,
  type Target,
  throwAt,
} from "./hostile-service.ts";
import { rtmpAttacks } from "./rtmp-attacks.ts";

const rtspRequest = (method: string, path: string, fields: Readonly<Record<string, string>> = {}, body = ""): string =>
  [
    `${method} ${path === "*" ? "*" : `rtsp://127.0.0.1${path}`} RTSP/1.0`,
    ...Object.entries({ CSeq: "1", ...fields, ...(body !== "" && { "Content-Length": String(body.length) }) }).map(
      ([name, value]) => `${name}: ${value}`,
    ),
    `\r\n${body}`,
  ].join("\r\n");

const overTcp = "RTP/AVP/TCP;unicast;interleaved=0-1";
const setUp = rtspRequest("SETUP", "/test/trackID=0", { Transport: overTcp });
const description =
  "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nt=0 0\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=fmtp:96 packetization-mode=1\r\na=control:trackID=0\r\n";

/** A client that reads answers, and drops packets. */
class RtspClient {
  readonly socket: Socket;
  readonly #parser = new RtspParser({ headBytes: 1 << 16, headerFields: 100, bodyBytes: 1 << 20, uriBytes: 1 << 12 });
  readonly #waiting: ((answer: RtspResponse) => void)[] = [];

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (chunk) => {
      this.#parser.push(chunk);
      for (let item = this.#parser.next(); item; item = this.#parser.next()) if (item.kind === "response") this.#waiting.shift()?.(item);
    });
  }

  /** Pending for ever if the connection is lost. */
  ask(request: string): Promise<RtspResponse> {
    this.socket.write(request);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

const sessionOf = (answer: RtspResponse): string => (headerOf(answer.headers, "Session") ?? "").split(";")[0] as string;

/** Opens connections, lets each of them do something that begins with a question, and closes them after `holdMs`. */
async function converse({ port, holdMs }: Target, connections: number, talk: (client: RtspClient) => Promise<void>): Promise<void> {
  const sockets = Array.from({ length: connections }, () => connect(port, "127.0.0.1"));
  const closed = sockets.map((socket) => closeOf(socket));
  await Promise.race([
    Promise.all(sockets.map((socket, index) => Promise.race([talk(new RtspClient(socket)), closed[index]]))),
    delay(holdMs),
  ]);
  await delay(holdMs);
  for (const socket of sockets) socket.destroy();
  await Promise.all(closed);
}

/** A player over TCP that reads, and whose connection is asked. */
async function openBystander({ port }: Addresses): Promise<Bystander> {
  const socket = connect(port, "127.0.0.1");
  const closed = closeOf(socket);
  await once(socket, "connect");
  const client = new RtspClient(socket);
  const Session = sessionOf(await client.ask(rtspRequest("SETUP", "/stream/trackID=0", { Transport: overTcp })));
  await client.ask(rtspRequest("PLAY", "/stream", { Session }));
  return {
    async ask() {
      const answered = new AbortController();
      const { signal } = answered;
      const tooLate = delay(30_000, undefined, { signal }).catch(() => {});
      const answer = await Promise.race([client.ask(rtspRequest("GET_PARAMETER", "/stream", { Session })), closed, tooLate]);
      answered.abort();
      if (answer?.status !== 200) throw new Error(`GET_PARAMETER was answered ${answer?.status}`);
    },
    async close() {
      socket.destroy();
      await closed;
    },
  };
}

/** Interleaved frames of any channel, whose lengths are true. */
function frames({ random }: Target, count: number): Buffer {
  return Buffer.concat(
    Array.from({ length: count }, () => {
      const frame = Buffer.alloc(4 + random.below(400));
      frame[0] = 0x24;
      frame[1] = random.below(6);
      frame.writeUInt16BE(frame.length - 4, 2);
      for (let at = 4; at < frame.length; at++) frame[at] = random.below(256);
      return frame;
    }),
  );
}

/** RFC 6184 §5.8: the first fragment of a key frame, and never its last. */
function fragment(sequence: number): Buffer {
  const packet = Buffer.alloc(4 + 12 + 1_400, 0xaa);
  packet.write("$\0", "latin1");
  packet.writeUInt16BE(packet.length - 4, 2);
  packet.set([0x80, 96], 4);
  packet.writeUInt16BE(sequence, 6);
  packet.writeUInt32BE(90_000, 8);
  packet.writeUInt32BE(1, 12);
  packet.set([0x7c, sequence === 0 ? 0x85 : 0x05], 16);
  return packet;
}

/** RFC 6184 §5.6: a picture of two bytes; the first one is a key frame. */
function tinyPicture(sequence: number): Buffer {
  const packet = Buffer.alloc(4 + 12 + 2);
  packet.write("$\0", "latin1");
  packet.writeUInt16BE(packet.length - 4, 2);
  packet.set([0x80, 0x80 | 96], 4);
  packet.writeUInt16BE(sequence & 0xffff, 6);
  packet.writeUInt32BE(sequence, 8);
  packet.writeUInt32BE(1, 12);
  packet.set(sequence === 0 ? [0x65, 0x88] : [0x41, 0x9a], 16);
  return packet;
}
const tinyPictures = 50_000;

/** A publisher of as many pictures as it can send, with players that come when it has. */
const publishTinyPictures: Attack = (target) =>
  converse({ ...target, holdMs: Math.max(1_000, target.holdMs) }, 1, async (client) => {
    const path = `/hostile/tiny-${target.random.below(1_000)}`;
    await client.ask(rtspRequest("ANNOUNCE", path, { "Content-Type": "application/sdp" }, description));
    const answer = await client.ask(rtspRequest("SETUP", `${path}/trackID=0`, { Transport: `${overTcp};mode=record` }));
    const Session = sessionOf(answer);
    await client.ask(rtspRequest("RECORD", path, { Session }));
    client.socket.write(Buffer.concat(Array.from({ length: tinyPictures }, (_, sequence) => tinyPicture(sequence))));
    await client.ask(rtspRequest("GET_PARAMETER", path, { Session }));
    await converse(target, 10, async (player) => {
      const Session = sessionOf(await player.ask(setUp.replace("/test", path)));
      await player.ask(rtspRequest("PLAY", path, { Session }));
    });
  });

/** Bytes of chance to the ports for RTP and RTCP. */
const datagrams: Attack = async (target) => {
  const socket = createSocket("udp4").bind(0, "127.0.0.1");
  await once(socket, "listening");
  const { port } = socket.address();
  // Long enough for the answer to SETUP on a busy machine.
  await converse({ ...target, holdMs: Math.max(500, target.holdMs) }, 1, async (client) => {
    const answer = await client.ask(
      rtspRequest("SETUP", "/test/trackID=0", { Transport: `RTP/AVP;unicast;client_port=${port}-${port + 1}` }),
    );
    const ports = /server_port=(\d+)-(\d+)/.exec(headerOf(answer.headers, "Transport") ?? "")?.slice(1) ?? [];
    for (let count = 0; count < 500; count++) {
      for (const to of ports) {
        const bytes = randomBytes(target, 1 + target.random.below(300));
        // RTCP, with any types and lengths; and what is no RTP at all.
        if (count % 2 === 0) bytes.set([0x80 | target.random.below(32), 200 + target.random.below(8)].slice(0, bytes.length));
        socket.send(bytes, Number(to), "127.0.0.1");
      }
    }
  });
  socket.close();
};

export const rtspService: HostileService = {
  flags: ["--rtsp-http-port", "0", "--rtsp-rtp-port", "0", "--rtsp-tls-port", "0", "--rtsp-rtmp", "true", "--rtsp-rtmp-port", "0"],
  config: { httpPort: 0, rtpPort: 0, tlsPort: 0, rtmp: true, rtmpPort: 0 },
  openBystander,
  attacks: {
    "conversations with changed bytes, cut anywhere": (target) =>
      throwAt(
        target,
        20,
        () => {
          const bytes = Buffer.from(
            ["OPTIONS", "DESCRIBE", "ANNOUNCE", "SETUP", "PLAY", "GET_PARAMETER", "PAUSE", "RECORD", "TEARDOWN"]
              .map((method) =>
                rtspRequest(
                  method,
                  method === "SETUP" ? "/test/trackID=0" : "/test",
                  { Transport: overTcp },
                  method === "ANNOUNCE" ? description : "",
                ),
              )
              .join("$\0\0\u0004abcd"),
            "latin1",
          );
          for (let change = target.random.below(12); change > 0; change--)
            bytes[target.random.below(bytes.length)] = target.random.below(256);
          return bytes.subarray(0, target.random.below(bytes.length) + 1);
        },
        "all",
      ),
    "interleaved packets for nobody": (target) => throwAt(target, 20, () => frames(target, 300), "all"),
    "SETUP, 200 times on a connection": (target) => throwAt(target, 10, Buffer.from(setUp.repeat(200)), "nothing"),
    "DESCRIBE, 10,000 times": (target) => throwAt(target, 4, Buffer.from(rtspRequest("DESCRIBE", "/stream").repeat(10_000)), "all"),
    "a publisher of tiny pictures, and its players": publishTinyPictures,
    "DESCRIBE, 1,000 times, answers unread": (target) =>
      throwAt(target, 8, Buffer.from(rtspRequest("DESCRIBE", "/stream").repeat(1_000)), "nothing"),
    "100 players over TCP that read nothing": (target) =>
      converse(target, 100, async (client) => {
        const Session = sessionOf(await client.ask(rtspRequest("SETUP", "/stream/trackID=0", { Transport: overTcp })));
        client.socket.pause();
        client.socket.write(rtspRequest("PLAY", "/stream", { Session }));
      }),
    "publishers that stop in a frame": (target) =>
      converse(target, 20, async (client) => {
        const path = `/hostile/${target.random.below(1_000)}`;
        await client.ask(rtspRequest("ANNOUNCE", path, { "Content-Type": "application/sdp" }, description));
        const answer = await client.ask(rtspRequest("SETUP", `${path}/trackID=0`, { Transport: `${overTcp};mode=record` }));
        await client.ask(rtspRequest("RECORD", path, { Session: sessionOf(answer) }));
        for (let sequence = 0; sequence < 500; sequence++) client.socket.write(fragment(sequence));
      }),
    "a head of a megabyte": (target) =>
      throwAt(target, 20, Buffer.from(`OPTIONS * RTSP/1.0\r\nCSeq: 1\r\nX: ${"y".repeat(1 << 20)}`), "all"),
    "fields, ranges and credentials that slow patterns read": (target) => {
      const spaces = " ".repeat(15_000);
      const fields = [
        ["X", `${spaces}\rx`],
        ["X", `y${spaces}y`],
        ["Range", `npt=1-${spaces}x`],
        ["Session", `x${spaces}x`],
        ["Authorization", `Digest ${"a".repeat(15_000)}`],
        ["Authorization", `Digest ${'a="'.repeat(5_000)}`],
      ] as const;
      return throwAt(
        target,
        10,
        Buffer.from(
          fields
            .map(([name, value]) => rtspRequest("PLAY", "/stream", { [name]: value }))
            .reverse()
            .join(""),
        ),
        "all",
      );
    },
    "fields and URIs of one row of characters": async (target) => {
      const known = [
        "Transport",
        "Session",
        "Range",
        "Authorization",
        "Require",
        "Accept",
        "Content-Type",
        "Scale",
        "RTP-Info",
        "User-Agent",
      ];
      const before: Readonly<Record<string, string>> = {
        Transport: "RTP/AVP;unicast;client_port=1-2",
        Session: "x",
        Range: "npt=0",
        Authorization: 'Digest username="a", ',
        "RTP-Info": "url=a",
      };
      const methods = ["SETUP", "PLAY", "ANNOUNCE"];
      const requests = known.flatMap((name) =>
        slowValues.flatMap((value) =>
          methods.map((method) => rtspRequest(method, "/stream/trackID=0", { [name]: `${before[name] ?? "a"}${value}x` })),
        ),
      );
      const uris = slowValues.map((value) => rtspRequest("DESCRIBE", `/a${value.slice(0, 4_000)}x`));
      for (const group of Array.from({ length: 10 }, (_, index) => [...requests, ...uris].filter((_, at) => at % 10 === index)))
        await throwAt({ ...target, holdMs: target.holdMs / 10 }, 10, Buffer.from(group.join("")), "all");
    },
    "descriptions of one row of characters": async (target) => {
      const lines = [
        "a=rtpmap:96 H264/90000",
        "a=fmtp:96 packetization-mode=1",
        "a=control:trackID=0",
        "m=video 0 RTP/AVP 96",
        "s=x",
        "v=0",
      ];
      const requests = lines.flatMap((line) =>
        slowValues.map((value) =>
          rtspRequest("ANNOUNCE", "/hostile", { "Content-Type": "application/sdp" }, description.replace(line, `${line}${value}x`)),
        ),
      );
      await throwAt(target, 4, Buffer.from(requests.join("")), "all");
    },
    "300 half requests": (target) => throwAt(target, 300, Buffer.from("DESCRIBE rtsp://127.0.0.1/stream RTSP/1.0\r\nCS"), "all"),
    "random bytes": (target) => throwAt(target, 20, () => randomBytes(target, 2_000), "all"),
    "bytes of chance over UDP": datagrams,
    ...overEndpoint("HTTP", {
      ...httpAttacks("/metrics"),
      "50 readers of MPEG-TS that read nothing": (target) => throwAt(target, 50, httpRequest("GET", "/stream.ts"), "nothing"),
      "readers of HLS that read nothing": (target) =>
        throwAt(
          target,
          20,
          Buffer.concat(["/stream/index.m3u8", "/stream/init.mp4", "/stream/snapshot.mp4"].map((path) => httpRequest("GET", path))),
          "nothing",
        ),
      "readers of HLS with many names": (target) =>
        throwAt(
          target,
          20,
          () =>
            Buffer.concat(
              Array.from({ length: 100 }, () =>
                httpRequest("GET", "/stream/index.m3u8", { headers: `User-Agent: ${target.random.below(2 ** 32)}\r\n` }),
              ),
            ),
          "all",
        ),
      "snapshots, answers unread": (target) => throwAt(target, 10, repeated(httpRequest("GET", "/test/snapshot.mp4"), 500), "nothing"),
    }),
    ...overEndpoint("RTMP", rtmpAttacks),
  },
};

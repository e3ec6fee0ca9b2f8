import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { exampleEvent } from "../../contract/services/example-event.ts";
import {
  type Attack,
  atEndpoint,
  type HostileService,
  httpAttacks,
  httpRequest,
  openHttpBystander,
  repeated,
  sendRows,
  slowValues,
  throwAt,
} from "./hostile-service.ts";
import { throwRecordsOfOneByte } from "./tls-attacks.ts";

const jsonHeader = "Content-Type: application/json\r\n";

/** RFC 6455 §5.2: a masked text frame; the mask is zero. */
const frame = (text: string) => Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]);
/** Of a message that goes on (RFC 6455 §5.4). */
const fragment = (opcode: number) => Buffer.from([opcode, 0x81, 0, 0, 0, 0, 0x78]);
function longFrame(bytes: number): Buffer {
  const head = Buffer.alloc(14);
  head.set([0x82, 0x80 | 127]);
  head.writeUInt32BE(bytes, 6);
  return Buffer.concat([head, Buffer.alloc(bytes)]);
}
const upgrade = httpRequest("GET", "/ws/echo", {
  headers: `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${createHash("md5").update("").digest("base64")}\r\n`,
});

function multipart(parts: number): Buffer {
  const part = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n';
  return Buffer.from(`${part.repeat(parts)}--b--\r\n`);
}

const files = (count: number): Buffer =>
  Buffer.from(`${'--b\r\nContent-Disposition: form-data; name="a"; filename="f"\r\n\r\nx\r\n'.repeat(count)}--b--\r\n`);

const bodiesOfOneMebibyte: Readonly<Record<string, { readonly type: string; readonly text: () => string }>> = {
  "260,000 numbers such as 1.0": { type: "application/json", text: () => `[${"1.0,".repeat(260_000)}1]` },
  "340,000 lists": { type: "application/json", text: () => `[${"[],".repeat(340_000)}1]` },
  "230,000 numbers 990 levels deep": {
    type: "application/json",
    text: () => `${"[".repeat(990)}${"1,".repeat(230_000)}1${"]".repeat(990)}`,
  },
  "a form of 500,000 fields": { type: "application/x-www-form-urlencoded", text: () => "a&".repeat(500_000) },
  "a part of 240,000 header lines": {
    type: "multipart/form-data; boundary=b",
    text: () => `--b\r\n${"a:\r\n".repeat(240_000)}Content-Disposition: form-data; name="a"\r\n\r\n\r\n--b--\r\n`,
  },
  "15,000 parts behind an empty line": { type: "multipart/form-data; boundary=b", text: () => `\r\n${multipart(15_000)}` },
};

const numbersOfOneMebibyte = Buffer.from(`[${"1,".repeat(520_000)}1]`);
const manyNumbers = gzipSync(`[${"1,".repeat(500_000)}1]`);

const routesOfFields = [
  ["/basic-auth/a/b", "Authorization", "Basic "],
  ["/bearer", "Authorization", "Bearer a"],
  ["/digest-auth/auth/a/b", "Authorization", 'Digest username="a", '],
  ["/etag/a", "If-None-Match", "W/"],
  ["/range/100", "Range", "bytes=0-1"],
  ["/cookies", "Cookie", "a=b"],
  ["/image", "Accept", "image/png"],
  ["/api/stream?count=1", "Last-Event-ID", "1"],
] as const;

export const httpService: HostileService = {
  flags: [
    "--http-all-unsent-bytes",
    String(16 << 20),
    "--http-all-request-bytes",
    String(16 << 20),
    "--http-https",
    "true",
    "--http-https-port",
    "0",
  ],
  config: { allUnsentBytes: 16 << 20, allRequestBytes: 16 << 20, https: true, httpsPort: 0 },
  openBystander: async (addresses) => openHttpBystander(addresses, "/api/data"),
  attacks: {
    ...httpAttacks("/bytes/100000", "/ws/echo"),
    "TLS records of one byte": (target) => throwRecordsOfOneByte(atEndpoint(target, "HTTPS"), 50, 1_000),
    "pipelined requests that wait": (target) => throwAt(target, 8, repeated(httpRequest("GET", "/delay/10"), 1_000), "all"),
    "200 event streams of 10 ms": (target) => throwAt(target, 200, httpRequest("GET", "/api/stream?count=0&duration=10ms"), "all"),
    "200 event streams without a pause": (target) => throwAt(target, 200, httpRequest("GET", "/api/stream?count=100000&duration=0"), "all"),
    "event streams, unread": (target) => throwAt(target, 200, httpRequest("GET", "/api/stream?count=0&duration=10ms"), "nothing"),
    "tiny WebSocket messages": (target) => throwAt(target, 20, Buffer.concat([upgrade, repeated(frame("x"), 2_000)]), "all"),
    "WebSocket fragments of one byte": (target) =>
      throwAt(target, 200, Buffer.concat([upgrade, fragment(2), repeated(fragment(0), 8_000)]), "all"),
    "WebSocket messages, echoes unread": (target) =>
      throwAt(target, 20, Buffer.concat([upgrade, repeated(frame("x".repeat(125)), 2_000)]), "nothing"),
    "a form with one name 15,000 times": (target) =>
      throwAt(
        target,
        4,
        httpRequest("POST", "/post", { headers: "Content-Type: multipart/form-data; boundary=b\r\n", body: multipart(15_000) }),
        "all",
      ),
    "fields that slow patterns read, at the routes that read them": async (target) => {
      for (const [path, name, before] of routesOfFields) await sendRows(target, path, [name, before]);
    },
    "forms and types of one row of characters": (target) =>
      throwAt(
        target,
        4,
        Buffer.concat(
          slowValues.flatMap((value) => [
            httpRequest("POST", "/post", {
              headers: `Content-Type: multipart/form-data; boundary=b${value}x\r\n`,
              body: Buffer.from("--b"),
            }),
            httpRequest("POST", "/post", { headers: `Content-Type: a/b; charset=${value}x\r\n`, body: Buffer.from("a") }),
            httpRequest("POST", "/post", {
              headers: "Content-Type: multipart/form-data; boundary=b\r\n",
              body: Buffer.from(`--b\r\nContent-Disposition: form-data; name="a"${value.repeat(20)}\r\n\r\nx\r\n--b--\r\n`),
            }),
            httpRequest("POST", "/post", { headers: jsonHeader, body: Buffer.from(`[${value.repeat(20)}`) }),
          ]),
        ),
        "all",
      ),
    "JSON of 100,000 levels": (target) =>
      throwAt(target, 4, httpRequest("POST", "/anything", { headers: jsonHeader, body: Buffer.from("[".repeat(100_000)) }), "all"),
    ...Object.fromEntries(
      Object.entries(bodiesOfOneMebibyte).map(([name, { type, text }]): [string, Attack] => [
        `compressed, ${name}`,
        (target) =>
          throwAt(
            target,
            4,
            httpRequest("POST", "/anything", { headers: `Content-Encoding: gzip\r\nContent-Type: ${type}\r\n`, body: gzipSync(text()) }),
            "all",
          ),
      ]),
    ),
    "1 MiB of JSON over 16 connections, answers unread": (target) =>
      throwAt(target, 16, httpRequest("POST", "/anything", { headers: jsonHeader, body: numbersOfOneMebibyte }), "nothing"),
    "1 MiB of JSON over 16 connections": (target) =>
      throwAt(target, 16, httpRequest("POST", "/anything", { headers: jsonHeader, body: numbersOfOneMebibyte }), "all"),
    "forms of 2,000 files over 16 connections": (target) =>
      throwAt(
        target,
        16,
        httpRequest("POST", "/post", { headers: "Content-Type: multipart/form-data; boundary=b\r\n", body: files(2_000) }),
        "all",
      ),
    "bytes of a seed, pipelined": (target) => throwAt(target, 16, repeated(httpRequest("GET", "/bytes/102400?seed=1"), 200), "all"),
    "16 ranges of all bytes, pipelined": (target) =>
      throwAt(target, 100, repeated(httpRequest("GET", "/range/102400", { headers: `Range: bytes=0-${",0-".repeat(15)}\r\n` }), 30), "all"),
    "answers in chunks of one byte": (target) =>
      throwAt(
        target,
        16,
        repeated(
          Buffer.concat([
            httpRequest("GET", "/stream-bytes/102400?chunk_size=1"),
            httpRequest("GET", "/range/102400?chunk_size=1"),
            httpRequest("GET", `/stream/100?${"a&".repeat(2_000)}`),
          ]),
          20,
        ),
        "all",
      ),
    "slow answers, pipelined": (target) => throwAt(target, 100, repeated(httpRequest("GET", "/drip?numbytes=500&duration=10"), 100), "all"),
    "bodies without their last byte": (target) =>
      throwAt(target, 64, httpRequest("POST", "/anything", { headers: jsonHeader, body: numbersOfOneMebibyte }).subarray(0, -1), "all"),
    "WebSocket messages without their last byte": (target) =>
      throwAt(target, 64, Buffer.concat([upgrade, longFrame(1 << 20).subarray(0, -1)]), "all"),
    "compressed, answers unread": (target) =>
      throwAt(
        target,
        8,
        httpRequest("POST", "/anything", { headers: `Content-Encoding: gzip\r\n${jsonHeader}`, body: manyNumbers }),
        "nothing",
      ),
    "Accept of 3,800 types, pipelined": (target) =>
      throwAt(target, 4, repeated(httpRequest("GET", "/docs", { headers: `Accept: ${"a/b,".repeat(3_800)}\r\n` }), 40), "all"),
    "one header field 7,900 times in an answer": (target) =>
      throwAt(target, 4, httpRequest("GET", `/response-headers?${"a&".repeat(7_900)}`), "all"),
    "compressed bodies that expand": (target) =>
      throwAt(
        target,
        8,
        httpRequest("POST", "/post", { headers: "Content-Encoding: gzip\r\n", body: gzipSync(Buffer.alloc(64 << 20)) }),
        "all",
      ),
  },
};

const login = (username: string, password: string) =>
  httpRequest("POST", "/login", { headers: jsonHeader, body: Buffer.from(JSON.stringify({ username, password })) });
const user = { username: "api@example.com", password: "backlot-demo" };

export const accountService: HostileService = {
  flags: [],
  config: {},
  async openBystander(addresses) {
    const body = JSON.stringify(user);
    const response = await fetch(`http://127.0.0.1:${addresses.port}/login`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body,
    });
    const { token } = (await response.json()) as { token: string };
    return openHttpBystander(addresses, "/details", { Authorization: `Bearer ${token}` });
  },
  attacks: {
    ...httpAttacks("/details"),
    "wrong passwords": (target) =>
      throwAt(
        target,
        20,
        Buffer.concat(Array.from({ length: 20 }, () => login(`${target.random.below(1_000_000)}@example.com`, "x"))),
        "all",
      ),
    "names that slow patterns read": (target) =>
      throwAt(
        target,
        10,
        Buffer.concat([login(`a@${".".repeat(60_000)}:`, "x"), login(`${"a@.".repeat(20_000)} x`, "x"), login(" ".repeat(60_000), "x")]),
        "all",
      ),
    "long names": (target) => throwAt(target, 20, login("x".repeat(60_000), "x"), "all"),
    "JSON of 30,000 levels": (target) =>
      throwAt(target, 20, httpRequest("POST", "/login", { headers: jsonHeader, body: Buffer.from("[".repeat(30_000)) }), "all"),
  },
};

export const eventsService: HostileService = {
  flags: ["--events-rate-limits", "false"],
  config: { rateLimits: false },
  openBystander: async (addresses) => openHttpBystander(addresses, "/stats"),
  attacks: {
    ...httpAttacks("/events?limit=1000"),
    "events, answers unread": (target) =>
      throwAt(
        target,
        8,
        repeated(httpRequest("POST", "/events", { headers: jsonHeader, body: Buffer.from(JSON.stringify(exampleEvent)) }), 500),
        "nothing",
      ),
    "JSON of 8,000 levels": (target) =>
      throwAt(target, 20, httpRequest("POST", "/events", { headers: jsonHeader, body: Buffer.from("[".repeat(8_000)) }), "all"),
    "pages far behind the newest": (target) =>
      throwAt(target, 8, repeated(httpRequest("GET", `/events?limit=1000&offset=${target.random.below(1_000_000)}`), 200), "all"),
  },
};

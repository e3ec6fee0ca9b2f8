import { connect } from "node:net";
import { expect, it } from "vitest";
import { seededRandom } from "../../servers/core/traffic/seeded-random.ts";
import { startHttp } from "./harness.ts";

const inputs = 4_000;
const atOnce = 50;

const seeds = [
  "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
  'POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{"a":1}',
  "POST /anything HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n",
  "GET /range/100 HTTP/1.1\r\nHost: a\r\nRange: bytes=0-1,5-9,-3\r\n\r\n",
  "GET /ws/echo HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n\x81\x85abcdefghi",
  'GET /digest-auth/auth/u/p HTTP/1.1\r\nHost: a\r\nAuthorization: Digest username="u", nc=00000001, qop=auth\r\n\r\n',
  'GET /response-headers?X-A=1&Set-Cookie=b HTTP/1.1\r\nHost: a\r\nCookie: a=b; c="d"\r\n\r\n',
  'POST /api/echo HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 63\r\n\r\n--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n\r\n\r\n\r\n',
  "GET /api/stream?count=3&duration=0&lastEventId=1 HTTP/1.1\r\nHost: a\r\nLast-Event-ID: 1\r\n\r\n",
  'GET /image HTTP/1.1\r\nHost: a\r\nAccept: image/*;q=0.5, text/html\r\nIf-None-Match: W/"a"\r\n\r\n',
];
const morsels = [
  "\r\n",
  "\n",
  "\0",
  " ",
  ":",
  "HTTP/1.1",
  "HTTP/9.9",
  "%00",
  "%",
  "\xff\xfe",
  "Content-Length: 5\r\n",
  "Transfer-Encoding: chunked\r\n",
  "0\r\n\r\n",
  "Expect: 100-continue\r\n",
  "Connection: upgrade\r\nUpgrade: h2c\r\n",
  "9".repeat(30),
  "A".repeat(5_000),
  "../",
  "?",
  "#",
  "*",
  "CONNECT a:1 HTTP/1.1\r\n",
];

it("[HTTP-42] random bytes get a response or a clean close, never an internal error, and the service keeps running", async () => {
  const service = await startHttp({ headersTimeoutMs: 1_000, requestTimeoutMs: 1_000, delaySeconds: 0.1 });
  const random = seededRandom("fuzz");
  const below = (end: number) => Math.floor(random() * end);

  function mutated(): Buffer {
    let bytes = Buffer.from(seeds[below(seeds.length)] ?? "", "latin1");
    if (random() < 0.1) bytes = Buffer.from(Uint8Array.from({ length: below(400) }, () => below(256)));
    for (let change = below(4); change >= 0; change--) {
      const at = below(bytes.length + 1);
      const morsel = Buffer.from(morsels[below(morsels.length)] ?? "", "latin1");
      switch (below(5)) {
        case 0:
          bytes = Buffer.concat([bytes.subarray(0, at), morsel, bytes.subarray(at)]);
          break;
        case 1:
          bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + below(20))]);
          break;
        case 2:
          if (at < bytes.length) bytes[at] = below(256);
          break;
        case 3:
          bytes = Buffer.concat([bytes, Buffer.from(seeds[below(seeds.length)] ?? "", "latin1")]);
          break;
        default:
          bytes = bytes.subarray(0, at);
      }
    }
    return Buffer.from(bytes);
  }

  function attack(bytes: Buffer): Promise<string> {
    return new Promise((resolve) => {
      const socket = connect({ port: service.port, host: "127.0.0.1" });
      const chunks: Buffer[] = [];
      // Half of them wait for the service to close, the other half leave.
      const patience = setTimeout(() => socket.destroy(), 20 + below(60));
      socket.on("data", (chunk) => chunks.push(chunk));
      socket.on("error", () => {});
      socket.on("close", () => {
        clearTimeout(patience);
        resolve(Buffer.concat(chunks).toString("latin1"));
      });
      if (random() < 0.5) socket.end(bytes);
      else socket.write(bytes);
    });
  }

  const own5xx = /^HTTP\/1.1 5(?!01|05)\d\d/m;
  for (let done = 0; done < inputs; done += atOnce) {
    const batch = Array.from({ length: atOnce }, mutated);
    const answers = await Promise.all(batch.map(attack));
    for (const [index, answer] of answers.entries()) {
      if (answer !== "") expect(answer, JSON.stringify(batch[index]?.toString("latin1"))).toMatch(/^HTTP\/1\.1 \d{3} /);
      expect(answer, JSON.stringify(batch[index]?.toString("latin1"))).not.toMatch(own5xx);
    }
  }
  expect(await (await fetch(`${service.url}/health`)).json()).toEqual({ status: "ok" });
  expect(service.logs.filter((line) => line.level === "error")).toEqual([]);
});

import { expect, it } from "vitest";
import { parseDigestCredentials } from "../../servers/core/credentials/digest.ts";
import { parseSdp, SdpError } from "../../servers/core/rtp/sdp.ts";
import { parseTarget, rangeUnitOf } from "../../servers/rtsp/protocol/header-fields.ts";
import type { RtspItem } from "../../servers/rtsp/protocol/message.ts";
import { type ParserLimits, RtspParser, RtspSyntaxError } from "../../servers/rtsp/protocol/rtsp-parser.ts";
import { parseTransport, writeTransport } from "../../servers/rtsp/protocol/transport-header.ts";
import { TunnelDecoder } from "../../servers/rtsp/sessions/http-tunnel.ts";
import { seededRandom } from "../support/seeded-random.ts";

const limits: ParserLimits = { headBytes: 2_000, headerFields: 20, bodyBytes: 1_000, uriBytes: 300 };

function itemsOf(chunks: readonly Buffer[]): RtspItem[] {
  const parser = new RtspParser(limits);
  const items: RtspItem[] = [];
  for (const chunk of chunks) {
    parser.push(chunk);
    for (let item = parser.next(); item; item = parser.next()) items.push(item);
  }
  return items;
}
const packet = (channel: number, payload: Buffer) =>
  Buffer.concat([Buffer.from([0x24, channel, payload.length >> 8, payload.length & 0xff]), payload]);
const wire = Buffer.concat([
  Buffer.from("\r\n\nOPTIONS * RTSP/1.0\r\nCSeq: 1\r\nX-Folded: one\r\n  two\r\n\r\n\r\n"),
  packet(0, Buffer.from([1, 2, 3])),
  Buffer.from("ANNOUNCE rtsp://host/a RTSP/1.0\ncseq:2\nContent-Length: 5\n\nv=0\r\n"),
  packet(3, Buffer.alloc(0)),
  Buffer.from("RTSP/1.0 200 OK\r\nCSeq: 3\r\n\r\n"),
  packet(1, Buffer.alloc(700, 0x24)),
  Buffer.from("TEARDOWN rtsp://host/a RTSP/1.0\r\nCSeq: 4\r\n\r\n"),
]);
const shape = (items: readonly RtspItem[]) =>
  items.map((item) => {
    if (item.kind === "packet") return `${item.channel}:${item.payload.length}`;
    const start = item.kind === "request" ? `${item.method} ${item.uri}` : `${item.status} ${item.reason}`;
    return `${start} ${item.headers.map(([name, value]) => `${name}=${value}`).join(",")} ${item.body.toString()}`;
  });
const expected = [
  "OPTIONS * CSeq=1,X-Folded=one two ",
  "0:3",
  "ANNOUNCE rtsp://host/a cseq=2,Content-Length=5 v=0\r\n",
  "3:0",
  "200 OK CSeq=3 ",
  "1:700",
  "TEARDOWN rtsp://host/a CSeq=4 ",
];

it("[RTSP-2] requests, answers and packets are read in any pieces, with CRLF or LF, folded fields and empty lines between", () => {
  expect(shape(itemsOf([wire]))).toEqual(expected);
  expect(shape(itemsOf([...wire].map((byte) => Buffer.from([byte]))))).toEqual(expected);
  const random = seededRandom(2);
  for (let round = 0; round < 200; round++) {
    const chunks: Buffer[] = [];
    for (let at = 0; at < wire.length; ) {
      const end = Math.min(wire.length, at + 1 + random.below(60));
      chunks.push(Buffer.from(wire.subarray(at, end)));
      at = end;
    }
    expect(shape(itemsOf(chunks))).toEqual(expected);
  }
});

it("[RTSP-2] payloads stay as they were when more bytes come", () => {
  const parser = new RtspParser(limits);
  const payloads: Buffer[] = [];
  const stream = Buffer.concat(Array.from({ length: 500 }, (_, index) => packet(0, Buffer.alloc(40 + (index % 7), index & 0xff))));
  for (let at = 0; at < stream.length; at += 33) {
    parser.push(Buffer.from(stream.subarray(at, at + 33)));
    for (let item = parser.next(); item; item = parser.next()) if (item.kind === "packet") payloads.push(item.payload);
  }
  expect(payloads.length).toBe(500);
  for (const [index, payload] of payloads.entries()) expect(payload.equals(Buffer.alloc(40 + (index % 7), index & 0xff))).toBe(true);
});

const refusal = (text: string | Buffer): { status: number; cseq: string | undefined } | undefined => {
  try {
    itemsOf([Buffer.from(text)]);
    return undefined;
  } catch (error) {
    if (error instanceof RtspSyntaxError) return { status: error.status, cseq: error.cseq };
    throw error;
  }
};

it("[RTSP-13] what is not RTSP is refused with the status that RFC 2326 names, before it fills memory", () => {
  expect(refusal(Buffer.from([0x80, 1, 2, 3]))).toEqual({ status: 400, cseq: undefined });
  expect(refusal("GARBAGE\r\n\r\n")).toEqual({ status: 400, cseq: undefined });
  expect(refusal("OPTIONS  * RTSP/1.0\r\nCSeq: 9\r\n\r\n")).toEqual({ status: 400, cseq: "9" });
  expect(refusal("OPTIONS * RTSP/1.0\r\nCSeq: 9\r\nno field\r\n\r\n")).toEqual({ status: 400, cseq: "9" });
  expect(refusal(`OPTIONS * RTSP/1.0\r\nCSeq: 9\r\n${"X: y\r\n".repeat(1_000)}\r\n`)?.status).toBe(400);
  expect(refusal(`OPTIONS * RTSP/1.0\r\nCSeq: 9\r\n${"X: y\r\n".repeat(30)}\r\n`)).toEqual({ status: 400, cseq: "9" });
  expect(refusal(`OPTIONS ${"x".repeat(5_000)}`)).toEqual({ status: 400, cseq: undefined });
  expect(refusal(`OPTIONS rtsp://h/${"x".repeat(400)} RTSP/1.0\r\nCSeq: 9\r\n\r\n`)).toEqual({ status: 414, cseq: "9" });
  expect(refusal("ANNOUNCE * RTSP/1.0\r\nCSeq: 9\r\nContent-Length: 1001\r\n\r\n")).toEqual({ status: 413, cseq: "9" });
  expect(refusal("ANNOUNCE * RTSP/1.0\r\nCSeq: 9\r\nContent-Length: -1\r\n\r\n")).toEqual({ status: 400, cseq: "9" });
  expect(refusal("ANNOUNCE * RTSP/1.0\r\nCSeq: 9\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n")).toEqual({ status: 400, cseq: "9" });
});

it("[RTSP-14] no bytes make the parser fail in another way, hang, or keep more than its limits", () => {
  const random = seededRandom(14);
  for (let round = 0; round < 3_000; round++) {
    const bytes = Buffer.from(wire);
    for (let change = random.below(6); change >= 0; change--) bytes[random.below(bytes.length)] = random.below(256);
    const cut = bytes.subarray(random.below(40), bytes.length - random.below(40));
    const parser = new RtspParser(limits);
    try {
      for (let at = 0; at < cut.length; ) {
        const end = Math.min(cut.length, at + 1 + random.below(200));
        parser.push(Buffer.from(cut.subarray(at, end)));
        at = end;
        while (parser.next());
        expect(parser.waiting).toBeLessThan(70_000);
      }
    } catch (error) {
      if (!(error instanceof RtspSyntaxError)) throw error;
    }
  }
});

it("[RTSP-23] the time for a message grows with its length alone, whatever its header fields, its URI, its Range and its credentials are", () => {
  const count = 300_000;
  const spaces = " ".repeat(count);
  const parser = () => new RtspParser({ ...limits, headBytes: 4 << 20, uriBytes: 4 << 20 });
  const head = (field: string) => {
    const reader = parser();
    reader.push(Buffer.from(`OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n${field}\r\n\r\n`));
    return reader.next();
  };
  // The slowest pattern needed hours for the smallest of them.
  expect(head(`X: y${spaces}y`)).toMatchObject({
    headers: [
      ["CSeq", "1"],
      ["X", `y${spaces}y`],
    ],
  });
  expect(head(`X:${spaces}\t${spaces}`)).toMatchObject({
    headers: [
      ["CSeq", "1"],
      ["X", ""],
    ],
  });
  expect(() => head(`X${spaces}y: 1`)).toThrow(RtspSyntaxError);
  for (const cr of [`X:${spaces}\rx`, "X: a\r b", "X: a\r\n \r b"]) expect(() => head(cr)).toThrow(/CR/);
  expect(rangeUnitOf(`npt=1-${spaces}x`)).toBe(undefined);
  expect(rangeUnitOf(`npt=${"1".repeat(count)}x-`)).toBe(undefined);
  expect(parseTarget(`rtsp://${"a".repeat(count)} `)).toBe(undefined);
  expect(parseTarget(`rtsp://host/${"/".repeat(count)}x`)?.path).toBe("x");
  expect(parseTarget(`rtsp://host/x${"/".repeat(count)}`)).toMatchObject({ path: "x", base: "rtsp://host/x" });
  expect(parseDigestCredentials(`Digest ${"a".repeat(count)}`)?.username).toBe("");
  expect(parseDigestCredentials(`Digest username="anna", ${'a="'.repeat(count)}`)?.username).toBe("anna");
  expect(parseDigestCredentials(`Digest ${spaces}\r`)?.username).toBe("");
});

it("[RTSP-14] nor descriptions, Transport headers and URIs", () => {
  const random = seededRandom(15);
  const description = Buffer.from(
    "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=x\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=fmtp:96 packetization-mode=1;config=00\r\na=control:streamid=0\r\n",
  );
  const transport = Buffer.from('RTP/AVP;unicast;client_port=5000-5001;mode="RECORD",RTP/AVP/TCP;interleaved=0-1;ssrc=1A');
  const changed = (bytes: Buffer) => {
    const copy = Buffer.from(bytes);
    for (let change = random.below(8); change >= 0; change--) copy[random.below(copy.length)] = random.below(128);
    return copy.toString("latin1");
  };
  for (let round = 0; round < 3_000; round++) {
    try {
      parseSdp(changed(description));
    } catch (error) {
      if (!(error instanceof SdpError)) throw error;
    }
    for (const offer of parseTransport(changed(transport))) writeTransport(offer);
    parseTarget(changed(Buffer.from("rtsp://user@host:554/site/camera%201/trackID=1?a=b")));
  }
});

it("[RTSP-14] nor the base64 of a tunnel, in any pieces", () => {
  const random = seededRandom(16);
  const requests = Array.from({ length: 40 }, (_, index) => Buffer.from("OPTIONS * RTSP/1.0\r\n".slice(0, 1 + (index % 20))));
  const text = Buffer.from(requests.map((request) => `${request.toString("base64")}${random.chance(0.5) ? "\r\n" : ""}`).join(""));
  const inPieces = (bytes: Buffer) => {
    const decoder = new TunnelDecoder();
    const parts: Buffer[] = [];
    for (let at = 0; at < bytes.length; ) {
      const end = at + 1 + random.below(9);
      parts.push(decoder.decode(bytes.subarray(at, end)));
      at = end;
    }
    return Buffer.concat(parts);
  };
  for (let round = 0; round < 200; round++) {
    expect(inPieces(text)).toEqual(Buffer.concat(requests));
    const other = Buffer.from(text);
    for (let change = random.below(9); change >= 0; change--) other[random.below(other.length)] = random.below(256);
    expect(inPieces(other).length).toBeLessThanOrEqual(text.length);
  }
});

it("[RTSP-5] Transport headers: a list in the client's order, with ports, channels, mode and destination", () => {
  expect(
    parseTransport('RTP/AVP/UDP;unicast;client_port=5000-5001;mode="PLAY",RTP/AVP/TCP;unicast;interleaved=4-5,RAW/RAW/UDP;unicast'),
  ).toEqual([
    { profile: "RTP/AVP", lower: "UDP", isMulticast: false, mode: "play", clientPorts: [5_000, 5_001] },
    { profile: "RTP/AVP", lower: "TCP", isMulticast: false, mode: "play", channels: [4, 5] },
  ]);
  expect(parseTransport("RTP/AVP;unicast;client_port=5000;mode=record")).toEqual([
    { profile: "RTP/AVP", lower: "UDP", isMulticast: false, mode: "record", clientPorts: [5_000, 5_001] },
  ]);
  for (const wrong of [
    "RTP/AVP;unicast;client_port=0-1",
    "RTP/AVP;client_port=70000-70001",
    "RTP/AVP/TCP;interleaved=255-256",
    "RTP",
    "",
    "RTP/AVP;mode=dance",
  ])
    expect(parseTransport(wrong)).toEqual([]);
});

it("[RTSP-7] ranges of npt, clock and smpte are known, others are not", () => {
  for (const range of [
    "npt=now-",
    "npt=0.000-",
    "npt=10-20.5",
    "npt=0:01:02.5-",
    "npt=-30",
    "clock=19961108T143720.25Z-",
    "smpte=10:12:33:20-",
  ])
    expect(rangeUnitOf(range)).toBeDefined();
  for (const range of ["", "npt=", "npt=later-", "bytes=0-1", "npt=1"]) expect(rangeUnitOf(range)).toBeUndefined();
});

it("[RTSP-4] URIs of streams and tracks; those that lead upwards or elsewhere are none", () => {
  expect(parseTarget("rtsp://u:p@host:8554/site/camera%201/?token=x")).toEqual({
    path: "site/camera 1",
    base: "rtsp://host:8554/site/camera%201",
  });
  expect(parseTarget("rtsp://host/stream/trackID=1")).toEqual({ path: "stream", track: 1, base: "rtsp://host/stream" });
  expect(parseTarget("rtsp://host/stream?a=b/trackID=0")?.track).toBe(0);
  for (const wrong of [
    "*",
    "http://host/stream",
    "rtsp://host",
    "rtsp://host/",
    "rtsp://host/a/../b",
    "rtsp://host/%",
    "rtsp://host/a%00b",
    "/stream",
  ])
    expect(parseTarget(wrong)).toBeUndefined();
});

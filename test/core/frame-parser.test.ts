import { describe, expect, it } from "vitest";
import { FrameFault, FrameParser } from "../../servers/core/http/websocket/frame-parser.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { frame } from "./web-socket-harness.ts";

const [continuation, text, binary, close, ping, pong] = [0, 1, 2, 8, 9, 10];
const part = { isLast: false } as const;
const closing = (code: number, reason: string | Uint8Array = "") =>
  frame(close, Buffer.concat([Buffer.from([code >> 8, code & 0xff]), Buffer.from(reason)]));

/** What becomes of the bytes in pieces: "text abc", "ping x", "close 1000 bye", "fault 1002". */
function read(bytes: Buffer, pieceBytes = (): number => bytes.length, mostBytes = 1 << 20): string[] {
  const parser = new FrameParser(mostBytes);
  const events: string[] = [];
  try {
    for (let from = 0; from < bytes.length; ) {
      const piece = Buffer.from(bytes.subarray(from, from + pieceBytes()));
      from += piece.length;
      for (let at = 0; at < piece.length; ) {
        at = parser.read(piece, at);
        const { event } = parser;
        if (event?.kind === "message") events.push(`${event.isBinary ? "binary" : "text"} ${event.data.toString("latin1")}`);
        else if (event?.kind === "close") events.push(`close ${event.code} ${event.reason}`);
        else if (event) events.push(`${event.kind} ${event.data.toString("latin1")}`);
      }
    }
  } catch (error) {
    if (!(error instanceof FrameFault)) throw error;
    events.push(`fault ${error.code}`);
  }
  return events;
}

const latin1 = (value: string): string => Buffer.from(value).toString("latin1");
const greek = "κόσμε";
const lengths = [0, 125, 126, 127, 128, 65_535, 65_536, 100_000];

/** Names are those of the cases of the Autobahn test suite. */
const cases: readonly (readonly [name: string, bytes: Buffer, events: readonly string[]])[] = [
  ...lengths.map((length): [string, Buffer, string[]] => [
    `1.1 ${length}`,
    frame(text, "*".repeat(length)),
    [`text ${"*".repeat(length)}`],
  ]),
  ...lengths.map((length): [string, Buffer, string[]] => [
    `1.2 ${length}`,
    frame(binary, Buffer.alloc(length, 0xfe)),
    [`binary ${"\xfe".repeat(length)}`],
  ]),
  ["2.1", frame(ping), ["ping "]],
  ["2.2", frame(ping, "Hello, world!"), ["ping Hello, world!"]],
  ["2.3", frame(ping, Buffer.from([0x00, 0xff, 0xfe])), ["ping \x00\xff\xfe"]],
  ["2.4", frame(ping, Buffer.alloc(125, 0xfe)), [`ping ${"\xfe".repeat(125)}`]],
  ["2.5", frame(ping, Buffer.alloc(126, 0xfe)), ["fault 1002"]],
  ["2.7", frame(pong, "x"), ["pong x"]],
  ["2.10", Buffer.concat([0, 1, 2].map((index) => frame(ping, `p${index}`))), ["ping p0", "ping p1", "ping p2"]],
  ...[1, 2, 3, 4, 5, 6, 7].map((reserved): [string, Buffer, string[]] => [
    `3.${reserved}`,
    Buffer.concat([frame(text, "a"), frame(text, "b", { reserved })]),
    ["text a", "fault 1002"],
  ]),
  ...[3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map((kind): [string, Buffer, string[]] => [`4 ${kind}`, frame(kind), ["fault 1002"]]),
  ["5.1", Buffer.concat([frame(ping, "a", part), frame(continuation, "b")]), ["fault 1002"]],
  ["5.3", Buffer.concat([frame(text, "ab", part), frame(continuation, "cd")]), ["text abcd"]],
  ["5.6", Buffer.concat([frame(text, "ab", part), frame(ping, "p"), frame(continuation, "cd")]), ["ping p", "text abcd"]],
  ["5.9", frame(continuation, "x"), ["fault 1002"]],
  ["5.15", Buffer.concat([frame(text, "a", part), frame(continuation, "b"), frame(continuation, "c")]), ["text ab", "fault 1002"]],
  ["5.18", Buffer.concat([frame(text, "a", part), frame(text, "b")]), ["fault 1002"]],
  [
    "5.19",
    Buffer.concat([
      frame(text, "1", part),
      frame(continuation, "2", part),
      frame(ping, "p1"),
      frame(continuation, "3", part),
      frame(continuation, "", part),
      frame(ping, "p2"),
      frame(continuation, "4"),
    ]),
    ["ping p1", "ping p2", "text 1234"],
  ],
  ["6.1", Buffer.concat([frame(text, "", part), frame(continuation, "", part), frame(continuation, "")]), ["text "]],
  ["6.2", frame(text, `Hello-µ@ß${greek}`), [`text ${latin1(`Hello-µ@ß${greek}`)}`]],
  [
    "6.2.4",
    Buffer.concat([
      ...Array.from(Buffer.from(greek), (byte, index) => frame(index === 0 ? text : continuation, Buffer.from([byte]), part)),
      frame(continuation),
    ]),
    [`text ${latin1(greek)}`],
  ],
  ["6.3", frame(text, Buffer.from("cebae1bdb9cf83cebcceb5eda080656469746564", "hex")), ["fault 1007"]],
  ["6.6 cut", frame(text, Buffer.from("cebae1", "hex")), ["fault 1007"]],
  ["6.22", frame(text, Buffer.from("efbfbf", "hex")), [`text ${latin1("\uffff")}`]],
  ["6.x surrogate", frame(text, Buffer.from("eda080", "hex")), ["fault 1007"]],
  ["6.x above", frame(text, Buffer.from("f4908080", "hex")), ["fault 1007"]],
  ["6.x overlong", frame(text, Buffer.from("c0af", "hex")), ["fault 1007"]],
  ["7.3.1", frame(close), ["close 1005 "]],
  ["7.3.2", frame(close, "a"), ["fault 1002"]],
  ["7.3.4", closing(1_000, "Hello World!"), ["close 1000 Hello World!"]],
  ["7.3.5", closing(1_000, "*".repeat(123)), [`close 1000 ${"*".repeat(123)}`]],
  ["7.3.6", closing(1_000, "*".repeat(124)), ["fault 1002"]],
  ["7.5.1", closing(1_000, Buffer.from("cebae1bdb9cf83cebcceb5eda080656469746564", "hex")), ["fault 1007"]],
  ...[1_000, 1_001, 1_002, 1_003, 1_007, 1_008, 1_009, 1_010, 1_011, 3_000, 3_999, 4_000, 4_999].map((code): [string, Buffer, string[]] => [
    `7.7 ${code}`,
    closing(code),
    [`close ${code} `],
  ]),
  ...[0, 999, 1_004, 1_005, 1_006, 1_015, 1_016, 1_100, 2_000, 2_999, 5_000, 65_535].map((code): [string, Buffer, string[]] => [
    `7.9 ${code}`,
    closing(code),
    ["fault 1002"],
  ]),
  ["without a mask", Buffer.from([0x81, 0x01, 0x61]), ["fault 1002"]],
  ["of 2^63 bytes", Buffer.from([0x82, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0]), ["fault 1009"]],
];

describe("frames of a WebSocket", () => {
  it.each(cases)("[HTTP-265] Autobahn %s", (_name, bytes, events) => {
    expect(read(bytes)).toEqual(events);
    expect(read(bytes, () => 1)).toEqual(events);
    const random = seededRandom(7);
    expect(read(bytes, () => 1 + random.below(90))).toEqual(events);
  });

  it("[HTTP-87] a message is too long by the head of the frame that would make it so", () => {
    const one = frame(binary, Buffer.alloc(60), part);
    expect(read(Buffer.concat([one, frame(continuation, Buffer.alloc(40))]), undefined, 100)).toEqual([`binary ${"\0".repeat(100)}`]);
    expect(read(Buffer.concat([one, frame(continuation, Buffer.alloc(41)).subarray(0, 2)]), undefined, 100)).toEqual(["fault 1009"]);
  });

  it("[HTTP-265] frames of all kinds, cut anywhere, give the same as in one piece", () => {
    const random = seededRandom(1_455);
    const upTo = (most: number) => random.below(most + 1);
    const bytes: Buffer[] = [];
    for (let count = 0; count < 200; count++) {
      const kind = random.chance(0.5) ? text : binary;
      const fragments = upTo(4);
      for (let index = 0; index <= fragments; index++) {
        const payload = Buffer.alloc(upTo(random.chance(0.1) ? 70_000 : 300), 0x20 + upTo(90));
        const mask = [upTo(255), upTo(255), upTo(255), upTo(255)];
        bytes.push(frame(index === 0 ? kind : continuation, payload, { isLast: index === fragments, mask }));
        if (random.chance(0.3)) bytes.push(frame(random.chance(0.5) ? ping : pong, `p${count}`));
      }
    }
    const all = Buffer.concat(bytes);
    const whole = read(all);
    expect(whole.filter((event) => !event.startsWith("p"))).toHaveLength(200);
    expect(read(all, () => 1 + upTo(100))).toEqual(whole);
    expect(read(all, () => 65_536)).toEqual(whole);
  });

  it("[HTTP-155] of an unfinished message little more is held than its bytes, and nothing of what was read around it", () => {
    const fill = frame(pong, Buffer.alloc(100));
    for (const payloadBytes of [1, 10, 1_000]) {
      const parser = new FrameParser(1 << 20);
      const kept: Buffer[] = [];
      for (let count = 0; count < 3_000_000 / payloadBytes && count < 5_000; count++) {
        const piece = Buffer.concat([frame(count === 0 ? binary : continuation, Buffer.alloc(payloadBytes, 1), part), fill]);
        if (count * payloadBytes >= 900_000) break;
        for (let at = 0; at < piece.length; ) at = parser.read(piece, at);
        kept.push(piece);
        expect(parser.heldBytes).toBeLessThan(2.2 * (count + 1) * payloadBytes + 1_000);
      }
      const last = Buffer.from(frame(continuation, "x"));
      parser.read(last, 0);
      const { event } = parser;
      expect(event?.kind === "message" && event.data.length).toBe(kept.length * payloadBytes + 1);
      expect(parser.heldBytes).toBe(0);
    }
  });

  it("[HTTP-155] a length that is only announced takes no memory", () => {
    const parser = new FrameParser(1 << 30);
    const head = Buffer.concat([frame(binary, Buffer.alloc(100_000)).subarray(0, 14), Buffer.from("x")]);
    parser.read(head, 0);
    expect(parser.heldBytes).toBeLessThan(600);
  });
});

import { create, type DescMessage, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema, SourceCodeInfo_LocationSchema, StructSchema } from "@bufbuild/protobuf/wkt";
import { Metadata } from "@grpc/grpc-js";
import { expect, it } from "vitest";
import { WorkTurns } from "../../servers/core/turns/work-turns.ts";
import { CallBudgets } from "../../servers/grpc/engine/call-budgets.ts";
import { CallList } from "../../servers/grpc/engine/call-list.ts";
import { grpcTimeoutMs, metadataOf, percentEncoded } from "../../servers/grpc/engine/call-metadata.ts";
import type { CallHead } from "../../servers/grpc/engine/call-transport.ts";
import { createDetailReader } from "../../servers/grpc/engine/error-details.ts";
import { FramedBody } from "../../servers/grpc/engine/framed-body.ts";
import { inflateMessage } from "../../servers/grpc/engine/message-coding.ts";
import { frameOf } from "../../servers/grpc/engine/message-type.ts";
import { requireValues } from "../../servers/grpc/engine/message-values.ts";
import { requestedBehaviour } from "../../servers/grpc/engine/requested-behaviour.ts";
import { StatusError } from "../../servers/grpc/engine/status.ts";
import { CallEntry } from "../../servers/grpc/observe/call-entry.ts";
import { noCalls } from "../../servers/grpc/observe/call-metrics.ts";
import { loadOwnProtos } from "../../servers/grpc/protos/own-protos.ts";
import { clientMessage, dataResponse, helloRequest, streamItem, streamRequest } from "../../servers/grpc/services/example-messages.ts";
import { connectErrorOf, createConnectErrors } from "../../servers/grpc/web/connect-error.ts";
import { createRecorded, recordOf } from "../support/records.ts";
import { type SeededRandom, seededRandom } from "../support/seeded-random.ts";

const own = await loadOwnProtos();

const bytesOf = (random: SeededRandom, most: number) => Buffer.from(Array.from({ length: random.below(most) }, () => random.below(256)));

it("[GRPC-139] messages are found in a body however it is cut, and bytes that are none end with a status", () => {
  const random = seededRandom(1);
  for (let round = 0; round < 2_000; round++) {
    const messages = Array.from({ length: random.below(6) }, () => bytesOf(random, 300));
    const bytes = Buffer.concat(messages.map(frameOf));
    const body = new FramedBody({ largestMessage: 300 });
    const found: Buffer[] = [];
    for (let at = 0; at < bytes.length; ) {
      const end = at + 1 + random.below(200);
      body.push(bytes.subarray(at, end));
      at = end;
      for (let message = body.next(); message; message = body.next()) found.push(message.content);
    }
    body.end();
    expect(found).toEqual(messages);
    const broken = new FramedBody({ largestMessage: 300 });
    try {
      broken.push(bytesOf(random, 50));
      while (broken.next());
      broken.end();
    } catch (error) {
      expect(error).toBeInstanceOf(StatusError);
    }
  }
});

it("[GRPC-139] random bytes are a message or INTERNAL, also damaged ones of a message", () => {
  const random = seededRandom(2);
  const valid = streamItem.frame({ position: 2 ** 40, value: "item", timestamp: "now", payload: Buffer.alloc(9) }).subarray(5);
  for (let round = 0; round < 2_000; round++) {
    const damaged = Buffer.from(valid);
    damaged[random.below(damaged.length)] = random.below(256);
    for (const bytes of [bytesOf(random, 60), damaged.subarray(0, random.below(damaged.length + 1))]) {
      for (const type of [helloRequest, clientMessage, dataResponse, streamRequest, streamItem]) {
        try {
          type.decode(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(StatusError);
        }
      }
    }
  }
});

it("[GRPC-139] random bytes that say to be compressed are INTERNAL", async () => {
  const random = seededRandom(3);
  const work = new WorkTurns().connection("");
  for (let round = 0; round < 200; round++) {
    const coding = random.chance(0.5) ? "gzip" : "deflate";
    // A long one is left to another thread.
    const bytes = bytesOf(random, round % 20 === 0 ? 10_000 : 40);
    await expect(inflateMessage(Buffer.concat([Buffer.from([0x1f, 0x8b]), bytes]), coding, 1_000, work)).rejects.toThrow(StatusError);
  }
});

/** Texts that are nearly those that are understood. */
function nearly(random: SeededRandom, good: readonly string[]): string {
  const text = good[random.below(good.length)] as string;
  const pieces = ["", "-", "=", ",", " ", "\0", "\u00eb", "\ud83d", "{", '"', "%", "9999999999", "x".repeat(5_000)];
  const at = random.below(text.length + 1);
  const piece = random.chance(0.5) ? pieces[random.below(pieces.length)] : String.fromCharCode(random.below(256));
  return random.chance(0.3) ? text : text.slice(0, at) + piece + text.slice(at + random.below(4));
}

const askedFields = {
  "x-backlot-status": ["UNAVAILABLE", "14", "0"],
  "x-backlot-message": ["why"],
  "x-backlot-message-bin": ["w6Q="],
  "x-backlot-details": ['{"@type":"RetryInfo","retryDelay":"2s"}', '{"@type":"google.rpc.BadRequest","fieldViolations":[{"field":"a"}]}'],
  "x-backlot-details-bin": ["CA4="],
  "x-backlot-delay": ["250ms", "2s", "0.5"],
  "x-backlot-cut-after": ["3"],
  "x-backlot-headers": ["a=b", "c-bin=AQ=="],
  "x-backlot-trailers": ["a=b, c"],
  "x-backlot-echo": ["headers", "both"],
  "x-backlot-compression": ["gzip", "identity"],
  "x-own": ["a", "b"],
  "x-own-bin": ["AQ==,Ag"],
} as const;

const headOf = (rawHeaders: readonly string[]): CallHead => ({
  protocol: "grpc",
  httpVersion: "2",
  httpMethod: "POST",
  codec: "proto",
  path: "/a.B/C",
  authority: "x",
  rawHeaders,
  metadata: metadataOf(rawHeaders),
  timeoutMs: 5,
  fault: undefined,
  acceptEncoding: "",
  requestEncoding: "identity",
  connectionCalls: 1,
  connection: {
    id: 1,
    remote: "127.0.0.1:1",
    local: "127.0.0.1:2",
    openedAt: 1,
    tls: undefined,
    clientCertificate: undefined,
    work: new WorkTurns().connection("127.0.0.1"),
    openCalls: new CallList("connection"),
    shares: new CallBudgets({ openCalls: 1, memoryBytes: 1, messageBytes: 1 }).open("127.0.0.1", new CallList("connection")),
    http2: undefined,
    calls: 1,
  },
});

it("[GRPC-15] whatever behaviour is asked for, it is understood or INVALID_ARGUMENT", () => {
  const random = seededRandom(15);
  const options = { longestDelayMs: 60_000, readDetails: createDetailReader(() => own) };
  const names = Object.keys(askedFields) as (keyof typeof askedFields)[];
  let understood = 0;
  for (let round = 0; round < 5_000; round++) {
    const fields = Array.from({ length: random.below(5) }, () => {
      const name = names[random.below(names.length)] as keyof typeof askedFields;
      return [random.chance(0.05) ? nearly(random, [name]) : name, nearly(random, askedFields[name])];
    }).flat();
    // Messages and details belong to a status.
    const rawHeaders = random.chance(0.5) ? ["x-backlot-status", "14", ...fields] : fields;
    try {
      const asked = requestedBehaviour(headOf(rawHeaders), options);
      // What is sent can be sent.
      const sent = new Metadata();
      for (const [name, value] of [...(asked?.headers ?? []), ...(asked?.trailers ?? [])]) sent.add(name, value);
      sent.toHttp2Headers();
      asked?.details?.(3, "why");
      percentEncoded((asked?.status?.message ?? "").toWellFormed());
      understood++;
    } catch (error) {
      expect(error, `round ${round}: ${JSON.stringify(rawHeaders)}`).toBeInstanceOf(StatusError);
      expect((error as StatusError).code, `round ${round}`).toBe(3);
    }
  }
  expect(understood).toBeGreaterThan(1_000);
});

it("[GRPC-163] a text is a timeout of its unit or none", () => {
  const random = seededRandom(163);
  for (let round = 0; round < 5_000; round++) {
    const text = nearly(random, ["1H", "20m", "99999999n", "5S", "7M", "300u"]);
    const timeoutMs = grpcTimeoutMs(text);
    expect(timeoutMs === undefined, text).toBe(!/^[0-9]{1,8}[HMSmun]$/.test(text));
    if (timeoutMs !== undefined) expect(timeoutMs, text).toBeGreaterThanOrEqual(0);
  }
});

it("[GRPC-121] details of a status for Connect are those of any bytes, or stay as they are", () => {
  const random = seededRandom(121);
  const errors = createConnectErrors(() => own);
  const details = createDetailReader(() => own)(askedFields["x-backlot-details"])(3, "why");
  for (let round = 0; round < 2_000; round++) {
    const damaged = Buffer.from(details);
    for (let count = random.below(4); count > 0; count--) damaged[random.below(damaged.length)] = random.below(256);
    const trailers = new Metadata();
    trailers.set("grpc-status-details-bin", damaged.subarray(0, random.chance(0.5) ? damaged.length : random.below(damaged.length)));
    JSON.stringify(connectErrorOf({ code: 3, message: "why", trailers }, errors));
  }
});

it("[GRPC-60] damaged records of calls decode in part or throw a RecordError, nothing else", () => {
  const random = seededRandom(60);
  const entry = new CallEntry({
    id: 1,
    head: headOf(["a", "b", "c", "d".repeat(300)]),
    method: undefined,
    client: "test",
    messageLimit: 100,
    counts: { received: 0, sent: 0 },
    methodCounts: noCalls(),
    touch: () => {},
  });
  const message = Buffer.from("message");
  entry.addReceived({ bytes: message, wireBytes: 3, compressed: true });
  entry.ruled({ key: "key", name: "a rule" });
  entry.answered("gzip", { sentHeaders: () => [["a", "b"]] });
  entry.addSent(frameOf(message), frameOf(message));
  entry.halfClosed();
  entry.end({ headers: [["a", "b"]], trailers: [["c", "d"]], status: { code: 3, message: "why" }, aborted: undefined });
  const whole = Buffer.from(recordOf(entry));
  for (let round = 0; round < 2_000; round++) {
    const bytes = Buffer.from(whole.subarray(0, random.chance(0.5) ? whole.length : random.below(whole.length)));
    for (let count = random.below(5); count > 0 && bytes.length > 0; count--) bytes[random.below(bytes.length)] = random.below(256);
    const recorded = createRecorded();
    try {
      for (const id of recorded.add({ records: bytes })) {
        recorded.detail(id);
        recorded.parts(id);
      }
    } catch (error) {
      expect((error as Error).constructor.name, `round ${round}: ${(error as Error).stack}`).toBe("RecordError");
    }
  }
});

const unknownField = Buffer.from([0x78, 0]);
const times = (bytes: Buffer, count: number) => Buffer.alloc(bytes.length * count, bytes);
/** A field with a length of three bytes. */
const within = (number: number, content: Buffer) =>
  Buffer.concat([
    Buffer.from([(number << 3) | 2, (content.length & 0x7f) | 0x80, ((content.length >> 7) & 0x7f) | 0x80, content.length >> 14]),
    content,
  ]);

it.each<[string, "json" | DescMessage, Buffer]>([
  ["unknown fields", StructSchema, times(unknownField, 1_001)],
  ["unknown fields of a message", FileDescriptorSetSchema, within(1, times(unknownField, 1_001))],
  ["unknown fields of an entry of a map", StructSchema, within(1, times(unknownField, 1_001))],
  ["unknown fields of a value of a map", StructSchema, within(1, within(2, times(unknownField, 1_001)))],
  ["unknown fields of a group", StructSchema, Buffer.concat([Buffer.from([0x7b]), times(unknownField, 1_001), Buffer.from([0x7c])])],
  ["empty messages", FileDescriptorSetSchema, times(Buffer.from([0x0a, 0]), 1_001)],
  ["empty strings", FileDescriptorProtoSchema, times(Buffer.from([0x1a, 0]), 1_001)],
  ["numbers that are not packed", SourceCodeInfo_LocationSchema, times(Buffer.from([0x08, 0]), 1_001)],
  ["packed numbers", SourceCodeInfo_LocationSchema, within(1, Buffer.alloc(8_009))],
  ["lists of JSON", "json", Buffer.from(`[${"[],".repeat(1_001)}[]]`)],
  ["names of JSON", "json", Buffer.from(`{${'"":0,'.repeat(501)}"":0}`)],
  ["objects of JSON", "json", Buffer.from(`[${"{},".repeat(501)}{}]`)],
])("[GRPC-173] more than so many values are refused before they are decoded: %s", (_name, form, bytes) => {
  expect(() => requireValues(bytes, form, 1_000)).toThrow("the message has more values than the limit of 1000");
  expect(() => requireValues(bytes, form, bytes.length)).not.toThrow();
});

it("[GRPC-173] long texts and bytes are one value each, whatever is in them", () => {
  const text = '[{:,"\\'.repeat(10_000);
  const file = create(FileDescriptorProtoSchema, { name: text, dependency: Array.from({ length: 900 }, () => "a/b.proto") });
  expect(() => requireValues(toBinary(FileDescriptorProtoSchema, file), FileDescriptorProtoSchema, 1_000)).not.toThrow();
  expect(() => requireValues(Buffer.from(JSON.stringify({ text, list: Array(900).fill(7) })), "json", 1_000)).not.toThrow();
});

it("[GRPC-173] bytes that are no message are left to the decoder", () => {
  const random = seededRandom(4);
  const valid = toBinary(FileDescriptorProtoSchema, own.files[0]?.proto ?? create(FileDescriptorProtoSchema));
  for (let round = 0; round < 2_000; round++) {
    const damaged = Buffer.from(valid);
    for (let left = random.below(20); left >= 0; left--) damaged[random.below(damaged.length)] = random.below(256);
    for (const form of ["json", FileDescriptorProtoSchema, FileDescriptorSetSchema, StructSchema] as const) {
      try {
        requireValues(damaged, form, 10);
      } catch (error) {
        expect(error).toBeInstanceOf(StatusError);
      }
    }
  }
});

import { once } from "node:events";
import { connect } from "node:http2";
import { gzipSync } from "node:zlib";
import { expect, it, vi } from "vitest";
import { clientMessage, echoMessage, helloReply, helloRequest, serverResponse } from "../../servers/grpc/services/example-messages.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { until } from "../support/until.ts";
import { body, callMethod, openStream } from "./calls.ts";
import { callFields, field, flags, frameTypes, h2Frame, preface } from "./h2-frames.ts";
import { type GrpcUnderTest, onEnd, startGrpc } from "./harness.ts";
import { besideBystander, hostileClient } from "./hostile-http2.ts";

// Each attack goes on until the bystander has made its calls.
vi.setConfig({ testTimeout: 90_000 });
const { data, headers, rstStream, settings, ping, continuation } = frameTypes;
const sayHello = "/example.Greeter/SayHello";
const echoUnary = "/example.EchoService/EchoUnary";
const warnings = (service: GrpcUnderTest) =>
  service.logs.filter(({ level, text }) => level === "warning" && /connection/i.test(text)).map(({ text }) => text);

/** Bytes on one connection after another, each until the service closes it. */
async function closedByService(service: GrpcUnderTest, bytes: Uint8Array): Promise<number | undefined> {
  const client = hostileClient(service);
  await client.write(Buffer.concat([preface, bytes]));
  await client.closed;
  return client.goaway();
}

it("[GRPC-58] the connections of an address are bounded; more are closed, with few log lines, and those that are open go on", async () => {
  const service = await startGrpc({ connectionsPerAddress: 20 });
  await besideBystander(service, async (isOn) => {
    const kept = Array.from({ length: 19 }, () => hostileClient(service));
    await Promise.all(kept.map((client) => client.write(preface)));
    await until(() => kept.every((client) => client.received().length > 0));
    do await Promise.all(Array.from({ length: 100 }, () => hostileClient(service).closed));
    while (isOn());
    expect(kept.some(({ isClosed }) => isClosed)).toBe(false);
  });
  await until(() => warnings(service).some((text) => /was refused: it has 20 already/.test(text)));
  expect(warnings(service).length).toBeLessThanOrEqual(21);
});

it("[GRPC-59] a client that sends no first frame, or the half of its header fields, or is gone without a word, is let go", async () => {
  const service = await startGrpc({ handshakeMs: 300, keepaliveMs: 300, keepaliveTimeoutMs: 2_000 });
  await besideBystander(service, async () => {
    const silent = hostileClient(service);
    const slow = hostileClient(service);
    const gone = hostileClient(service);
    await slow.write(Buffer.concat([preface, h2Frame(headers, flags.endStream, 1, callFields(sayHello))]));
    await gone.write(preface);
    await Promise.all([silent.closed, slow.closed, gone.closed]);
  });
  await until(() => warnings(service).some((text) => /it sent no SETTINGS in time/.test(text)));
});

it("[GRPC-130] malformed frames end their connection with GOAWAY and one log line", async () => {
  const service = await startGrpc();
  const malformed: readonly Buffer[] = [
    h2Frame(settings, 0, 0, Buffer.alloc(5)),
    h2Frame(settings, flags.ack, 0, Buffer.alloc(6)),
    h2Frame(ping, 0, 0, Buffer.alloc(7)),
    h2Frame(ping, 0, 1, Buffer.alloc(8)),
    h2Frame(data, 0, 0, Buffer.alloc(10)),
    h2Frame(rstStream, 0, 1, Buffer.alloc(3)),
    h2Frame(headers, flags.endHeaders, 0, callFields(sayHello)),
    h2Frame(headers, flags.endHeaders, 2, callFields(sayHello)),
    h2Frame(headers, flags.endHeaders, 1, Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff])),
    h2Frame(continuation, flags.endHeaders, 1, callFields(sayHello)),
    Buffer.concat([Buffer.from([0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1]), Buffer.alloc(100)]),
  ];
  await besideBystander(service, async (isOn) => {
    let codes: (number | undefined)[];
    do codes = await Promise.all(malformed.map((bytes) => closedByService(service, bytes)));
    while (isOn());
    expect(codes.filter((code) => code === undefined || code === 0)).toEqual([]);
  });
  await until(() => warnings(service).length > 0);
  expect(warnings(service).length).toBeLessThanOrEqual(21);
  expect(warnings(service)[0]).toMatch(/^The connection from 127\.0\.0\.1:\d+ was closed: /);
});

it("[GRPC-131] header bombs, endless CONTINUATION frames and metadata above the limit end their call or connection", async () => {
  const service = await startGrpc({ metadataBytes: 4_096 });
  // RFC 7541: one long field is indexed, and then referred to with a byte each.
  const value = Buffer.alloc(3_000, "x");
  const indexed = Buffer.concat([Buffer.from([0x40, 1, 0x61, 0x7f, 0xb9, 0x16]), value]);
  const bombOf = (references: number) => Buffer.concat([callFields(sayHello), indexed, Buffer.alloc(references, 0xbe)]);
  const [bomb, larger] = [3, 12_000].map((references) => h2Frame(headers, flags.endHeaders | flags.endStream, 1, bombOf(references)));
  const parts = [h2Frame(headers, 0, 1, callFields(sayHello))];
  for (let count = 0; count < 5_000; count++) parts.push(h2Frame(continuation, 0, 1, field("a", "x".repeat(100))));
  const endless = Buffer.concat(parts);
  await besideBystander(service, async (isOn) => {
    do {
      const bombing = hostileClient(service);
      await bombing.write(Buffer.concat([preface, bomb as Buffer]));
      // A stream that is reset with ENHANCE_YOUR_CALM.
      await until(() => bombing.received().includes(Buffer.from([0, 0, 4, rstStream, 0, 0, 0, 0, 1, 0, 0, 0, 11])));
      bombing.socket.destroy();
      expect(await closedByService(service, larger as Buffer)).toBeGreaterThan(0);
      expect(await closedByService(service, endless)).toBeGreaterThan(0);
    } while (isOn());
  });
  const large = await callMethod(service.client(), sayHello, helloRequest, helloReply, [{ name: "x" }], {
    metadata: { "x-large": "x".repeat(5_000) },
  });
  expect(large.status.code).toBe(8);
});

it("[GRPC-132] calls that are opened and reset at once (CVE-2023-44487) end their connection after a burst", async () => {
  const service = await startGrpc();
  const block = callFields("/example.StreamService/Subscribe");
  const burst: Buffer[] = [];
  for (let stream = 1; stream < 6_000; stream += 2) {
    burst.push(h2Frame(headers, flags.endHeaders, stream, block), h2Frame(rstStream, 0, stream, Buffer.from([0, 0, 0, 8])));
  }
  const bytes = Buffer.concat(burst);
  await besideBystander(service, async (isOn) => {
    do expect(await closedByService(service, bytes)).toBeGreaterThan(0);
    while (isOn());
  });
});

it("[GRPC-133] floods of SETTINGS and of PING end their connection", async () => {
  const service = await startGrpc();
  const frames = [h2Frame(settings, 0, 0, Buffer.from([0, 3, 0, 0, 0, 100])), h2Frame(ping, 0, 0, Buffer.alloc(8))];
  const floods = frames.map((frame) => Buffer.concat(Array.from({ length: 100 }, () => frame)));
  await besideBystander(service, async (isOn) => {
    do {
      for (const flood of floods) {
        // One reads what it is answered, the other one does not.
        for (const client of [hostileClient(service), hostileClient(service, false)]) {
          await client.write(preface);
          while (!client.isClosed) {
            await client.write(flood);
            await new Promise((resolve) => setTimeout(resolve, 1));
          }
        }
      }
    } while (isOn());
  });
  await until(() => warnings(service).some((text) => /too many PING, SETTINGS or GOAWAY frames/.test(text)));
});

it("[GRPC-133] a flood of GOAWAY ends its connection, also while a call is open", async () => {
  const service = await startGrpc();
  const client = hostileClient(service);
  const watch = [h2Frame(headers, flags.endHeaders, 1, callFields("/grpc.health.v1.Health/Watch")), h2Frame(data, 0, 1, Buffer.alloc(5))];
  await client.write(Buffer.concat([preface, ...watch]));
  await until(() => service.rows().some(({ target }) => target.endsWith("Watch")));
  const goaway = h2Frame(frameTypes.goaway, 0, 0, Buffer.alloc(8));
  await client.write(Buffer.concat(Array.from({ length: 2_000 }, () => goaway)));
  await until(() => client.isClosed);
  await until(() => warnings(service).some((text) => /GOAWAY frames/.test(text)));
});

it("[GRPC-134] of 10,000 streams on one connection no more are open than allowed", async () => {
  const service = await startGrpc({ concurrentStreams: 50 });
  const block = callFields("/grpc.health.v1.Health/Watch");
  const bytes = Buffer.concat(Array.from({ length: 10_000 }, (_, index) => h2Frame(headers, flags.endHeaders, 2 * index + 1, block)));
  await besideBystander(service, async (isOn) => {
    do {
      const client = hostileClient(service);
      await client.write(preface);
      // The limit holds once the client has acknowledged it.
      await until(() => client.received().length > 9);
      await client.write(Buffer.concat([h2Frame(settings, flags.ack, 0), bytes]));
      await client.closed;
      expect(client.goaway()).toBeGreaterThan(0);
    } while (isOn());
  });
});

it("[GRPC-135] messages above the limit, only declared or real, and compressed bombs are RESOURCE_EXHAUSTED and take no memory", async () => {
  const service = await startGrpc({ messageBytes: 100_000 });
  const declared = Buffer.concat([
    h2Frame(headers, flags.endHeaders, 1, callFields(echoUnary)),
    h2Frame(data, 0, 1, Buffer.from([0, 0xff, 0xff, 0xff, 0xff, 1, 2, 3])),
  ]);
  const packed = gzipSync(Buffer.alloc(50 << 20));
  const prefix = Buffer.from([1, 0, 0, 0, 0]);
  prefix.writeUInt32BE(packed.length, 1);
  const bombBytes = Buffer.concat([prefix, packed]);
  const bomb = [h2Frame(headers, flags.endHeaders, 1, Buffer.concat([callFields(echoUnary), field("grpc-encoding", "gzip")]))];
  for (let at = 0; at < bombBytes.length; at += 10_000) bomb.push(h2Frame(data, 0, 1, bombBytes.subarray(at, at + 10_000)));
  const before = process.memoryUsage().arrayBuffers;
  await besideBystander(service, async (isOn) => {
    do {
      for (const bytes of [declared, Buffer.concat(bomb)]) {
        const client = hostileClient(service);
        await client.write(Buffer.concat([preface, bytes]));
        const refused = service.rows().filter(({ outcome }) => outcome === "RESOURCE_EXHAUSTED").length;
        await until(() => service.rows().filter(({ outcome }) => outcome === "RESOURCE_EXHAUSTED").length > refused);
        client.socket.destroy();
      }
      const real = await callMethod(service.client(), echoUnary, echoMessage, echoMessage, [{ message: "x".repeat(100_001) }]);
      expect(real.status.code).toBe(8);
    } while (isOn());
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 << 20);
  });
});

it("[GRPC-136] a client that never reads a stream that cannot wait loses its call with RESOURCE_EXHAUSTED; others get all", async () => {
  const service = await startGrpc({ unreadBytes: 64 << 10 });
  const text = (number: number, value: string) => Buffer.concat([Buffer.from([(number << 3) | 2, value.length]), Buffer.from(value)]);
  const action = (number: number, first: string, second: string) => {
    const content = Buffer.concat([text(1, first), text(2, second)]);
    return Buffer.concat([Buffer.from([(number << 3) | 2, content.length]), content]);
  };
  const framed = (message: Buffer) => Buffer.concat([Buffer.from([0, 0, 0, 0, message.length]), message]);
  const chat = "/example.ChatService/Chat";
  const deaf = hostileClient(service, false);
  const joining = h2Frame(data, 0, 1, framed(action(1, "r", "deaf")));
  await deaf.write(Buffer.concat([preface, h2Frame(headers, flags.endHeaders, 1, callFields(chat)), joining]));
  const talker = openStream(service.client(), chat);
  let heard = 0;
  talker.on("data", () => heard++);
  talker.write(action(1, "r", "talker"));
  await until(() => heard >= 1);
  const said = 5_000;
  await besideBystander(service, async () => {
    for (let count = 0; count < said; count++) {
      if (!talker.write(action(2, "r", "x".repeat(100)))) await new Promise((resolve) => talker.once("drain", resolve));
    }
    await service.ended(({ outcome }) => outcome === "RESOURCE_EXHAUSTED");
    await until(() => heard >= said);
  });
  const row = service.rows().find(({ outcome }) => outcome === "RESOURCE_EXHAUSTED");
  expect(service.detail(row?.id ?? 0).status).toMatchObject({ code: 8, message: expect.stringMatching(/reads too slowly/) });
  expect(row?.bytesOut).toBeLessThan(1 << 20);
  talker.cancel();
});

it("[GRPC-137] a flood of 100,000 messages on a client stream is counted to the last, and others are served meanwhile", async () => {
  const service = await startGrpc();
  const session = connect(`http://${service.address}`).on("error", () => {});
  onEnd(() => session.destroy());
  const frame = clientMessage.frame({ clientId: "flood", message: "x", sequence: 1 });
  const bytes = Buffer.concat(Array.from({ length: 100_000 }, () => frame));
  await besideBystander(service, async () => {
    const stream = session.request({ ":method": "POST", ":path": "/example.Greeter/ClientStream", "content-type": "application/grpc" });
    stream.end(bytes);
    const [answer] = (await once(stream, "data")) as [Buffer];
    expect(serverResponse.decode(body(answer)).receivedSequence).toBe(100_000);
  });
  expect(await service.ended(({ parts = 0 }) => parts > 1_000)).toMatchObject({ parts: 100_001, outcome: "OK" });
});

it("[GRPC-138] the log lines of a flood of faulty connections are bounded, and those left out are counted", async () => {
  const service = await startGrpc();
  const broken = h2Frame(ping, 0, 0, Buffer.alloc(7));
  for (let round = 0; round < 5; round++) await Promise.all(Array.from({ length: 40 }, () => closedByService(service, broken)));
  await until(() => warnings(service).length === 20);
  await service.stop();
  await until(() => warnings(service).some((text) => /^180 more lines about faulty connections were left out\.$/.test(text)));
});

it("[GRPC-139] no bytes behind the first frames take more than their own connection", async () => {
  const service = await startGrpc();
  const random = seededRandom(20_261);
  const types = [data, headers, rstStream, settings, ping, continuation, 2, 5, 8, 10, 200];
  await besideBystander(service, async (isOn) => {
    do {
      await Promise.all(
        Array.from({ length: 40 }, async () => {
          const client = hostileClient(service);
          const bytes = [preface, h2Frame(headers, flags.endHeaders, 1, callFields(echoUnary))];
          for (let left = random.below(20); left > 0; left--) {
            const payload = Buffer.from(Array.from({ length: random.below(60) }, () => random.below(256)));
            bytes.push(h2Frame(types[random.below(types.length)] as number, random.below(256), random.below(4), payload));
          }
          await client.write(Buffer.concat(bytes));
          client.socket.end();
          await client.closed;
        }),
      );
    } while (isOn());
  });
  await until(() => service.rows().every(({ tone }) => tone !== "pending"));
  expect(service.logs.filter(({ level }) => level === "error")).toEqual([]);
});
